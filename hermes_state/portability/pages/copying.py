"""Copying a database page by page, without some of its tables.

SQLite makes the schema and fills the small tables. The large ones come page by page: a page of rows is copied as it is,
and one that names others gets their new numbers. So a row that changed changes the pages it lies on, and no others,
which `tables.copy_tables` can't do: there each row moves those behind it.
"""

from __future__ import annotations

import random
import struct
import time
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_state.engine.driver import newest_driver
from hermes_state.portability.pages import trees
from hermes_state.portability.pages.errors import Unfit
from hermes_state.portability.pages.numbering import Numbering, first_number, is_usable
from hermes_state.portability.pages.reading import fingerprint, pages_of
from hermes_state.portability.pages.trace import CHAINED, Trace
from hermes_state.portability.pages.writing import TOGETHER, PageFile
from hermes_state.portability.tables import copying, fill, is_virtual, source_uri

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from hermes_state.portability.pages.reading import Pages
    from hermes_state.portability.tables import Choice, Entry

# Of a database's header: bytes that SQLite keeps for extensions at the end of each page; the version of the schema's
# format; whether it is vacuumed.
_RESERVED_AT, _FORMAT_AT, _VACUUM_AT = 20, 44, 52
_FORMAT = 4
_NUMBER = struct.Struct(">I")
# Pages that SQLite keeps where it reads each of them once: more would only push others out of the processor's caches.
_CACHED = 20
# Pages that are read ahead: enough for any disk to have work, little for a cache.
_AHEAD = 16_384


class Skeleton(NamedTuple):
    """A copy that has its schema, and the rows of the small tables.

    Attributes:
        pages: of the database.
        made: pages that SQLite wrote.
        roots: the numbers of the other trees' roots in the copy, by the database's pages.
    """

    pages: Pages
    made: int
    roots: dict[int, int]


def copy_pages(source: Path, target: Path, choice: Choice, *, busy_ms: int, remembered: Path) -> None:
    """As `tables.copy_tables`; a page keeps its place from copy to copy.

    Args:
        remembered: a file with the trace of an earlier copy, if there is one; that of this copy is put there.

    Raises:
        SchemaChanged: the source no longer has the schema that was seen.
        Unfit: it can't be copied so.
    """
    earlier = Trace.parse(remembered.read_bytes()) if remembered.exists() else None
    with (
        begun(source, target, choice, busy_ms) as copy,
        PageFile(target, copy.pages.size) as file,
    ):
        if earlier is None or not is_usable(earlier, copy.made, copy.pages.size):
            earlier = Trace(page_size=copy.pages.size, first=first_number(copy.made), seed=random.getrandbits(64))
        trace = _Copying(copy, file, earlier).run()
    remembered.write_bytes(trace.dump())


@contextmanager
def begun(source: Path, target: Path, choice: Choice, busy_ms: int) -> Iterator[Skeleton]:
    """Begin a copy: arguments and errors are those of `copy_pages`."""
    with (
        copying(source, target, busy_ms) as connection,
        pages_of(source, lambda: _connected(source, busy_ms), connection) as pages,
    ):
        _refuse_unknown(pages)
        there = _roots(connection, "source")
        large = _large(pages, choice.seen, there) - choice.rowless
        if large & choice.afterwards.keys():
            raise Unfit("a table that is changed in the copy has many pages")
        fill(connection, choice._replace(rowless=large | choice.rowless))
        made = {key: root for key, root in _roots(connection, "main").items() if key.table in large}
        if not made.keys() <= there.keys():
            raise Unfit("an index that is there no more")
        count = connection.execute("PRAGMA main.page_count").fetchone()[0]
        yield Skeleton(pages, count, {there[key]: root for key, root in made.items()})


class _Tree(NamedTuple):
    """A tree of a database, by what it is of."""

    kind: str
    name: str
    table: str


def _connected(source: Path, busy_ms: int) -> Any:
    # The thread that checks the database in the meantime is another one than reads its pages.
    module = newest_driver().module
    connection = module.connect(source_uri(source), uri=True, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA busy_timeout={busy_ms}")
    connection.execute(f"PRAGMA cache_size={_CACHED}")
    return connection


def _refuse_unknown(pages: Pages) -> None:
    """Refuse what has other kinds of pages, or pages that mean something else."""
    schema_format, vacuum = (_NUMBER.unpack_from(pages.head, at)[0] for at in (_FORMAT_AT, _VACUUM_AT))
    if pages.head[_RESERVED_AT] or vacuum or schema_format != _FORMAT or pages.count >= CHAINED:
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


class _Copying:
    """The pages of all large trees on their way to a copy.

    Args:
        earlier: the trace of an earlier copy, whose numbers are kept; it may be an empty one.
    """

    def __init__(self, copy: Skeleton, file: PageFile, earlier: Trace) -> None:
        self._copy, self._pages, self._file = copy, copy.pages, file
        self._trace = Trace(
            page_size=earlier.page_size,
            first=earlier.first,
            made=copy.made,
            seed=earlier.seed,
            proven_at=int(time.time()),
            roots=copy.roots,
        )
        self._trace.checked_at = self._trace.proven_at
        self._numbering = Numbering(earlier.first, earlier.locked, earlier.sources)
        self._seen = bytearray(copy.pages.count + 1)
        self._parents: dict[int, int] = {}
        self._ahead = filter(None, earlier.sources)
        self._is_known = bool(earlier.sources)

    def run(self) -> Trace:
        """Write them all; returns what is to be remembered."""
        self._expect(_AHEAD)
        for root, number in self._copy.roots.items():
            self._numbering.give(root, number)
        for root in self._copy.roots:
            for source, page in trees.pages_below(self._pages, root):
                self._take(source, page)
        if not self._trace.sources:
            self._trace.first = self._trace.made + 1
        self._file.finish(self._trace)
        return self._trace

    def _take(self, source: int, page: trees.Page) -> None:
        if self._seen[source]:
            raise Unfit(f"page {source} is in two places")
        self._seen[source] = 1
        number = self._numbering.of(source)
        if number >= self._trace.first:
            self._trace.put(number, source, self._parents.pop(source), fingerprint(page.raw, self._trace.seed))
        if page.children and not self._is_known:  # else they are read ahead already
            self._pages.expect(child for _, child in page.children)
        if self._file.put(number, renumbered(page, number, self._numbering.of, self._parents)):
            self._expect(TOGETHER)

    def _expect(self, number: int) -> None:
        """Have so many more pages read ahead of where we are."""
        self._pages.expect(islice(self._ahead, number))


def renumbered(page: trees.Page, number: int, number_of: Callable[[int], int], parents: dict[int, int]) -> bytes:
    """A page as the copy has it.

    Args:
        number: in the copy.
        number_of: the numbers of other pages there.
        parents: gets, by the database's pages, which page names them, with `CHAINED`.
    """
    if not page.children and not page.chained:
        return page.content
    changed = bytearray(page.content)
    for pointers, parent in ((page.children, number), (page.chained, number | CHAINED)):
        for place, source in pointers:
            _NUMBER.pack_into(changed, place, number_of(source))
            parents[source] = parent
    return bytes(changed)
