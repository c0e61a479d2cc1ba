"""The full-text index in SQLite: one contentless FTS5 table of segmented text, `rowid` = message id.

FTS5 does three things here: it finds which messages meet a node, newest first; it knows how long each is; and it
keeps that up to date in small steps. It never ranks: `bm25()` scores every match of a common word, and its first call
walks the whole list of every phrase, so its cost grows with the store. Ranking is `hermes_state.search.rank`.

Contentless tables of SQLite 3.40 take rows out with the 'delete' command only, which needs the very text that went in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import column, select, table

from hermes_state.engine.beginnings import beginnings
from hermes_state.engine.fts import MAX_ID, Document, Totals
from hermes_state.engine.lookups import rows
from hermes_state.engine.match import match_expression
from hermes_state.schema import messages, sessions
from hermes_state.text import FTS5_TOKENIZE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from hermes_state.engine.beginnings import Beginning
    from hermes_state.text.query import Node

# In a smaller index FTS5 merges the lists of all words with a prefix sooner than it says which words these are. More
# letters than so many are mostly few messages, and worth that only in an index that is large.
SPELL_OUT_FROM, SPELL_OUT_ALL_FROM = 10_000, 150_000
SHORT_PREFIX = 4
# Pages of the index merged by one `merge`: some 10 ms of CPU under the write lock.
MERGE_PAGES = 128
# From so many segments on all are made one, when nobody waits for it: a word is looked up in each. Only when those
# besides the largest are half as large as that, so that a message is rewritten by it three times at most, however the
# store grows; and up to so many pages (160,000 messages), since the last piece of a merge takes the entries of the old
# segments away, 1 µs for each page of them.
_SCATTERED_FROM, _WHOLE_UP_TO_PAGES = 4, 20_000
# FTS5 would merge by itself inside some insert, as much as it finds, under the write lock. It is told not to: the
# indexer merges in bounded steps. 0 is off; 'crisismerge' can't be off, so it is put beyond reach.
_AUTOMERGE, _CRISISMERGE = 0, 1_000
# Bytes gathered in memory before they become a segment: FTS5's own default, and more than anybody inserts at once.
_GATHER, _GATHER_ALL = 2**20, 2**30

_CREATE = "CREATE VIRTUAL TABLE message_index USING fts5(words, grams, content='', " + FTS5_TOKENIZE + ")"
_EXISTS = "SELECT count(*) FROM sqlite_master WHERE name = 'message_index'"
_COMMAND = "INSERT INTO message_index (message_index, rank) VALUES (?, ?)"
_PLAIN_COMMAND = "INSERT INTO message_index (message_index) VALUES (?)"
_INSERT = "INSERT INTO message_index (rowid, words, grams) VALUES (?, ?, ?)"
_DELETE = "INSERT INTO message_index (message_index, rowid, words, grams) VALUES ('delete', ?, ?, ?)"
# `+ 0`: a bare parameter as a limit is looked at when a statement is planned, so that each call would plan it anew.
_OLDEST = (
    "SELECT rowid FROM message_index WHERE message_index MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ? + 0"
)
_NEWEST = _OLDEST.replace("ORDER BY rowid", "ORDER BY rowid DESC")
_LENGTHS = "SELECT d.id, d.sz FROM json_each(?) AS wanted JOIN message_index_docsize AS d ON d.id = wanted.value"
# https://www.sqlite.org/fts5.html#the_data_table_idx_and_data_: record 1 holds the row count and each column's tokens.
_AVERAGES = "SELECT block FROM message_index_data WHERE id = 1"
# How many pages each segment has. That table holds the first word of each page, and the page with a flag in its lowest
# bit.
_SEGMENT_PAGES = """
WITH RECURSIVE segments (id) AS (
  SELECT min(segid) FROM message_index_idx
  UNION ALL SELECT (SELECT min(segid) FROM message_index_idx WHERE segid > id) FROM segments WHERE id IS NOT NULL)
SELECT (SELECT pgno / 2 FROM message_index_idx WHERE segid = id ORDER BY term DESC LIMIT 1)
       - (SELECT pgno / 2 FROM message_index_idx WHERE segid = id ORDER BY term LIMIT 1) + 1
