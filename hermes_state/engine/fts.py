"""The full-text index of messages, in whatever database the connection leads to.

An index does three things: it finds which messages hold what is asked, newest first; it knows how long each is; and it
takes messages in and out. It never ranks: that is `hermes_state.search.rank`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import ColumnElement, Connection

    from hermes_state.text.query import Node

# Beyond any message id.
MAX_ID = 2**63 - 1


class Document(NamedTuple):
    """A message as the index takes it: tokens between blanks. One without tokens is not in it."""

    id: int
    words: str
    grams: str


class Totals(NamedTuple):
    """How much the index holds: messages, and tokens of their words."""

    documents: int
    tokens: int

    @property
    def mean_length(self) -> float:
        """Tokens of a message on average; at least 1."""
        return max(1.0, self.tokens / self.documents) if self.documents else 1.0


class MessageTokens(Protocol):
    """What each database's module for the index has."""

    def is_available(self, connection: Connection) -> bool:
        """Whether this database can have an index."""

    def exists(self, connection: Connection) -> bool:
        """Whether the store has an index, sound or not."""

    def create(self, connection: Connection) -> None:
        """Make an empty index."""

    def drop(self, connection: Connection) -> None:
        """Take the index away."""

    def forsake(self, connection: Connection) -> None:
        """Take away an index so damaged that it can't be dropped."""

    def insert(self, connection: Connection, documents: Sequence[Document]) -> None:
        """Add messages that the index does not have, in the order of their ids."""

    def delete(self, connection: Connection, documents: Sequence[Document]) -> None:
        """Take messages out; each must be just as it was put in."""

    def merge(self, connection: Connection) -> bool:
        """Do a bounded piece of the index's own upkeep. False when there is nothing to do."""

    def tidy(self, connection: Connection) -> bool:
        """As `merge`, and what makes searches faster still and is worth doing while nobody waits."""

    def optimize(self, connection: Connection) -> None:
        """Rewrite the index, so that what was deleted leaves it for good."""

    def check_structure(self, connection: Connection) -> None:
        """Let the database check the index, in a write transaction; an unsound one is an error of the driver."""

    def matches(
        self,
        connection: Connection,
        node: Node,
        *,
        lowest: int = 0,
        highest: int = MAX_ID,
        limit: int,
        oldest: bool = False,
    ) -> list[int]:
        """The ids of messages that meet a node, newest (highest) first."""

    def matches_where(
        self,
        connection: Connection,
        node: Node,
        conditions: Sequence[ColumnElement[bool]],
        *,
        lowest: int = 0,
        highest: int = MAX_ID,
        limit: int,
    ) -> list[int]:
        """As `matches`, of messages that also meet conditions on `messages` and `sessions`."""

    def dated_matches(
        self,
        connection: Connection,
        node: Node,
        conditions: Sequence[ColumnElement[bool]],
        *,
        lowest: int,
        highest: int,
    ) -> list[tuple[int, int]]:
        """All messages of a span that meet a node and conditions: (id, created_at)."""

    def spelled_out(self, connection: Connection, start: str) -> Sequence[tuple[str, bool]] | None:
        """Cheaper words to ask for than a prefix: (word, whether longer words that begin so are meant too).

        None: this database has no cheaper way.
        """

    def lengths(self, connection: Connection, ids: Iterable[int]) -> dict[int, int]:
        """How many words each message has."""

    def totals(self, connection: Connection) -> Totals:
        """How much the index holds."""

    def entries_without_message(self, connection: Connection) -> list[int]:
        """The ids of index entries whose message is not there."""

    def is_found(self, connection: Connection, document: Document) -> bool:
        """Whether the index finds a message by what it says."""

    def token_counts(self, connection: Connection, first: int, last: int) -> dict[int, tuple[int, int]]:
        """The ids between two that the index has, with how many words and grams it says they have."""


def tokens_in(connection: Connection) -> MessageTokens:
    """The index of the database that a connection leads to."""
    return _tokens_of(connection.dialect.name)


@cache
def _tokens_of(dialect: str) -> MessageTokens:
    if dialect == "postgresql":
        from hermes_state.engine.postgres import index

        return index
    from hermes_state.engine import sqlite_index

    return sqlite_index


def is_available(connection: Connection) -> bool:
    """Whether the database that a connection leads to can have full-text indexes."""
    return tokens_in(connection).is_available(connection)
