"""A full-text index over the rows of one small table: memories, facts. Kept by the transaction that changes the rows.

Messages have their own (`hermes_state.engine.fts`), which follows behind the appends. Entries are few and short, so
theirs is never behind. It is derived data: it can be dropped and filled again from the rows.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hermes_state.engine.sqlite_entries import SqliteEntries
from hermes_state.text import index_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Column, ColumnElement, Connection

    from hermes_state.text.query import Node


class Entry(NamedTuple):
    """A row as the index stores it: its key and the two token columns. One without tokens is not stored."""

    key: int
    words: str
    grams: str

    @classmethod
    def of(cls, key: int, text: str) -> Entry:
        """The entry of a text."""
        return cls(key, *index_columns(text))


class Entries(Protocol):
    """What an index of entries does in each database; see `EntryIndex`."""

    def exists(self, connection: Connection) -> bool: ...
    def create(self, connection: Connection) -> None: ...
    def drop(self, connection: Connection) -> None: ...
    def insert(self, connection: Connection, entries: Sequence[Entry]) -> None: ...
    def delete(self, connection: Connection, entries: Sequence[Entry]) -> None: ...
    def matches(
        self,
        connection: Connection,
        node: Node,
        *,
        conditions: Sequence[ColumnElement[bool]] = (),
        below: int | None = None,
        limit: int,
    ) -> list[int]: ...
    def best(
        self, connection: Connection, node: Node, *, conditions: Sequence[ColumnElement[bool]] = (), limit: int
    ) -> list[tuple[int, float]]: ...
    def frequencies(self, connection: Connection, tokens: Iterable[str]) -> dict[str, int]: ...
    def counts(self, connection: Connection) -> tuple[int, int]: ...
    def missing(self, connection: Connection) -> list[int]: ...
    def strangers(self, connection: Connection) -> list[int]: ...
    def optimize(self, connection: Connection) -> None: ...
    def check_structure(self, connection: Connection) -> None: ...


class EntryIndex:
    """One such index, in whatever database a connection leads to.

    Args:
        name: a plain identifier that the program chose, since it stands in statements as it is.
        key: the key column of the rows; conditions of `matches` are on its table.
    """

    def __init__(self, name: str, key: Column[int]) -> None:
        self.name = name
        self._key = key
        self._sqlite = SqliteEntries(name, key)

    @cached_property
    def _postgres(self) -> Entries:
        from hermes_state.engine.postgres.entries import PostgresEntries

        return PostgresEntries(self.name, self._key)

    def _in(self, connection: Connection) -> Entries:
        return self._sqlite if connection.dialect.name == "sqlite" else self._postgres

    def exists(self, connection: Connection) -> bool:
        """Whether the store has it, sound or not."""
        return self._in(connection).exists(connection)

    def create(self, connection: Connection) -> None:
        """Make it, empty."""
        self._in(connection).create(connection)

    def drop(self, connection: Connection) -> None:
        """Take it away."""
        self._in(connection).drop(connection)

    def insert(self, connection: Connection, entries: Sequence[Entry]) -> None:
        """Add rows that it does not have."""
        self._in(connection).insert(connection, entries)

    def delete(self, connection: Connection, entries: Sequence[Entry]) -> None:
        """Take rows out; each must be just as it was put in."""
        self._in(connection).delete(connection, entries)

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
        return self._in(connection).matches(connection, node, conditions=conditions, below=below, limit=limit)

    def best(
        self, connection: Connection, node: Node, *, conditions: Sequence[ColumnElement[bool]] = (), limit: int
    ) -> list[tuple[int, float]]:
        """The keys of the rows that answer a node best by BM25, with their scores (higher is better).

        Every match is scored, which costs some microseconds each.

        Args:
            conditions: on the key's table.
        """
        return self._in(connection).best(connection, node, conditions=conditions, limit=limit)

    def frequencies(self, connection: Connection, tokens: Iterable[str]) -> dict[str, int]:
        """How many entries hold each token."""
        return self._in(connection).frequencies(connection, tokens)

    def counts(self, connection: Connection) -> tuple[int, int]:
        """How many rows the table has, and how many of them the index; a row without tokens is never in it."""
        return self._in(connection).counts(connection)

    def missing(self, connection: Connection) -> list[int]:
        """The keys of rows that the index does not have."""
        return self._in(connection).missing(connection)

    def strangers(self, connection: Connection) -> list[int]:
        """The keys that the index has and the table has not."""
        return self._in(connection).strangers(connection)

    def optimize(self, connection: Connection) -> None:
        """Rewrite it, so that what was deleted leaves it for good."""
        self._in(connection).optimize(connection)

    def check_structure(self, connection: Connection) -> None:
        """Let the database check it, in a write transaction; an unsound one is an error of the driver."""
        self._in(connection).check_structure(connection)