FROM segments WHERE id IS NOT NULL
"""
_INDEXED_IDS = "SELECT id, sz FROM message_index_docsize WHERE id BETWEEN ? AND ? ORDER BY id"

_STRANGERS = (
    "SELECT d.id FROM message_index_docsize AS d LEFT JOIN messages AS m ON m.id = d.id WHERE m.id IS NULL ORDER BY 1"
)
_HOLDS = "SELECT count(*) FROM message_index WHERE message_index MATCH ? AND rowid = ?"
# Tokens of each column of an entry that are looked for, in their order, from its start.
_PROVED_TOKENS = 40

_index = table("message_index", column("rowid"), column("message_index"))
_rowid = _index.c.rowid
# Not `rowid`: that could be looked up in the index, message by message, and a look-up by id costs FTS5 0.14 ms.
_rowid_for_join = _rowid + 0


def is_available(connection: Connection) -> bool:
    """Whether this SQLite has FTS5."""
    row = connection.exec_driver_sql("SELECT sqlite_compileoption_used('ENABLE_FTS5')").fetchone()
    return bool(row and row[0])


def exists(connection: Connection) -> bool:
    """Whether the store has an index, sound or not."""
    return bool(connection.exec_driver_sql(_EXISTS).scalar())


def create(connection: Connection) -> None:
    """Make an empty index."""
    connection.exec_driver_sql(_CREATE)
    for name, value in (("automerge", _AUTOMERGE), ("crisismerge", _CRISISMERGE)):
        connection.exec_driver_sql(_COMMAND, (name, value))


def drop(connection: Connection) -> None:
    """Take the index away."""
    connection.exec_driver_sql("DROP TABLE IF EXISTS message_index")


def forsake(connection: Connection) -> None:
    """Take away an index so damaged that it can't be dropped: SQLite has to read a table's pages to free them.

    Its entries leave the schema and its pages stay unused in the file until the next VACUUM.
    """
    connection.exec_driver_sql("PRAGMA writable_schema=ON")
    try:
        connection.exec_driver_sql("DELETE FROM sqlite_master WHERE name GLOB 'message_index*'")
        version = connection.exec_driver_sql("PRAGMA schema_version").scalar_one()
        # A pragma takes no parameters; the value is an integer that SQLite gave.
        connection.exec_driver_sql(f"PRAGMA schema_version={int(version) + 1}")
    finally:
        connection.exec_driver_sql("PRAGMA writable_schema=RESET")


def insert(connection: Connection, documents: Sequence[Document]) -> None:
    """Add messages that the index does not have, in the order of their ids."""
    if documents:
        connection.exec_driver_sql(_INSERT, list(documents))


def gather(connection: Connection, *, much: bool) -> None:
    """Whether FTS5 gathers what is inserted until the transaction ends, or a megabyte of it, before it is written."""
    connection.exec_driver_sql(_COMMAND, ("hashsize", _GATHER_ALL if much else _GATHER))


def delete(connection: Connection, documents: Sequence[Document]) -> None:
    """Take messages out; each must be just as it was put in."""
    if documents:
        connection.exec_driver_sql(_DELETE, list(documents))


def merge(connection: Connection, pages: int = MERGE_PAGES) -> bool:
    """Merge some of the index's segments, so that a search has few to look into. False when there is nothing to do."""
    before = connection.exec_driver_sql("SELECT total_changes()").scalar_one()
    connection.exec_driver_sql(_COMMAND, ("merge", pages))
    # One change is the command itself: https://www.sqlite.org/fts5.html#the_merge_command
    return bool(connection.exec_driver_sql("SELECT total_changes()").scalar_one() - before >= 2)


def tidy(connection: Connection) -> bool:
    """Merge as `merge` does, and further than a store at work needs it. False when there is nothing to do."""
    # A merge of all that was begun is gone on with by `merge`.
    return merge(connection, MERGE_PAGES) or (_is_scattered(connection) and merge(connection, -MERGE_PAGES))


def _is_scattered(connection: Connection) -> bool:
    """Whether so much of the index is in small segments that making one of all is worth it."""
    pages: list[int] = [row[0] for row in rows(connection, _SEGMENT_PAGES)]
    if len(pages) < _SCATTERED_FROM or sum(pages) > _WHOLE_UP_TO_PAGES:
        return False
    return 2 * (sum(pages) - max(pages)) >= max(pages)


def optimize(connection: Connection) -> None:
    """Merge everything into one segment; what was deleted leaves the index for good. Takes long on a large one."""
    connection.exec_driver_sql(_PLAIN_COMMAND, ("optimize",))


def check_structure(connection: Connection) -> None:
    """Let FTS5 check its own b-trees, in a write transaction; an unsound one is an error of SQLite, `malformed`."""
    connection.exec_driver_sql(_PLAIN_COMMAND, ("integrity-check",))


