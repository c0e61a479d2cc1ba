"""What SQLite itself can tell about a database: pages, references, schema. Reads only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool

from hermes_state.engine import fts
from hermes_state.engine.failures import CORRUPT, IOERR, NOTADB, is_driver_error, result_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, MetaData


# The full-text indexes, and the beginnings of their shadow tables' names.
INDEX_TABLES = ("message_index", "memory_index", "fact_index")
# `Tree 30 page 43: btreeInitPage() returns error code 11`: the root page of the b-tree, and the page.
_TREE = re.compile(r"\bTree (\d+)\b")
_ANY_SEARCHES = {
    "message_index": """SELECT rowid FROM message_index WHERE message_index MATCH '"0"' LIMIT 1""",
    "memory_index": """SELECT rowid FROM memory_index WHERE memory_index MATCH '"0"' LIMIT 1""",
    "fact_index": """SELECT rowid FROM fact_index WHERE fact_index MATCH '"0"' LIMIT 1""",
}
_INDEXES = "SELECT name FROM sqlite_master WHERE name IN ('message_index', 'memory_index', 'fact_index')"
# Lines of an integrity check that are asked for; SQLite stops after so many.
_MOST_LINES = 10_000


class Complaint(NamedTuple):
    """A line of SQLite's own check, and the table or index it is about; "" when it does not say."""

    name: str
    what: str

    @property
    def is_unused_space(self) -> bool:
        """Whether it is about a page that nothing uses, as one of an index that was too damaged to be dropped."""
        return self.what.endswith("never used")


class Dangling(NamedTuple):
    """A row that refers to a row which is not there."""

    table: str
    rowid: int | None
    parent: str


class Difference(NamedTuple):
    """A table or index that is not as declared."""

    name: str
    what: str


def unsound(connection: Connection, *, full: bool) -> list[Complaint]:
    """What is wrong with pages and b-trees; [] when nothing is.

    Args:
        full: also compare every index with its table, entry by entry.
    """
    driver: Any = connection.connection.driver_connection
    if fts.is_available(connection):
        # FTS5's part of the check takes the structure of an index from this connection's last search, and calls the
        # index corrupt when others have written since. A search looks anew.
        for name in connection.exec_driver_sql(_INDEXES).scalars().all():
            _collect(driver, _ANY_SEARCHES[name], [])
    return complaints(driver, "integrity_check" if full else "quick_check")


def complaints(driver: Any, pragma: str) -> list[Complaint]:
    """What SQLite's own check says. It breaks off at a page it can't go on from; then each table is asked alone."""
    found: dict[Complaint, None] = {}
    roots: list[str] = []
    _collect(driver, "SELECT rootpage || ' ' || name FROM sqlite_master WHERE rootpage > 0", roots)
    names = dict(line.split(" ", 1) for line in roots)
    lines: list[str] = []
    complete = _collect(driver, f"PRAGMA {pragma}({_MOST_LINES})", lines)
    found.update((_complaint(line, names), None) for line in lines)
    if complete:
        return list(found)
    tables: list[str] = []
    _collect(driver, "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'", tables)
    for table in tables:
        quoted = table.replace('"', '""')
        lines = []
        if not _collect(driver, f'PRAGMA {pragma}("{quoted}")', lines) and not lines:
            lines = [f"{table} can't be read to its end"]
        found.update((_complaint(line, names, table), None) for line in lines)
    return list(found) or [Complaint("", "SQLite can't read enough of the file to check it")]


def _complaint(line: str, names: dict[str, str], table: str = "") -> Complaint:
    match = _TREE.search(line)
    if match:
        return Complaint(names.get(match[1], table), line)
    return Complaint(next((name for name in INDEX_TABLES if name in line), table), line)


