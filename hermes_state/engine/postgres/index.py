"""The full-text index on PostgreSQL: rows of `message_index` with a message's tokens, found through GIN.

Tokens, their order and the ranking are ours, so both engines find the same messages; PostgreSQL's dictionaries, its
positions (16,383 of a document, 255 of a word) and `ts_rank` are not used. GIN says which messages hold the tokens
asked for; whether they stand beside each other is looked up in the message's own tokens.

GIN has no order, and half of a store may hold a word. So messages are in zones of some thousand, in the order of their
ids, and each zone has lists of its own: `hermes_matches` reads the newest zones first, as many as it takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import ARRAY, BigInteger, Column, Text, column, func, literal, select, table
from sqlalchemy.sql import visitors

from hermes_state.engine.fts import MAX_ID, Totals
from hermes_state.engine.lookups import rows
from hermes_state.engine.postgres.tokens import as_stored, question, stretches
from hermes_state.schema import messages, sessions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection

    from hermes_state.engine.fts import Document
    from hermes_state.engine.postgres.tokens import Question
    from hermes_state.text.query import Node

# Messages of a zone. Reading the list of a word that most messages hold costs up to 2 ms before the first row is looked
# at; in smaller zones the lists of all words together are larger: with 16,384 by a sixth.
ZONE_MESSAGES = 32_768
_INSERT = """
INSERT INTO message_index (id, part, zone, words, grams, word_tokens, gram_tokens)
SELECT * FROM unnest(%s::bigint[], %s::smallint[], %s::integer[], %s::integer[], %s::integer[], %s::text[], %s::text[])
"""
_NEWEST_ZONE = """
SELECT zone, first_id, documents, greatest(
    (SELECT coalesce(max(id), 0) FROM message_index WHERE store = hermes_store() AND part = 0),
    (SELECT coalesce(max(id), 0) FROM message_index WHERE store = hermes_store() AND part = 1)
) FROM message_index_zones ORDER BY zone DESC LIMIT 1
"""
_ZONE_OF = "SELECT max(zone) FROM message_index_zones WHERE first_id <= %s"
_FILL_ZONE = """
INSERT INTO message_index_zones AS z (zone, first_id, documents, tokens) VALUES (%s, %s, %s, %s)
ON CONFLICT (store, zone) DO UPDATE
SET documents = z.documents + excluded.documents, tokens = z.tokens + excluded.tokens
"""
_DELETE = """
WITH gone AS (
    DELETE FROM message_index
    WHERE store = hermes_store() AND (part = 0 AND id = ANY(%(ids)s::bigint[]) OR part > 0 AND id = ANY(%(ids)s))
    RETURNING zone, part, words
), sums AS (SELECT zone, count(*) AS documents, sum(words) AS words FROM gone WHERE part <= 1 GROUP BY zone)
UPDATE message_index_zones AS z SET documents = z.documents - sums.documents, tokens = z.tokens - sums.words
FROM sums WHERE z.zone = sums.zone
"""
_MATCHES = "SELECT hermes_matches(%s, %s, %s::text[], %s::text[], %s, %s, %s, %s)"
_LENGTHS = "SELECT id, words FROM message_index WHERE store = hermes_store() AND part = %s AND id = ANY(%s::bigint[])"
_COUNTS = """
SELECT id, words, grams FROM message_index
WHERE store = hermes_store() AND part IN (0, 1) AND id BETWEEN %s AND %s ORDER BY id
"""
_TOTALS = "SELECT coalesce(sum(documents), 0)::bigint, coalesce(sum(tokens), 0)::bigint FROM message_index_zones"
_STRANGERS = """
SELECT DISTINCT i.id FROM message_index AS i LEFT JOIN messages AS m ON m.id = i.id
WHERE i.store = hermes_store() AND m.id IS NULL ORDER BY 1
"""
_TOKENS = """
SELECT word_tokens, gram_tokens FROM message_index
WHERE store = hermes_store() AND (part = 0 AND id = %s OR part > 0 AND id = %s) ORDER BY part
"""
# Ids asked of the index at a time when most of them may fail further conditions.
_FIRST_CHUNK, _LAST_CHUNK = 1_000, 64_000
# A filter that leaves no more sessions and messages than these is asked first, and the tokens of what it leaves are
# looked at: 5 µs a message, however common the words are.
_FEW_SESSIONS, _FEW_MESSAGES = 50, 5_000
_MAX_INTEGER = 2**31 - 1
_index = table("message_index", *map(column, ("store", "part", "id", "word_tokens", "gram_tokens")))


def is_available(connection: Connection) -> bool:  # noqa: ARG001  as every database's module
    """Every PostgreSQL has what it takes."""
    return True


def exists(connection: Connection) -> bool:  # noqa: ARG001
    """The tables are a part of the schema."""
    return True


def create(connection: Connection) -> None:
    """Make it empty."""
    connection.exec_driver_sql("DELETE FROM message_index WHERE store = hermes_store()")
    connection.exec_driver_sql("DELETE FROM message_index_zones")


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
    zones, made = _Zones(connection), []
    for document in documents:
        words, grams = as_stored(document.words.split()), as_stored(document.grams.split())
        zone = zones.take(document.id, len(words))
        parts = list(stretches(words, grams))
        for part, (some_words, some_grams) in enumerate(parts, start=len(parts) > 1):
            row = (document.id, part, zone, len(words), len(grams), " ".join(some_words), " ".join(some_grams))
            made.append(row)
    connection.exec_driver_sql(_INSERT, tuple(list(column) for column in zip(*made, strict=True)))
    zones.write()


class _Zones:
    """Which zone a message belongs to: the newest until that is full, and an old one for a message between old ones."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        found = rows(connection, _NEWEST_ZONE)
        self._zone, self._first_id, self._documents, self._newest = found[0] if found else (0, 0, 0, 0)
        self._added: dict[int, list[int]] = {}

    def take(self, message_id: int, words: int) -> int:
        """The zone of a message, which is counted in it."""
        zone, first_id = self._zone, self._first_id
        if message_id < first_id:
            zone, first_id = rows(self._connection, _ZONE_OF, (message_id,))[0][0], 0
        elif message_id > self._newest and self._documents >= ZONE_MESSAGES:
            zone, first_id = self._zone, self._first_id = zone + 1, message_id
            self._documents = 0
        if zone == self._zone:
            self._documents += 1
            self._newest = max(self._newest, message_id)
        counted = self._added.setdefault(zone, [first_id, 0, 0])
        counted[1] += 1
        counted[2] += words
        return int(zone)

    def write(self) -> None:
        """Put down what was counted."""
        self._connection.exec_driver_sql(_FILL_ZONE, [(zone, *counted) for zone, counted in self._added.items()])


