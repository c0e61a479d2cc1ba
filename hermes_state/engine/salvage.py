"""Reading what can be read of a damaged SQLite file.

A damaged page hides the rows below it and nothing else. So a table is walked by ranges of its row ids; a range that
SQLite can't read to its end is halved, and halved again, until only the ids behind the damage are left out. How many
rows there were is told by a secondary index, which lies in pages of its own and holds the id of every row.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hermes_state.engine.driver import newest_driver
from hermes_state.engine.failures import CANTOPEN, CORRUPT, IOERR, NOTADB, is_driver_error, result_code, translated
from hermes_state.engine.soundness import complaints

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

# Ids beyond the last known row that are still tried when nothing tells how far a table goes.
_BEYOND = 100_000
_UNREADABLE = (CORRUPT, NOTADB, IOERR, CANTOPEN)


class Undecodable(bytes):
    """Text of a damaged row that is not UTF-8 any more."""


@dataclass(slots=True)
class Walk:
    """One table's rows as they are read, and the ids that could not be.

    Attributes:
        unreadable: the ids that lie behind damaged pages; some of them may never have been rows.
    """

    table: str
    recovered: int = 0
    unreadable: list[range] = field(default_factory=list)

    def skip(self, row_id: int) -> None:
        """Note an id that can't be read; they come by rising id."""
        if self.unreadable and self.unreadable[-1].stop == row_id:
            self.unreadable[-1] = range(self.unreadable[-1].start, row_id + 1)
        else:
            self.unreadable.append(range(row_id, row_id + 1))


class DamagedFile:
    """A database that may be damaged, open for reading only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        module = newest_driver().module
        with translated(path):
            self._connection: Any = module.connect(
                f"file:{quote(str(path.absolute()))}?mode=ro", uri=True, isolation_level=None, timeout=10.0
            )
        self._connection.text_factory = _text
        self._connection.execute("PRAGMA cell_size_check=ON")
        # Else SQLite refuses a file that was cut short, and a schema of which one line is damaged. Nothing is written.
        self._connection.execute("PRAGMA writable_schema=ON")
        self._connection.execute("BEGIN")  # one state of the file, whatever others write

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    def fingerprint(self, findings: Iterable[str]) -> str:
        """A name for this damage: the same as long as the same things are wrong, however much is written beside.

        Args:
            findings: what a check found; they name a damage that is none of SQLite's pages.
        """
        lines = sorted(complaint.what for complaint in complaints(self._connection, "quick_check")) or sorted(findings)
        return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()[:12]

    def revision(self) -> str | None:
        """The schema's revision; None when it can't be read."""
        row = next(self._readable("SELECT version_num FROM alembic_version"), None)
        return None if row is None else str(row[0])

    def columns(self, table: str) -> list[str]:
        """The columns a table has here; [] when it can't even be told."""
        return [str(row[0]) for row in self._readable("SELECT name FROM pragma_table_info(?)", (table,))]

    def rows(self, walk: Walk, columns: Iterable[str], *, first: int, last: int | None) -> Iterator[tuple[Any, ...]]:
        """The rows of a table with row ids, by rising id, with the id before the columns.

        Args:
            walk: is kept up to date.
            first, last: the lowest and highest id there may be; None: not known.
        """
        names = ", ".join(f'"{name}"' for name in columns)
        statement = f'SELECT rowid, {names} FROM "{walk.table}" WHERE rowid BETWEEN ? AND ? ORDER BY rowid'  # noqa: S608
        open_end = last is None
        reached = first - 1
        ranges = [(first, last if last is not None else 2**63 - 1)]
        while ranges:
            low, high = ranges.pop()
            if open_end and low > reached + _BEYOND:
                return
            for row in self._readable(statement, (low, high), complete := [False]):
                if row[0] > reached:
                    reached, low = row[0], row[0] + 1
                    walk.recovered += 1
                    yield row
            if complete[0] or low > high:
                continue
            if low == high:
                walk.skip(low)
                continue
            middle = (low + high) // 2
            ranges += [(middle + 1, high), (low, middle)]

    def keyed_rows(self, walk: Walk, columns: Iterable[str], key: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """The rows of a table without row ids: from its start up to a damaged page, and from its end back to one."""
        names = ", ".join(f'"{name}"' for name in columns)
        complete = [False]
        seen: set[tuple[Any, ...]] = set()
        for direction in ("", " DESC"):
            order = ", ".join(f'"{name}"{direction}' for name in key)
            statement = f'SELECT {names} FROM "{walk.table}" ORDER BY {order}'  # noqa: S608
            for row in self._readable(statement, (), complete):
                if row not in seen:
                    seen.add(row)
                    walk.recovered += 1
                    yield row
            if complete[0]:
                return
        walk.unreadable.append(range(1))

    def indexed(self, table: str, index: str, columns: Iterable[str]) -> dict[int, tuple[Any, ...]]:
        """Row ids and indexed columns as a secondary index has them: all, or those outside its own damaged pages."""
        names = ", ".join(f'"{name}"' for name in columns)
        found: dict[int, tuple[Any, ...]] = {}
        for direction in ("", " DESC"):
            order = ", ".join(f'"{name}"{direction}' for name in columns)
            statement = f'SELECT rowid, {names} FROM "{table}" INDEXED BY "{index}" ORDER BY {order}'  # noqa: S608
            complete = [False]
            found.update((row[0], row[1:]) for row in self._readable(statement, (), complete))
            if complete[0]:
                break
        return found

    def _readable(
        self, statement: str, parameters: tuple[Any, ...] = (), complete: list[bool] | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement up to the first that can't be read; `complete[0]` tells whether there was none."""
        try:
            yield from self._connection.execute(statement, parameters)
        except Exception as error:
            if not is_driver_error(error) or not _is_damage(error):
                raise
        else:
            if complete is not None:
                complete[0] = True


def _is_damage(error: BaseException) -> bool:
    """Whether SQLite could not read something, or misses a table or index whose entry in the schema is lost."""
    return result_code(error) in _UNREADABLE or "no such" in str(error)


def _text(stored: bytes) -> str | Undecodable:
    try:
        return stored.decode()
    except UnicodeDecodeError:  # the row is read all the same; who uses it decides
        return Undecodable(stored)
