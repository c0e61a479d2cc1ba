"""A full-text index over the rows of one small table: memories, facts. Kept by the transaction that changes the rows.

Messages have their own (`hermes_state.engine.fts`), which follows behind the appends. Entries are few and short, so
theirs is never behind. It is one contentless FTS5 table of the tokens of `hermes_state.text`, `rowid` = the row's key,
and derived data: it can be dropped and filled again from the rows.

Contentless tables of SQLite 3.40 take rows out with the 'delete' command only, which needs the very text that went in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Column, Integer, MetaData, String, Table, select

from hermes_state.engine.lookups import rows
from hermes_state.text import FTS5_TOKENIZE, index_text, segment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection

# Beyond any key.
MAX_KEY = 2**63 - 1
_EXISTS = "SELECT 1 FROM sqlite_master WHERE name = ?"


class Entry(NamedTuple):
    """A row as the index stores it: its key and the two token columns. One without tokens is not stored."""

    key: int
    words: str
    grams: str

    @classmethod
    def of(cls, key: int, text: str) -> Entry:
        """The entry of a text."""
        return cls(key, *index_text(segment(text)))


class EntryIndex:
    """One such index.

    Args:
        name: of the FTS5 table; a plain identifier that the program chose, since it stands in statements as it is.
        key: the column that `rowid` is; conditions of `matches` are on its table.
    """

    def __init__(self, name: str, key: Column[int]) -> None:
        assert name.isidentifier()
        self.name = name
        self._key = key
        # MATCH wants the table's own name as a column.
        self._table = Table(name, MetaData(), Column("rowid", Integer), Column(name, String))
        self._insert = f"INSERT INTO {name} (rowid, words, grams) VALUES (?, ?, ?)"  # noqa: S608  as all below
        self._delete = f"INSERT INTO {name} ({name}, rowid, words, grams) VALUES ('delete', ?, ?, ?)"  # noqa: S608
        self._newest = (
            f"SELECT rowid FROM {name} WHERE {name} MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?"  # noqa: S608
        )

    def exists(self, connection: Connection) -> bool:
        """Whether the store has it, sound or not."""
        return bool(rows(connection, _EXISTS, (self.name,)))

    def create(self, connection: Connection) -> None:
        """Make it, empty."""
        connection.exec_driver_sql(
            f"CREATE VIRTUAL TABLE {self.name} USING fts5(words, grams, content='', {FTS5_TOKENIZE})"
        )

    def drop(self, connection: Connection) -> None:
        """Take it away."""
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {self.name}")

    def insert(self, connection: Connection, entries: Sequence[Entry]) -> None:
        """Add rows that it does not have."""
        if found := [tuple(entry) for entry in entries if entry.words or entry.grams]:
            connection.exec_driver_sql(self._insert, found)

    def delete(self, connection: Connection, entries: Sequence[Entry]) -> None:
        """Take rows out; each must be just as it was put in."""
        if found := [tuple(entry) for entry in entries if entry.words or entry.grams]:
            connection.exec_driver_sql(self._delete, found)

    def matches(
        self,
        connection: Connection,
        expression: str,
        *,
        conditions: Sequence[ColumnElement[bool]] = (),
        below: int | None = None,
        limit: int,
    ) -> list[int]:
        """The keys of rows that hold an expression (`hermes_state.engine.match`), highest first.

        Args:
            conditions: on the key's table; every match is then looked at, else no more than what is returned.
            below: only keys lower than this.
        """
        highest = MAX_KEY if below is None else below - 1
        if not conditions:
            return [row[0] for row in rows(connection, self._newest, (expression, 0, highest, limit))]
        index = self._table
        # Not `rowid` in the join: FTS5 could then be asked row by row, at 0.1 ms each.
        query = (
            select(index.c.rowid)
            .select_from(index)
            .join(self._key.table, self._key == index.c.rowid + 0)
            .where(index.c[self.name].op("MATCH")(expression), index.c.rowid.between(0, highest), *conditions)
            .order_by(index.c.rowid.desc())
            .limit(limit)
        )
        return list(connection.execute(query).scalars())
