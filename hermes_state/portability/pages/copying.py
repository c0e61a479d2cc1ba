"""Copying a database page by page, without some of its tables.

SQLite makes the schema and fills the small tables. The large ones come page by page: a page of rows is copied as it is,
and one that names others gets their new numbers. So a row that changed changes the pages it lies on, and no others,
which `tables.copy_tables` can't do: there each row moves those behind it.
"""

from __future__ import annotations

import os
import struct
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_state.engine.driver import newest_driver
from hermes_state.portability.pages import trees
from hermes_state.portability.pages.errors import Unfit
from hermes_state.portability.pages.numbering import Numbering
from hermes_state.portability.pages.reading import pages_of
from hermes_state.portability.tables import copying, fill, is_virtual, uri

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from hermes_state.portability.pages.reading import Pages
    from hermes_state.portability.tables import Entry

# Of a database's header, where these numbers stand: its pages; the first free page and how many there are; bytes that
# SQLite keeps for extensions at the end of each page; the version of the schema's format; whether it is vacuumed.
_COUNT_AT, _FREE_AT, _RESERVED_AT, _FORMAT_AT, _VACUUM_AT = 28, 32, 20, 44, 52
_HEAD_BYTES = 100
_FORMAT = 4
_NUMBER, _PAIR = struct.Struct(">I"), struct.Struct(">II")
# SQLite's locks lie at this byte; the page around it holds nothing.
_LOCKS_AT = 1 << 30
# Pages that wait to be written in their order: rows are read in another one.
_TOGETHER = 256
# Pages that are read ahead: enough for any disk to have work, little for a cache.
_AHEAD = 16_384


