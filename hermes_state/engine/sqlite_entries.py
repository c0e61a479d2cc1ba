"""An index of entries in SQLite: one contentless FTS5 table of our tokens, `rowid` = the row's key.

Contentless tables of SQLite 3.40 take rows out with the 'delete' command only, which needs the very text that went in.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Integer, MetaData, String, Table, bindparam, func, literal_column, select

from hermes_state.engine.lookups import rows
from hermes_state.engine.match import match_expression
from hermes_state.text import FTS5_TOKENIZE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from hermes_state.engine.entry_index import Entry
    from hermes_state.text.query import Node

# Beyond any key.
MAX_KEY = 2**63 - 1
# What FTS5 keeps for each entry beside its words: `name_docsize` has a row for each, `bm25` needs it.
_EXISTS = "SELECT 1 FROM sqlite_master WHERE name = ?"


class SqliteEntries:
    """One index of entries in a SQLite store.

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
        self._command = f"INSERT INTO {name} ({name}) VALUES (?)"  # noqa: S608
        self._best = f"SELECT rowid, bm25({name}) FROM {name} WHERE {name} MATCH ? ORDER BY rank LIMIT ?"  # noqa: S608
        counted, source = f"{name}_docsize", key.table.name
        self._counts = f"SELECT (SELECT count(*) FROM {source}), (SELECT count(*) FROM {counted})"  # noqa: S608
        self._missing = (
            f"SELECT k.{key.name} FROM {source} AS k LEFT JOIN {counted} AS d ON d.id = k.{key.name}"  # noqa: S608
            f" WHERE d.id IS NULL ORDER BY 1"
        )
        self._strangers = (
            f"SELECT d.id FROM {counted} AS d LEFT JOIN {source} AS k ON k.{key.name} = d.id"  # noqa: S608
            f" WHERE k.{key.name} IS NULL ORDER BY 1"
        )
        # A row for each token, with how many entries hold it. https://www.sqlite.org/fts5.html#the_fts5vocab_module
        self._vocabulary = f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{name}_words USING fts5vocab(main, {name}, row)"
        self._frequency = f"SELECT doc FROM temp.{name}_words WHERE term = ?"  # noqa: S608
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
        node: Node,
        *,
        conditions: Sequence[ColumnElement[bool]] = (),
        below: int | None = None,
        limit: int,
    ) -> list[int]:
        """The keys of rows that meet a node, highest first.

        Args:
            conditions: on the key's table; every match is then looked at, else no more than what is returned.
            below: only keys lower than this.
        """
        highest = MAX_KEY if below is None else below - 1
        if not conditions:
            return [row[0] for row in rows(connection, self._newest, (match_expression(node), 0, highest, limit))]
        index = self._table
        # Not `rowid` in the join: FTS5 could then be asked row by row, at 0.1 ms each.
        query = (
            select(index.c.rowid)
            .select_from(index)
            .join(self._key.table, self._key == index.c.rowid + 0)
            .where(
                index.c[self.name].op("MATCH")(match_expression(node)), index.c.rowid.between(0, highest), *conditions
            )
            .order_by(index.c.rowid.desc())
            .limit(limit)
        )
        return list(connection.execute(query).scalars())

    def best(
        self,
        connection: Connection,
        node: Node,
        *,
        conditions: Sequence[ColumnElement[bool]] = (),
        limit: int,
    ) -> list[tuple[int, float]]:
        """The keys of the rows that answer a node best by BM25, with their scores (higher is better).

        Every match is scored, which costs some microseconds each.

        Args:
            conditions: on the key's table.
        """
        if not conditions:
            return [(row[0], -row[1]) for row in rows(connection, self._best, (match_expression(node), limit))]
        query = _best_where(self._table, self._key, tuple(conditions))
        asked = {"of_match": match_expression(node), "of_limit": limit}
        return [(row[0], -row[1]) for row in connection.execute(query, asked)]

    def frequencies(self, connection: Connection, tokens: Iterable[str]) -> dict[str, int]:
        """How many entries hold each token."""
        rows(connection, self._vocabulary)
        found: dict[str, int] = {}
        for token in tokens:
            counted = rows(connection, self._frequency, (token,))
            found[token] = counted[0][0] if counted else 0
        return found

    def counts(self, connection: Connection) -> tuple[int, int]:
        """How many rows the table has, and how many of them the index; a row without tokens is never in it."""
        of_table, of_index = rows(connection, self._counts)[0]
        return of_table, of_index

    def missing(self, connection: Connection) -> list[int]:
        """The keys of rows that the index does not have."""
        return [row[0] for row in rows(connection, self._missing)]

    def strangers(self, connection: Connection) -> list[int]:
        """The keys that the index has and the table has not."""
        return [row[0] for row in rows(connection, self._strangers)]

    def optimize(self, connection: Connection) -> None:
        """Merge all of it; what was deleted leaves the index for good."""
        connection.exec_driver_sql(self._command, ("optimize",))

    def check_structure(self, connection: Connection) -> None:
        """Let FTS5 check its own b-trees, in a write transaction; an unsound one is an error of SQLite."""
        connection.exec_driver_sql(self._command, ("integrity-check",))


@lru_cache(maxsize=64)
def _best_where(index: Table, key: Column[int], conditions: tuple[ColumnElement[bool], ...]) -> Select[Any]:
    """The statement of `best` under conditions; for the same objects the same one, since building it takes longest."""
    score = func.bm25(literal_column(index.name)).label("score")
    return (
        select(index.c.rowid, score)
        .select_from(index)
        .join(key.table, key == index.c.rowid + 0)
        .where(index.c[index.name].op("MATCH")(bindparam("of_match")), *conditions)
        .order_by(score)
        .limit(bindparam("of_limit"))
    )
