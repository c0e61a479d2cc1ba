"""What a database says: its schema and its rows, wherever in the file they lie.

Two copies of a database that did not change can differ in their bytes: SQLite counts writes in the file's head, a
restore builds indexes, and a repository keeps pages in their places.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from hermes_state.errors import StoreDamaged
from hermes_state.portability.databases import kind_of, reading, uncopied
from hermes_state.portability.tables import Entry, is_virtual, quoted, rowid_name, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# Of the file's head, what a program may rely on.
_MARKS = ("application_id", "user_version", "encoding")


def say_the_same(one: Path, other: Path) -> bool:
    """Whether two databases that nobody writes to hold the same; what can't be read through is equal to nothing."""
    try:
        with reading(one, immutable=True) as first, reading(other, immutable=True) as second:
            schema = schema_of(first)
            if sorted(schema, key=repr) != sorted(schema_of(second), key=repr) or _marks(first) != _marks(second):
                return False
            for connection in (first, second):
                connection.text_factory = _text
            silent = uncopied(kind_of(schema))
            tables = [entry for entry in schema if entry.type == "table" and not is_virtual(entry)]
            tables = [entry for entry in tables if entry.name not in silent]
            return all(_are_equal(_rows(first, table), _rows(second, table)) for table in tables)
    except (StoreDamaged, UnicodeDecodeError):
        return False


def _marks(connection: Any) -> list[Any]:
    return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _MARKS]


def _text(stored: bytes) -> tuple[bytes]:
    """Text as it is stored, which need not be UTF-8, and no blob's equal."""
    return (stored,)


def _rows(connection: Any, table: Entry) -> Iterable[tuple[Any, ...]]:
    """All rows of a table in the order of their keys, implicit keys included."""
    columns = connection.execute("SELECT name, pk FROM pragma_table_xinfo(?)", (table.name,)).fetchall()
    query = "SELECT wr FROM pragma_table_list(?) WHERE schema = 'main'"
    if connection.execute(query, (table.name,)).fetchone()[0]:
        keys = [quoted(name.decode()) for (name,), key in sorted(columns, key=lambda column: column[1]) if key]
        chosen = "*"
    else:
        keys = [rowid_name([name.decode() for (name,), _ in columns])]
        chosen = f"{keys[0]}, *"
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        f"SELECT {chosen} FROM {quoted(table.name)} ORDER BY {', '.join(keys)}"  # noqa: S608  quoted
    )
    return rows


def _are_equal(first: Iterable[tuple[Any, ...]], second: Iterable[tuple[Any, ...]]) -> bool:
    return all(one == other for one, other in zip_longest(first, second))
