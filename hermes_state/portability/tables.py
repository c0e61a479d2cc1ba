"""Copying a database table by table out of one snapshot, as VACUUM does, without some of its tables.

When two tables have equal definitions and the target is empty, SQLite moves whole records (its "transfer
optimization"), so the cost is that of the pages which are kept, not of the whole file.
"""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from hermes_state.engine.driver import newest_driver
from hermes_state.engine.failures import is_driver_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

# Names by which a table's implicit key can be asked for, unless a column is called so.
_ROWID_NAMES = ("rowid", "_rowid_", "oid")
# Of the file header, what a program may rely on. `page_size` and `encoding` must be set before the first table.
_HEADER = ("application_id", "user_version")
_LAYOUT = ("page_size", "encoding", "auto_vacuum")


class Entry(NamedTuple):
    """A row of `sqlite_master`."""

    type: str
    name: str
    table: str
    sql: str | None


class Choice(NamedTuple):
    """What a copy takes of a database.

    Attributes:
        seen: the schema by which it was chosen.
        without: the names of what stays behind; indexes go with their table.
        rowless: tables that are only made.
        afterwards: statements run on the copy, in its transaction, by the table that they change.
    """

    seen: Sequence[Entry]
    without: AbstractSet[str] = frozenset()
    rowless: AbstractSet[str] = frozenset()
    afterwards: Mapping[str, str] = MappingProxyType({})


class SchemaChanged(Exception):
    """The database got another schema between the look at it and the copy; look again."""


def schema_of(connection: Any, database: str = "main") -> list[Entry]:
    """Everything a database holds, in the order it was made."""
    query = f"SELECT type, name, tbl_name, sql FROM {database}.sqlite_master ORDER BY rowid"  # noqa: S608  ours
    return [Entry(*row) for row in connection.execute(query)]


def uri(path: Path, mode: str) -> str:
    """A SQLite URI; any byte may be in the path."""
    return f"file:{quote(os.fsencode(path.absolute()))}?mode={mode}"


def source_uri(path: Path) -> str:
    """As `uri`, of a database to read.

    In WAL mode SQLite would make a log. Where nothing can be made beside the file, and none is left, it is told so.
    """
    address = uri(path, "ro")
    left = any(path.with_name(f"{path.name}-{what}").exists() for what in ("wal", "journal"))
    if left or os.access(path.parent, os.W_OK):
        return address
    try:
        with closing(newest_driver().module.connect(address, uri=True)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except Exception as error:
        if not is_driver_error(error):
            raise
        return f"{address}&immutable=1"
    return address


def copy_tables(source: Path, target: Path, choice: Choice, *, busy_ms: int) -> None:
    """Copy a database without some tables, virtual tables and triggers.

    Raises:
        SchemaChanged: the source no longer has the schema that was seen.
    """
    with copying(source, target, busy_ms) as connection:
        connection.execute("BEGIN")
        fill(connection, choice)


@contextmanager
def copying(source: Path, target: Path, busy_ms: int) -> Iterator[Any]:
    """A connection to a new database like another, which is attached to it as `source`."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    layout = _layout(source, busy_ms)
    with closing(newest_driver().module.connect(uri(target, "rw"), uri=True, isolation_level=None)) as connection:
        for pragma in ("journal_mode=OFF", "synchronous=OFF", *(f"{name}='{value}'" for name, value in layout)):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute(f"PRAGMA busy_timeout={busy_ms}")
        connection.execute("ATTACH ? AS source", (source_uri(source),))
        yield connection


def fill(connection: Any, choice: Choice) -> None:
    """Make and fill the tables of a copy in the transaction that was begun, and end it.

    Args:
        connection: of `copying`.

    Raises:
        SchemaChanged: the source no longer has the schema that was seen.
    """
    if schema_of(connection, "source") != list(choice.seen):
        raise SchemaChanged
    kept = [entry for entry in choice.seen if not {entry.name, entry.table} & choice.without]
    _copy_kept(connection, kept, choice.rowless)
    for statement in choice.afterwards.values():
        connection.execute(statement)
    connection.execute("COMMIT")
    connection.execute("DETACH source")


def _layout(source: Path, busy_ms: int) -> list[tuple[str, Any]]:
    with closing(newest_driver().module.connect(source_uri(source), uri=True, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA busy_timeout={busy_ms}")
        return [(name, connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in _LAYOUT]


def _copy_kept(connection: Any, kept: Sequence[Entry], rowless: AbstractSet[str]) -> None:
    run = connection.execute
    run("PRAGMA writable_schema=ON")  # SQLite's own `sqlite_stat1` can't be made otherwise
    tables = [entry for entry in kept if entry.type == "table" and entry.sql and not is_virtual(entry)]
    for entry in tables:
        if entry.name != "sqlite_sequence":  # comes by itself with the first AUTOINCREMENT
            run(entry.sql)
    for entry in kept:
        if entry.type == "index" and entry.sql:
            run(entry.sql)
    for entry in sorted(tables, key=lambda entry: entry.name == "sqlite_sequence"):
        if entry.name not in rowless:
            _fill(connection, entry.name)
    # Views, triggers and virtual tables are only descriptions: their rows are taken as they stand, so that no trigger
    # fires and no module is asked.
    described = [entry for entry in kept if entry.type in ("view", "trigger") or is_virtual(entry)]
    for entry in described:
        run("INSERT INTO main.sqlite_master VALUES (?, ?, ?, 0, ?)", tuple(entry))
    for name in _HEADER:
        run(f"PRAGMA main.{name}={run(f'PRAGMA source.{name}').fetchone()[0]}")
    run("PRAGMA writable_schema=OFF")


def is_virtual(entry: Entry) -> bool:
    """Whether it is a virtual table, whose content lies in tables of its module."""
    return entry.type == "table" and (entry.sql or "").lstrip().upper().startswith("CREATE VIRTUAL")


def _fill(connection: Any, name: str) -> None:
    table = quoted(name)
    if name == "sqlite_sequence":
        connection.execute("DELETE FROM main.sqlite_sequence")
    columns = connection.execute("SELECT name, pk, type, hidden FROM pragma_table_xinfo(?, 'main')", (name,)).fetchall()
    if _keeps_keys(connection, name, columns):
        chosen, wanted = "", "*"
    else:
        implicit = rowid_name(column[0] for column in columns)
        chosen = ", ".join([implicit, *(quoted(c[0]) for c in columns if not c[3])])
        wanted, chosen = chosen, f"({chosen})"
    connection.execute(f"INSERT INTO main.{table} {chosen} SELECT {wanted} FROM source.{table}")  # noqa: S608  quoted


def _keeps_keys(connection: Any, name: str, columns: Sequence[Any]) -> bool:
    """Whether `SELECT *` brings every row's key along: the key is a column, or there is none."""
    if any(column[3] for column in columns):
        return False
    keys = [column for column in columns if column[1]]
    if len(keys) == 1 and keys[0][2].upper() == "INTEGER":
        return True
    query = "SELECT wr FROM pragma_table_list(?) WHERE schema = 'main'"
    return bool(connection.execute(query, (name,)).fetchone()[0])


def rowid_name(columns: Iterable[str]) -> str:
    """By what name the implicit key of a table with these columns can be asked for."""
    taken = {column.lower() for column in columns}
    return next(name for name in _ROWID_NAMES if name not in taken)


def quoted(name: str) -> str:
    """A name as SQL takes any."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
