"""Counting with a filter that takes everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.listing import SessionFilter

if TYPE_CHECKING:
    from hermes_state.store import SessionDB


def test_a_filter_without_conditions_counts_every_session(db: SessionDB) -> None:
    """Every segment, archived or not: no condition is left, which SQLAlchemy warns about when they are joined."""
    first = db.sessions.create(source="cli")
    db.lineage.rotate(first.id, [{"role": "user", "content": "summary"}])
    db.sessions.archive(first.id)
    assert db.sessions.count(SessionFilter(archived=None, every_segment=True)) == 2
