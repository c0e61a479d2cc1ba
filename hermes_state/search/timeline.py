"""The newest or oldest hits, by the time a message was said; ids follow the order of commits, which an import breaks.

The zones tell which stretch of ids can hold newer messages than those found already, so a common word costs one or two
zones and not its whole list. The result is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from hermes_state.engine import fts
from hermes_state.index_zones import all_zones
from hermes_state.schema import messages, sessions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from hermes_state.index_zones import Zone
    from hermes_state.search.candidates import Source
    from hermes_state.search.ranking import Corpus
    from hermes_state.search.scope import Scope
    from hermes_state.text.query import Node

# Up to so many hits are simply fetched and sorted: 1.5 ms.
FEW_HITS = 1_000
# Ids bound at once, below SQLite's limit of parameters.
_CHUNK = 500


class Dated(NamedTuple):
    """A hit and when it was said, in microseconds."""

    id: int
    created_at: int


def by_time(corpus: Corpus, source: Source, scope: Scope, need: int, oldest: bool, node: Node) -> list[Dated]:
    """The first `need` hits in order of time, ties by id in the same direction.

    Args:
        source: Hits of the whole scope, those that are not indexed among them.
    """
    connection = corpus.connection
    ids = source.matches(node, limit=FEW_HITS)
    if len(ids) < FEW_HITS:
        return _sorted(_dates(connection, scope, ids), oldest)[:need]
    unindexed = [message_id for message_id in ids if message_id > corpus.above]
    found = _dates(connection, scope, unindexed)
    zones = [z for z in all_zones(connection) if z.last_id >= scope.lowest and z.first_id <= scope.highest]
    asked = source.spelled_out(node)
    for zone in sorted(zones, key=lambda each: _edge(each, oldest)):
        if len(found) >= need and _is_beyond(zone, found[need - 1], oldest):
            break
        low, high = max(zone.first_id, scope.lowest), min(zone.last_id, scope.highest)
        hits = fts.tokens_in(connection).dated_matches(connection, asked, scope.conditions, lowest=low, highest=high)
        found = _sorted([*found, *(Dated(*hit) for hit in hits)], oldest)[: max(need, 1)]
    return found[:need]


def _edge(zone: Zone, oldest: bool) -> tuple[int, int]:
    """Sorts zones so that the one with the first possible hit comes first."""
    return (zone.min_created_at, zone.first_id) if oldest else (-zone.max_created_at, -zone.first_id)


def _is_beyond(zone: Zone, last: Dated, oldest: bool) -> bool:
    """Whether nothing in this zone, and so in none after it, comes before a hit. Equal times are decided by id."""
    return zone.min_created_at > last.created_at if oldest else zone.max_created_at < last.created_at


def _sorted(found: Iterable[Dated], oldest: bool) -> list[Dated]:
    return sorted(found, key=lambda each: (each.created_at, each.id), reverse=not oldest)


def _dates(connection: Connection, scope: Scope, ids: Sequence[int]) -> list[Dated]:
    query = select(messages.c.id, messages.c.created_at).join(sessions).where(*scope.conditions)
    return [
        Dated(*row)
        for start in range(0, len(ids), _CHUNK)
        for row in connection.execute(query.where(messages.c.id.in_(ids[start : start + _CHUNK])))
    ]


def everything(
    connection: Connection, source: Source, excluded: Node | None, scope: Scope, *, need: int, oldest: bool
) -> list[Dated]:
    """The first `need` messages of the scope in order of time, without those that meet `excluded`."""
    m = messages.c
    order = (m.created_at, m.id) if oldest else (m.created_at.desc(), m.id.desc())
    query = select(m.id, m.created_at).join(sessions).where(*scope.conditions).order_by(*order)
    if excluded is None:
        return [Dated(*row) for row in connection.execute(query.limit(need))]
    dropped = set(source.matches(excluded, limit=fts.MAX_ID))
    found: list[Dated] = []
    for row in connection.execute(query.execution_options(yield_per=_CHUNK)):
        if row[0] not in dropped:
            found.append(Dated(*row))
        if len(found) >= need:
            break
    return found