def matches(
    connection: Connection, node: Node, *, lowest: int = 0, highest: int = MAX_ID, limit: int, oldest: bool = False
) -> list[int]:
    """The ids of messages that meet a node, newest (highest) first; costs no more than what is returned."""
    statement = _OLDEST if oldest else _NEWEST
    return [row[0] for row in rows(connection, statement, (match_expression(node), lowest, highest, limit))]


def matches_where(
    connection: Connection,
    node: Node,
    conditions: Sequence[ColumnElement[bool]],
    *,
    lowest: int = 0,
    highest: int = MAX_ID,
    limit: int,
) -> list[int]:
    """As `matches`, of messages that also meet conditions on `messages` and `sessions`: every match is looked at."""
    query = _joined(select(_rowid), node, conditions, lowest, highest)
    return list(connection.execute(query.order_by(_rowid.desc()).limit(limit)).scalars())


def dated_matches(
    connection: Connection, node: Node, conditions: Sequence[ColumnElement[bool]], *, lowest: int, highest: int
) -> list[tuple[int, int]]:
    """All messages of a span that meet a node and meet conditions: (id, created_at)."""
    query = _joined(select(_rowid, messages.c.created_at), node, conditions, lowest, highest)
    return [(row[0], row[1]) for row in connection.execute(query)]


def _joined(
    query: Select[Any], node: Node, conditions: Sequence[ColumnElement[bool]], lowest: int, highest: int
) -> Select[Any]:
    return (
        query.select_from(_index)
        .join(messages, messages.c.id == _rowid_for_join)
        .join(sessions, sessions.c.pk == messages.c.session_pk)
        .where(_index.c.message_index.op("MATCH")(match_expression(node)), _rowid.between(lowest, highest), *conditions)
    )


def spelled_out(connection: Connection, start: str) -> list[Beginning] | None:
    """Words and longer prefixes that together are all words with this beginning, at less cost; None: there are none."""
    documents = totals(connection).documents
    is_worth_it = documents >= (SPELL_OUT_FROM if len(start) <= SHORT_PREFIX else SPELL_OUT_ALL_FROM)
    return beginnings(connection, start, documents) if is_worth_it else None


def lengths(connection: Connection, ids: Iterable[int]) -> dict[int, int]:
    """How many tokens the words column of each message has."""
    counts: dict[int, int] = {}
    for message_id, blob in rows(connection, _LENGTHS, (repr(list(ids)),)):
        first = blob[0]  # one byte for up to 127 tokens, two for up to 16,383
        if first < 0x80:
            counts[message_id] = first
        elif blob[1] < 0x80:
            counts[message_id] = (first & 0x7F) << 7 | blob[1]
        else:
            counts[message_id] = _varint(blob, 0)[0]
    return counts


def totals(connection: Connection) -> Totals:
    """How many messages and tokens the index holds."""
    found = rows(connection, _AVERAGES)
    if not found or not found[0][0]:
        return Totals(0, 0)
    documents, place = _varint(found[0][0], 0)
    return Totals(documents, _varint(found[0][0], place)[0])


def entries_without_message(connection: Connection) -> list[int]:
    """The ids of index entries whose message is not there."""
    return list(connection.exec_driver_sql(_STRANGERS).scalars())


def is_found(connection: Connection, document: Document) -> bool:
    """Whether the index finds a message by what it says: the start of each column, word for word, in order."""
    phrases = []
    for stream in ("words", "grams"):
        tokens = getattr(document, stream).split()[:_PROVED_TOKENS]
        if tokens:
            quoted = " ".join(tokens).replace('"', '""')
            phrases.append(f'{stream} : "{quoted}"')
    return bool(connection.exec_driver_sql(_HOLDS, (" AND ".join(phrases), document.id)).scalar())


def token_counts(connection: Connection, first: int, last: int) -> dict[int, tuple[int, int]]:
    """The ids between two that the index has, with how many words and grams it says they have."""
    counts: dict[int, tuple[int, int]] = {}
    for message_id, blob in rows(connection, _INDEXED_IDS, (first, last)):
        words, place = _varint(blob, 0)
        counts[message_id] = words, _varint(blob, place)[0]
    return counts


def _varint(blob: bytes, place: int) -> tuple[int, int]:
    """SQLite's variable-length integer at a place of a blob, and the place after it. Counts fit in 8 bytes."""
    value = 0
    while True:
        byte = blob[place]
        place += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place