def delete(connection: Connection, documents: Sequence[Document]) -> None:
    """Take messages out."""
    if documents:
        connection.exec_driver_sql(_DELETE, {"ids": [document.id for document in documents]})


def merge(connection: Connection) -> bool:  # noqa: ARG001
    """Autovacuum does it."""
    return False


tidy = merge


def optimize(connection: Connection) -> None:
    """Autovacuum does it."""


def check_structure(connection: Connection) -> None:
    """The server looks after its own b-trees; `amcheck` proves them."""


def matches(
    connection: Connection, node: Node, *, lowest: int = 0, highest: int = MAX_ID, limit: int, oldest: bool = False
) -> list[int]:
    """The ids of messages that meet a node, newest (highest) first."""
    asked = (*question(node), lowest, highest, min(limit, _MAX_INTEGER), oldest)
    return [row[0] for row in rows(connection, _MATCHES, asked)]


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
    few = _few_sessions(connection, conditions)
    if few is not None:
        return _matches_of(connection, node, conditions, few, lowest, highest, limit)
    found: list[int] = []
    for some in _filtered(connection, node, conditions, lowest, highest):
        found += [message_id for message_id, _ in some]
        if len(found) >= limit:
            break
    return found[:limit]


def dated_matches(
    connection: Connection, node: Node, conditions: Sequence[ColumnElement[bool]], *, lowest: int, highest: int
) -> list[tuple[int, int]]:
    """All messages of a span that meet a node and conditions: (id, created_at)."""
    return [hit for some in _filtered(connection, node, conditions, lowest, highest) for hit in some]


def _filtered(
    connection: Connection, node: Node, conditions: Sequence[ColumnElement[bool]], lowest: int, highest: int
) -> Iterator[list[tuple[int, int]]]:
    """The messages (id, created_at) that meet a node and conditions, newest first, from chunks of hits that grow."""
    asked, size = question(node), _FIRST_CHUNK
    while lowest <= highest:
        hits = select(func.hermes_matches(*_typed(asked), lowest, highest, size, False).label("id")).cte("hits")
        kept = (
            select(messages.c.id, messages.c.created_at)
            .select_from(hits)
            .join(messages, messages.c.id == hits.c.id)
            .join(sessions, sessions.c.pk == messages.c.session_pk)
            .where(*conditions)
            .order_by(messages.c.id.desc())
            .subquery()
        )
        row = connection.execute(
            select(
                select(func.count()).select_from(hits).scalar_subquery(),
                select(func.min(hits.c.id)).scalar_subquery(),
                func.array_agg(kept.c.id),
                func.array_agg(kept.c.created_at),
            ).select_from(kept)
        ).one()
        yield list(zip(row[2] or (), row[3] or (), strict=True))
        if row[0] < size:
            return
        highest, size = row[1] - 1, min(size * 4, _LAST_CHUNK)