def copy_pages(
    source: Path,
    target: Path,
    seen: Sequence[Entry],
    without: AbstractSet[str],
    *,
    busy_ms: int,
    remembered: Path,
    afterwards: Mapping[str, str] | None = None,
) -> None:
    """As `tables.copy_tables`; a page keeps its place from copy to copy.

    Args:
        remembered: a file with the numbering of an earlier copy, if there is one; that of this copy is put there.

    Raises:
        SchemaChanged: the source no longer has the schema that was seen.
        Unfit: it can't be copied so.
    """
    with (
        copying(source, target, busy_ms) as connection,
        pages_of(source, lambda: _connected(source, busy_ms), connection) as pages,
    ):
        _refuse_unknown(pages)
        there = _roots(connection, "source")
        large = _large(pages, seen, there)
        if large & {*(afterwards or {})}:
            raise Unfit("a table that is changed in the copy has many pages")
        fill(connection, seen, without, rowless=large, afterwards=afterwards)
        made = {key: root for key, root in _roots(connection, "main").items() if key.table in large}
        if not made.keys() <= there.keys():
            raise Unfit("an index that is there no more")
        count = connection.execute("PRAGMA main.page_count").fetchone()[0]
        numbering = Numbering.after(count, _LOCKS_AT // pages.size + 1, _read(remembered))
        for key, root in made.items():
            numbering.give(there[key], root)
        _Writing(target, pages, numbering).write(count, [there[key] for key in made])
    remembered.write_bytes(numbering.dump())


class _Tree(NamedTuple):
    """A tree of a database, by what it is of."""

    kind: str
    name: str
    table: str


def _connected(source: Path, busy_ms: int) -> Any:
    connection = newest_driver().module.connect(uri(source, "ro"), uri=True, isolation_level=None)
    connection.execute(f"PRAGMA busy_timeout={busy_ms}")
    return connection


def _read(remembered: Path) -> bytes:
    return remembered.read_bytes() if remembered.exists() else b""


def _refuse_unknown(pages: Pages) -> None:
    """Refuse what has other kinds of pages, or pages that mean something else."""
    schema_format, vacuum = (_NUMBER.unpack_from(pages.head, at)[0] for at in (_FORMAT_AT, _VACUUM_AT))
    if pages.head[_RESERVED_AT] or vacuum or schema_format != _FORMAT:
        raise Unfit("a database with pages of another kind")


def _roots(connection: Any, database: str) -> dict[_Tree, int]:
    query = f"SELECT type, name, tbl_name, rootpage FROM {database}.sqlite_master WHERE rootpage > 0"  # noqa: S608
    return {_Tree(kind, name, table): root for kind, name, table, root in connection.execute(query)}


def _large(pages: Pages, seen: Iterable[Entry], roots: Mapping[_Tree, int]) -> set[str]:
    """Tables that are worth it: those with rows on more than one page."""
    names = (entry.name for entry in seen if entry.type == "table" and not is_virtual(entry))
    return {
        name
        for name in names
        if not name.startswith("sqlite_") and trees.is_inner(pages, roots[_Tree("table", name, name)])
    }


class _Writing:
    """The pages of trees, written to the copy."""

    def __init__(self, target: Path, pages: Pages, numbering: Numbering) -> None:
        self._target, self._pages, self._numbering = target, pages, numbering
        self._seen = bytearray(pages.count + 1)
        self._waiting: list[tuple[int, bytes]] = []
        self._ahead = filter(None, numbering.remembered)

    def write(self, made: int, roots: Iterable[int]) -> None:
        """Write the trees into a file of `made` pages that has their schema."""
        self._file = os.open(self._target, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        try:
            self._expect(_AHEAD)
            for root in roots:
                self._tree(root)
            self._flush()
            self._finish(made)
        finally:
            os.close(self._file)

    def _tree(self, root: int) -> None:
        number_of = self._numbering.of
        for number, content, pointers in trees.pages_below(self._pages, root):
            if self._seen[number]:
                raise Unfit(f"page {number} is in two places")
            self._seen[number] = 1
            if pointers:
                if not self._numbering.remembered:  # else they are read ahead already
                    self._pages.expect(source for _, source in pointers)
                changed = bytearray(content)
                for place, source in pointers:
                    _NUMBER.pack_into(changed, place, number_of(source))
                content = bytes(changed)
            self._waiting.append((number_of(number), content))
            if len(self._waiting) == _TOGETHER:
                self._flush()

    def _flush(self) -> None:
        """Write what waits: pages that lie beside each other together."""
        run: list[bytes] = []
        begin = 0
        for number, content in sorted(self._waiting):
            if number != begin + len(run):
                _write(self._file, b"".join(run), (begin - 1) * self._pages.size)
                run, begin = [], number
            run.append(content)
        _write(self._file, b"".join(run), (begin - 1) * self._pages.size)
        self._expect(len(self._waiting))
        self._waiting = []

    def _expect(self, number: int) -> None:
        """Have so many more pages read ahead of where we are."""
        self._pages.expect(sorted(islice(self._ahead, number)))

    def _finish(self, made: int) -> None:
        """Say in the header how many pages there are, and which of them are free."""
        size = self._pages.size
        end = max(made, self._numbering.last) + 1
        free = list(self._numbering.free(made + 1, end))
        os.ftruncate(self._file, (end - 1) * size)
        capacity = size // 4 - 8  # as SQLite, which leaves room for an old reader's mistake
        lists = [free[start : start + capacity + 1] for start in range(0, len(free), capacity + 1)]
        for place, pages in enumerate(lists, 1):
            following = lists[place][0] if place < len(lists) else 0
            listed = struct.pack(f">{len(pages) + 1}I", following, len(pages) - 1, *pages[1:])
            _write(self._file, listed, (pages[0] - 1) * size)
        head = bytearray(os.pread(self._file, _HEAD_BYTES, 0))
        if _PAIR.unpack_from(head, _FREE_AT) != (0, 0):
            raise Unfit("a new database with free pages")
        _NUMBER.pack_into(head, _COUNT_AT, end - 1)
        _PAIR.pack_into(head, _FREE_AT, free[0] if free else 0, len(free))
        _write(self._file, bytes(head), 0)


def _write(file: int, content: bytes, offset: int) -> None:
    while content:
        written = os.pwrite(file, content, offset)
        content, offset = content[written:], offset + written
