"""Indexes of entries on PostgreSQL: rows of `entry_index`, one index beside the other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sqlalchemy import cast, func, literal, select
from sqlalchemy.dialects.postgresql import TSQUERY

from hermes_state.engine.lookups import rows
from hermes_state.engine.postgres.index import store_number
from hermes_state.engine.postgres.tokens import either_stream, lexemes, tsquery, tsvector

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Column, ColumnElement, Connection

    from hermes_state.engine.entry_index import Entry
    from hermes_state.text.query import Node

_IS_MADE = "SELECT 1 FROM entry_indexes WHERE name = %s"
_MAKE = "INSERT INTO entry_indexes (name) VALUES (%s)"
_UNMAKE = "DELETE FROM entry_indexes WHERE name = %s"
# The policy binds no owner here, so each statement names the store.
_EMPTY = "DELETE FROM entry_index WHERE store = hermes_store() AND name = %s"
_INSERT = "INSERT INTO entry_index (name, key, words, tokens) VALUES (%s, %s, %s, %s::tsvector)"
_DELETE = "DELETE FROM entry_index WHERE store = hermes_store() AND name = %s AND key = ANY(%s::bigint[])"
_TOTALS = "SELECT count(*), coalesce(sum(words), 0) FROM entry_index WHERE store = hermes_store() AND name = %s"
_HOLDERS = "SELECT count(*) FROM hermes_entries(%s, %s::tsquery)"
# How often each of some lexemes is in each of some entries. A lexeme without positions is there once.
_TIMES = """
SELECT e.key, e.words, token.lexeme, coalesce(array_length(token.positions, 1), 1)
FROM entry_index AS e, unnest(e.tokens) AS token
WHERE e.store = hermes_store() AND e.name = %s AND e.key = ANY(%s::bigint[]) AND token.lexeme = ANY(%s::text[])
"""
# BM25 as FTS5 has it: https://www.sqlite.org/fts5.html#the_bm25_function
_K1, _B = 1.2, 0.75
# Entries looked at to find the best ones.
_MOST_SCORED = 5_000


class PostgresEntries:
    """One index of entries in a PostgreSQL store; see `hermes_state.engine.entry_index.EntryIndex`."""

    def __init__(self, name: str, key: Column[int]) -> None:
        self.name = name
        self._key = key
        source = key.table.name
        ours = "(SELECT key FROM entry_index WHERE store = hermes_store() AND name = %s)"
        self._counts = f"SELECT (SELECT count(*) FROM {source}), count(*) FROM {ours} AS d"  # noqa: S608
        self._missing = (
            f"SELECT k.{key.name} FROM {source} AS k LEFT JOIN {ours} AS d ON d.key = k.{key.name}"  # noqa: S608
            " WHERE d.key IS NULL ORDER BY 1"
        )
        self._strangers = (
            f"SELECT d.key FROM {ours} AS d LEFT JOIN {source} AS k ON k.{key.name} = d.key"  # noqa: S608
            f" WHERE k.{key.name} IS NULL ORDER BY 1"
        )

    def exists(self, connection: Connection) -> bool:
        return bool(rows(connection, _IS_MADE, (self.name,)))

    def create(self, connection: Connection) -> None:
        connection.exec_driver_sql(_MAKE, (self.name,))

    def drop(self, connection: Connection) -> None:
        connection.exec_driver_sql(_EMPTY, (self.name,))
        connection.exec_driver_sql(_UNMAKE, (self.name,))

    def insert(self, connection: Connection, entries: Sequence[Entry]) -> None:
        store = store_number(connection)
        made = []
        for entry in entries:
            words, grams = entry.words.split(), entry.grams.split()
            if words or grams:
                made.append((self.name, entry.key, len(words), tsvector(store, words, grams)))
        if made:
            connection.exec_driver_sql(_INSERT, made)

    def delete(self, connection: Connection, entries: Sequence[Entry]) -> None:
        if entries:
            connection.exec_driver_sql(_DELETE, (self.name, [entry.key for entry in entries]))

    def matches(
        self,
        connection: Connection,
        node: Node,
        *,
        conditions: Sequence[ColumnElement[bool]] = (),
        below: int | None = None,
        limit: int,
    ) -> list[int]:
        asked = cast(literal(tsquery(store_number(connection), node)), TSQUERY)
        found = func.hermes_entries(self.name, asked).column_valued("key")
        query = select(found)
        if below is not None:
            query = query.where(found < below)
        if conditions:
            query = query.join(self._key.table, self._key == found).where(*conditions)
        return list(connection.execute(query.order_by(found.desc()).limit(limit)).scalars())

    def best(
        self, connection: Connection, node: Node, *, conditions: Sequence[ColumnElement[bool]] = (), limit: int
    ) -> list[tuple[int, float]]:
        found = self.matches(connection, node, conditions=conditions, limit=_MOST_SCORED)
        wanted = lexemes(store_number(connection), node)
        documents, tokens = rows(connection, _TOTALS, (self.name,))[0]
        worth = {each.text: self._worth(connection, each.query, int(documents)) for each in wanted}
        mean = max(1.0, float(tokens) / max(1, documents))
        scores = dict.fromkeys(found, 0.0)
        for key, words, lexeme, times in rows(connection, _TIMES, (self.name, found, list(worth))):
            norm = _K1 * (1.0 - _B + _B * words / mean)
            scores[key] += worth[lexeme] * times * (_K1 + 1.0) / (times + norm)
        return sorted(scores.items(), key=lambda each: (-each[1], each[0]))[:limit]

    def _worth(self, connection: Connection, query: str, documents: int) -> float:
        """BM25's idf of a lexeme, never below a trifle, as FTS5's."""
        holders = rows(connection, _HOLDERS, (self.name, query))[0][0]
        return max(1e-6, math.log((documents - holders + 0.5) / (holders + 0.5)))

    def frequencies(self, connection: Connection, tokens: Iterable[str]) -> dict[str, int]:
        store = store_number(connection)
        return {
            token: int(rows(connection, _HOLDERS, (self.name, either_stream(store, token)))[0][0]) for token in tokens
        }

    def counts(self, connection: Connection) -> tuple[int, int]:
        of_table, of_index = rows(connection, self._counts, (self.name,))[0]
        return of_table, of_index

    def missing(self, connection: Connection) -> list[int]:
        return [row[0] for row in rows(connection, self._missing, (self.name,))]

    def strangers(self, connection: Connection) -> list[int]:
        return [row[0] for row in rows(connection, self._strangers, (self.name,))]

    def optimize(self, connection: Connection) -> None:
        """Autovacuum does it."""

    def check_structure(self, connection: Connection) -> None:
        """The server looks after its own b-trees."""
