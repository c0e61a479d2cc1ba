"""The full-text index holds what the messages say, as far as it says it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from hermes_state import index_zones, memory_index
from hermes_state.check.report import Kind
from hermes_state.check.transcripts import in_pieces
from hermes_state.engine import fts
from hermes_state.index import Mark, document, mark
from hermes_state.schema import index_zones as zones_table
from hermes_state.schema import messages, store_state

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sqlalchemy import Connection

    from hermes_state.check.report import Collector

# One entry of so many is also searched for by what the message says, which takes some milliseconds.
_SEARCHED, _SEARCHED_OF_ALL = 20, 200
_m = messages.c
_COLUMNS = (_m.id, _m.content, _m.content_format, _m.tool_calls)


def index(collector: Collector) -> None:
    """Entries are derived anew from messages; a store without an index, or with one to be rebuilt, has no findings."""
    with collector.snapshot() as connection:
        if connection.execute(select(store_state.c.id)).scalar() is None:
            return  # a finding of its own
        stand = mark(connection)
        if not stand.is_usable or not fts.is_available(connection):
            return
        if not fts.tokens_in(connection).exists(connection):
            collector.add(Kind.INDEX, "message_index", "the index is missing")
            return
        _zones(connection, collector, stand)
    _entries(collector)
    _strangers(collector)


def memories(collector: Collector) -> None:
    """The index of curated memories has every entry and nothing else."""
    with collector.snapshot() as connection:
        if fts.is_available(connection):
            for where, what in memory_index.differences(connection):
                collector.add(Kind.INDEX, where, what)


def _zones(connection: Connection, collector: Collector, stand: Mark) -> None:
    z = zones_table.c
    outside = select(_m.id).join(zones_table, _m.id.between(z.first_id, z.last_id))
    outside = outside.where(~_m.created_at.between(z.min_created_at, z.max_created_at))
    for message_id in connection.execute(outside).scalars():
        collector.add(Kind.INDEX, f"message {message_id}", "its time is outside of its zone's")
    previous = 0
    for zone in index_zones.all_zones(connection):
        if zone.first_id <= previous or zone.last_id < zone.first_id or zone.last_id > stand.indexed_through:
            collector.add(Kind.INDEX, f"zone {zone.first_id}", "overlaps another or goes beyond the index")
        previous = zone.last_id


def _entries(collector: Collector) -> None:
    """Each message up to the mark has its entry, with as many words as it says."""
    for rows in in_pieces(collector, select(*_COLUMNS)):
        if rows:
            _compare(collector, rows)


def _compare(collector: Collector, rows: Sequence[Any]) -> None:
    """Compare one piece; what was deleted or rebuilt since it was read is no finding."""
    ids = [row.id for row in rows]
    derived = {row.id: document(row) for row in rows}
    with collector.snapshot() as connection:
        stand = mark(connection)
        if not stand.is_usable:
            return
        still = connection.execute(select(_m.id).where(_m.id.between(ids[0], ids[-1]))).scalars().all()
        entries = fts.tokens_in(connection).token_counts(connection, ids[0], min(ids[-1], stand.indexed_through))
        for message_id in derived.keys() & set(still):
            if message_id <= stand.indexed_through:
                searched = collector.checked["index_entries"] % (_SEARCHED_OF_ALL if collector.full else _SEARCHED) == 0
                collector.checked["index_entries"] += 1
                entry = entries.get(message_id, (0, 0))
                if what := _difference(connection, derived[message_id], entry, searched=searched):
                    collector.add(Kind.INDEX, f"message {message_id}", what)


def _difference(connection: Connection, derived: fts.Document | None, found: tuple[int, int], *, searched: bool) -> str:
    """How the index's entry differs from the one derived from the message, or ""."""
    expected = (0, 0) if derived is None else (_tokens(derived.words), _tokens(derived.grams))
    if found != expected:
        return "is not in the index" if found == (0, 0) else f"has {found} words in the index, not {expected}"
    if searched and derived is not None and not fts.tokens_in(connection).is_found(connection, derived):
        return "is not found by what it says"
    return ""


def _tokens(text: str) -> int:
    return len(text.split())


def _strangers(collector: Collector) -> None:
    """Every entry is of a message."""
    with collector.snapshot() as connection:
        for message_id in fts.tokens_in(connection).entries_without_message(connection):
            collector.add(Kind.INDEX, f"entry {message_id}", "is of no message")
        stored = connection.execute(select(func.count()).select_from(messages)).scalar_one()
        if fts.tokens_in(connection).totals(connection).documents > stored:
            collector.add(Kind.INDEX, "message_index", "counts more messages than there are")