def _few_sessions(connection: Connection, conditions: Sequence[ColumnElement[bool]]) -> list[int] | None:
    """The sessions that meet the conditions on sessions, when they are few and small; else None."""
    theirs = [each for each in conditions if _tables(each) == {"sessions"}]
    if len(theirs) < 2:  # one is in every search: no delegates
        return None
    query = select(sessions.c.pk, sessions.c.message_count).where(*theirs).limit(_FEW_SESSIONS + 1)
    found = connection.execute(query).all()
    is_few = len(found) <= _FEW_SESSIONS and sum(row[1] for row in found) <= _FEW_MESSAGES
    return [row[0] for row in found] if is_few else None


def _tables(condition: ColumnElement[bool]) -> set[str]:
    return {each.table.name for each in visitors.iterate(condition) if isinstance(each, Column)}


def _matches_of(
    connection: Connection,
    node: Node,
    conditions: Sequence[ColumnElement[bool]],
    session_pks: Sequence[int],
    lowest: int,
    highest: int,
    limit: int,
) -> list[int]:
    """As `matches_where`, by looking at the tokens of each message of some sessions."""
    _, _, steps, leaves = _typed(question(node))
    huge = select(func.hermes_huge(steps, leaves, lowest, highest))
    newest = (messages.c.id + 0).desc()  # not by walking through all messages
    query = (
        select(messages.c.id)
        .join(sessions, sessions.c.pk == messages.c.session_pk)
        .join(_index, (_index.c.store == func.hermes_store()) & (_index.c.id == messages.c.id))
        .where(
            messages.c.session_pk == func.any(literal(list(session_pks), ARRAY(BigInteger))),
            messages.c.id.between(lowest, highest),
            _index.c.part.in_((0, 1)),
            func.hermes_meets(_index.c.word_tokens, _index.c.gram_tokens, steps) & (_index.c.part == 0)
            | _index.c.id.in_(huge),
            *conditions,
        )
        .order_by(newest)
        .limit(limit)
    )
    return list(connection.execute(query).scalars())


def _typed(asked: Question) -> tuple[Any, ...]:
    steps, leaves = (literal(each, ARRAY(Text)) for each in (asked.steps, asked.leaves))
    return literal(asked.query, Text), asked.by_lexemes, steps, leaves


def spelled_out(connection: Connection, start: str) -> None:  # noqa: ARG001
    """GIN walks from a word to the next by itself, so nobody has to spell them out."""
    return


def lengths(connection: Connection, ids: Iterable[int]) -> dict[int, int]:
    """How many words each message has."""
    asked = list(ids)
    found: dict[int, int] = dict(rows(connection, _LENGTHS, (0, asked)))
    if huge := [message_id for message_id in asked if message_id not in found]:
        found.update(rows(connection, _LENGTHS, (1, huge)))
    return found


def totals(connection: Connection) -> Totals:
    """How much the index holds."""
    return Totals(*rows(connection, _TOTALS)[0])


def entries_without_message(connection: Connection) -> list[int]:
    """The ids of index entries whose message is not there."""
    return [row[0] for row in rows(connection, _STRANGERS)]


def is_found(connection: Connection, document: Document) -> bool:
    """Whether the index holds of a message what the message says."""
    words, grams = as_stored(document.words.split()), as_stored(document.grams.split())
    expected = [(" ".join(some), " ".join(others)) for some, others in stretches(words, grams)]
    return [tuple(row) for row in rows(connection, _TOKENS, (document.id, document.id))] == expected


def token_counts(connection: Connection, first: int, last: int) -> dict[int, tuple[int, int]]:
    """The ids between two that the index has, with how many words and grams it says they have."""
    return {row[0]: (row[1], row[2]) for row in rows(connection, _COUNTS, (first, last))}


def store_number(connection: Connection) -> int:
    """The number of the store that the connection has entered."""
    known = connection.info.get("hermes_store")
    if known is None:
        known = connection.info["hermes_store"] = int(connection.execute(select(func.hermes_store())).scalar_one())
    return int(known)