def _collect(driver: Any, statement: str, lines: list[str]) -> bool:
    """Add the first column of the rows up to the first that can't be read; False when there was one."""
    try:
        for row in driver.execute(statement):
            # Line by line: SQLite puts a heading and several complaints into one row.
            lines += [line for line in str(row[0]).splitlines() if line != "ok" and not line.startswith("*** in ")]
    except Exception as error:
        if not is_driver_error(error) or result_code(error) not in (CORRUPT, NOTADB, IOERR):
            raise
        return False
    return True


def dangling_references(connection: Connection) -> list[Dangling]:
    """Rows whose foreign key leads nowhere."""
    rows = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    return [Dangling(row[0], row[1], row[2]) for row in rows]


def schema_differences(connection: Connection, declared: MetaData) -> Iterator[Difference]:
    """How the tables and indexes differ from the declared ones, by structure and not by the words of their SQL.

    Tables that are not declared are somebody else's. Triggers, and indexes on a declared table, are not: they change
    what a write does.
    """
    model = create_engine("sqlite://", poolclass=StaticPool)
    declared.create_all(model)
    try:
        with model.connect() as wanted:
            for table in declared.sorted_tables:
                yield from _table_differences(connection, wanted, table.name)
            yield from _trigger_differences(_triggers(connection, declared), _triggers(wanted, declared))
    finally:
        model.dispose()


def _trigger_differences(found: dict[str, tuple[str, str]], wanted: dict[str, tuple[str, str]]) -> Iterator[Difference]:
    for name in sorted(found.keys() | wanted.keys()):
        if name not in wanted:
            yield Difference(name, f"a trigger on {found[name][0]} that no migration made")
        elif name not in found:
            yield Difference(name, f"the trigger on {wanted[name][0]} is missing")
        elif found[name] != wanted[name]:
            yield Difference(name, "the trigger is not the one that the migrations make")


def _triggers(connection: Connection, declared: MetaData) -> dict[str, tuple[str, str]]:
    """The table of each trigger on a declared one, and what it does."""
    rows = connection.exec_driver_sql("SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'")
    return {name: (table, " ".join(sql.split())) for name, table, sql in rows if table in declared.tables}


def _table_differences(found: Connection, wanted: Connection, table: str) -> Iterator[Difference]:
    columns, expected = _columns(found, table), _columns(wanted, table)
    if not columns:
        yield Difference(table, "the table is missing")
        return
    for name in sorted(columns.keys() ^ expected.keys()):
        yield Difference(f"{table}.{name}", "the column is missing" if name in expected else "an unknown column")
    for name in sorted(columns.keys() & expected.keys()):
        if columns[name] != expected[name]:
            yield Difference(f"{table}.{name}", f"the column is {columns[name]}, not {expected[name]}")
    indexes, wanted_indexes = _indexes(found, table), _indexes(wanted, table)
    for name in sorted(indexes.keys() ^ wanted_indexes.keys()):
        yield Difference(name, "the index is missing" if name in wanted_indexes else f"an unknown index on {table}")
    for name in sorted(indexes.keys() & wanted_indexes.keys()):
        if indexes[name] != wanted_indexes[name]:
            yield Difference(name, f"the index is {indexes[name]}, not {wanted_indexes[name]}")


def _columns(connection: Connection, table: str) -> dict[str, tuple[str, bool, int]]:
    """Type, NOT NULL and place in the primary key of each column."""
    rows = connection.exec_driver_sql('SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?)', (table,))
    return {name: (kind, bool(required), key) for name, kind, required, key in rows}


def _indexes(connection: Connection, table: str) -> dict[str, tuple[bool, bool, tuple[str | None, ...]]]:
    """Whether each index is unique and partial, and its columns."""
    found = {}
    rows = connection.exec_driver_sql('SELECT name, "unique", partial FROM pragma_index_list(?)', (table,)).fetchall()
    for name, unique, partial in rows:
        columns = connection.exec_driver_sql("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (name,))
        found[name] = (bool(unique), bool(partial), tuple(columns.scalars()))
    return found


# --- the full-text index ----------------------------------------------------------------------------------------
