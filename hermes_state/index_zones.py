"""Zones: the oldest and the newest time in each stretch of message ids.

Ids follow the order in which messages were committed, but an import commits old messages late. A search by time asks
the zones which stretches can hold what it wants, and leaves the others alone. In a store filled in order of time a zone
is a stretch of time, and the newest page is found in the last zone.
"""

from __future__ import annotations

from bisect import bisect_left
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import delete, insert, select, update

from hermes_state.schema import index_zones

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

# Message ids in a zone. Fewer make a search by time more exact, more make the list of zones shorter: a million messages
# have 500 zones, read in well under a millisecond.
ZONE_IDS = 2048

_z = index_zones.c


class Zone(NamedTuple):
    """A stretch of message ids, both ends included, and the times in it in microseconds."""

    first_id: int
    last_id: int
    min_created_at: int
    max_created_at: int


def extend(connection: Connection, times: Sequence[tuple[int, int]]) -> None:
    """Take in newly indexed messages: (id, created_at), by rising id, all above those taken in before."""
    if not times:
        return
    newest = select(index_zones).order_by(_z.first_id.desc()).limit(1)
    row = connection.execute(newest).fetchone()
    fresh = list(_extended(Zone(*row) if row else None, times))
    if row and fresh[0].first_id == row[0]:
        values = fresh.pop(0)._asdict()
        connection.execute(update(index_zones).where(_z.first_id == row[0]).values(**values))
    if fresh:
        connection.execute(insert(index_zones), [each._asdict() for each in fresh])


def _extended(zone: Zone | None, times: Sequence[tuple[int, int]]) -> Iterator[Zone]:
    """A zone, with what belongs to it, and the zones behind it."""
    place = 0
    while place < len(times):
        first_id, created_at = times[place]
        if zone is None or first_id - zone.first_id >= ZONE_IDS:
            if zone is not None:
                yield zone
            zone = Zone(first_id, first_id, created_at, created_at)
        end = bisect_left(times, zone.first_id + ZONE_IDS, place, key=itemgetter(0))
        created = [created_at for _, created_at in times[place:end]]
        low, high = min(zone.min_created_at, *created), max(zone.max_created_at, *created)
        zone = Zone(zone.first_id, times[end - 1][0], low, high)
        place = end
    if zone is not None:
        yield zone


def clear(connection: Connection) -> None:
    """Forget every zone."""
    connection.execute(delete(index_zones))


def all_zones(connection: Connection) -> list[Zone]:
    """The zones by rising id."""
    return [Zone(*row) for row in connection.execute(select(index_zones).order_by(_z.first_id))]
