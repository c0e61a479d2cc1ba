"""Zones say of each stretch of ids what times are in it, in whatever batches the messages came."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hermes_state import SessionDB, index_zones

if TYPE_CHECKING:
    from pathlib import Path

# (id, created_at): gaps, a stretch without any message, and times against the order of ids.
TIMES = [(n, 1_000 - n * 7 % 90) for n in range(3, 40, 2)] + [(n, n * 31 % 50) for n in range(95, 130)]


@pytest.mark.parametrize("size", [1, 2, 7, 10, 1_000])
def test_zones_do_not_depend_on_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """One by one, or all at once: each zone begins with the first message behind the last zone."""
    monkeypatch.setattr(index_zones, "ZONE_IDS", 10)
    with SessionDB.open(tmp_path / "store.db") as db, db.engine.write() as connection:
        index_zones.clear(connection)
        for place in range(0, len(TIMES), size):
            index_zones.extend(connection, TIMES[place : place + size])
        zones = index_zones.all_zones(connection)
    assert [(zone.first_id, zone.last_id) for zone in zones] == [
        (3, 11), (13, 21), (23, 31), (33, 39), (95, 104), (105, 114), (115, 124), (125, 129),
    ]  # fmt: skip
    for zone in zones:
        created = [time for number, time in TIMES if zone.first_id <= number <= zone.last_id]
        assert (zone.min_created_at, zone.max_created_at) == (min(created), max(created))
