"""The full-text index on PostgreSQL: rows of `message_index` with our own tokens as a tsvector, found through GIN.

A token is written `7w:redis`: the number of the store, so that a word's list holds one store's messages, then which
stream it is of (`w` words, `g` pairs), then the token. Positions are ours too. PostgreSQL's dictionaries and ranking
are not used, so both engines find the same messages.

A tsvector keeps positions up to 16383 and 255 of one lexeme. A message beyond that has one row with all its tokens and
no positions, for words, and one for each stretch of it, for phrases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, String, cast, column, func, literal, select, table
from sqlalchemy.dialects.postgresql import TSQUERY

from hermes_state.engine.fts import MAX_ID, Totals
from hermes_state.engine.lookups import rows
from hermes_state.engine.postgres.tokens import stretches, tsquery, tsvector
from hermes_state.schema import messages, sessions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from hermes_state.engine.fts import Document
    from hermes_state.text.query import Node

_INSERT = "INSERT INTO message_index (id, part, words, grams, tokens) VALUES (%s, %s, %s, %s, %s::tsvector)"
_ADD = """
INSERT INTO message_index_totals AS t (documents, tokens) VALUES (%s, %s)
ON CONFLICT (store) DO UPDATE SET documents = t.documents + excluded.documents, tokens = t.tokens + excluded.tokens
"""
_DELETE = "DELETE FROM message_index WHERE id = ANY(%s::bigint[])"
_NEWEST = """
SELECT DISTINCT id FROM message_index WHERE tokens @@ %s::tsquery AND id BETWEEN %s AND %s ORDER BY id DESC LIMIT %s
"""
_OLDEST = """
SELECT DISTINCT id FROM message_index WHERE tokens @@ %s::tsquery AND id BETWEEN %s AND %s ORDER BY id LIMIT %s
"""
_LENGTHS = "SELECT id, words FROM message_index WHERE id = ANY(%s::bigint[]) AND part = 0"
_COUNTS = "SELECT id, words, grams FROM message_index WHERE id BETWEEN %s AND %s AND part = 0 ORDER BY id"
_TOTALS = "SELECT documents, tokens FROM message_index_totals"

_STRANGERS = """
SELECT DISTINCT i.id FROM message_index AS i LEFT JOIN messages AS m ON m.id = i.id WHERE m.id IS NULL ORDER BY 1
"""
_IS_EQUAL = "SELECT 1 FROM message_index WHERE id = %s AND part = 0 AND tokens = %s::tsvector"

_index = table("message_index", column("id", BigInteger), column("tokens", String))


def is_available(connection: Connection) -> bool:  # noqa: ARG001  as every database's module
    """Every PostgreSQL has what it takes."""
    return True


def exists(connection: Connection) -> bool:  # noqa: ARG001
    """The tables are a part of the schema."""
    return True


def create(connection: Connection) -> None:
    """Make it empty."""
    connection.exec_driver_sql("DELETE FROM message_index")
    connection.exec_driver_sql("DELETE FROM message_index_totals")


def drop(connection: Connection) -> None:
    """Make it empty."""
    create(connection)


def forsake(connection: Connection) -> None:
    """Make it empty."""
    create(connection)


def insert(connection: Connection, documents: Sequence[Document]) -> None:
    """Add messages that the index does not have."""
    if not documents:
        return
    store, made, total = store_number(connection), [], 0
    for document in documents:
        words, grams = document.words.split(), document.grams.split()
        total += len(words)
        for part, (some_words, some_grams, placed) in enumerate(stretches(words, grams)):
            made.append((document.id, part, len(words), len(grams), tsvector(store, some_words, some_grams, placed)))
    connection.exec_driver_sql(_INSERT, made)
    connection.exec_driver_sql(_ADD, (len(documents), total))


def delete(connection: Connection, documents: Sequence[Document]) -> None:
    """Take messages out."""
    if documents:
        connection.exec_driver_sql(_DELETE, ([document.id for document in documents],))
        words = sum(len(document.words.split()) for document in documents)
        connection.exec_driver_sql(_ADD, (-len(documents), -words))


def merge(connection: Connection) -> bool:  # noqa: ARG001
    """Autovacuum does it."""
    return False


def optimize(connection: Connection) -> None:
    """Autovacuum does it."""


def check_structure(connection: Connection) -> None:
    """The server looks after its own b-trees; `amcheck` proves them."""


def matches(
    connection: Connection, node: Node, *, lowest: int = 0, highest: int = MAX_ID, limit: int, oldest: bool = False
) -> list[int]:
    """The ids of messages that meet a node, newest (highest) first."""
    asked = tsquery(store_number(connection), node)
    return [row[0] for row in rows(connection, _OLDEST if oldest else _NEWEST, (asked, lowest, highest, limit))]


def matches_where(
    connection: Connection,
    node: Node,
    conditions: Sequence[ColumnElement[bool]],
    *,
    lowest: int = 0,
    highest: int = MAX_ID,
    limit: int,
) -> list[int]:
    """As `matches`, of messages that also meet conditions on `messages` and `sessions`."""
    query = _joined(select(_index.c.id).distinct(), connection, node, conditions, lowest, highest)
    return list(connection.execute(query.order_by(_index.c.id.desc()).limit(limit)).scalars())


def dated_matches(
    connection: Connection, node: Node, conditions: Sequence[ColumnElement[bool]], *, lowest: int, highest: int
) -> list[tuple[int, int]]:
    """All messages of a span that meet a node and conditions: (id, created_at)."""
    query = select(_index.c.id, messages.c.created_at).distinct()
    found = connection.execute(_joined(query, connection, node, conditions, lowest, highest))
    return [(row[0], row[1]) for row in found]


def _joined(
    query: Select[Any],
    connection: Connection,
    node: Node,
    conditions: Sequence[ColumnElement[bool]],
    lowest: int,
    highest: int,
) -> Select[Any]:
    asked = cast(literal(tsquery(store_number(connection), node)), TSQUERY)
    return (
        query.select_from(_index)
        .join(messages, messages.c.id == _index.c.id)
        .join(sessions, sessions.c.pk == messages.c.session_pk)
        .where(_index.c.tokens.op("@@")(asked), _index.c.id.between(lowest, highest), *conditions)
    )


def words_beginning(connection: Connection, start: str, limit: int) -> None:  # noqa: ARG001
    """GIN walks from a word to the next by itself, so nobody has to spell them out."""
    return


def lengths(connection: Connection, ids: Iterable[int]) -> dict[int, int]:
    """How many words each message has."""
    return {row[0]: row[1] for row in rows(connection, _LENGTHS, (list(ids),))}


def totals(connection: Connection) -> Totals:
    """How much the index holds."""
    found = rows(connection, _TOTALS)
    return Totals(*found[0]) if found else Totals(0, 0)


def entries_without_message(connection: Connection) -> list[int]:
    """The ids of index entries whose message is not there."""
    return [row[0] for row in rows(connection, _STRANGERS)]


def is_found(connection: Connection, document: Document) -> bool:
    """Whether the index holds of a message what the message says."""
    words, grams = document.words.split(), document.grams.split()
    first = next(stretches(words, grams))
    expected = tsvector(store_number(connection), first.words, first.grams, placed=first.placed)
    return bool(rows(connection, _IS_EQUAL, (document.id, expected)))


def token_counts(connection: Connection, first: int, last: int) -> dict[int, tuple[int, int]]:
    """The ids between two that the index has, with how many words and grams it says they have."""
    return {row[0]: (row[1], row[2]) for row in rows(connection, _COUNTS, (first, last))}


def store_number(connection: Connection) -> int:
    """The number of the store that the connection has entered."""
    known = connection.info.get("hermes_store")
    if known is None:
        known = connection.info["hermes_store"] = int(connection.execute(select(func.hermes_store())).scalar_one())
    return int(known)
