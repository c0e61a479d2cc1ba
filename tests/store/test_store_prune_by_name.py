"""A prune by something that only the newest segment of a conversation has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.listing import SessionFilter

if TYPE_CHECKING:
    from hermes_state.store import SessionDB


def test_pruning_by_tag_leaves_no_earlier_segment_behind(db: SessionDB) -> None:
    """What a list shows once goes as a whole; its earlier segments don't come back as conversations of their own."""
    first = db.sessions.create(source="cli")
    db.messages.append(first.id, role="user", content="the beginning")
    tip = db.lineage.rotate(first.id, [{"role": "user", "content": "summary"}]).child
    db.sessions.tag(tip.id, "scratch")
    db.sessions.end(tip.id, "done")

    planned = db.sessions.prune(SessionFilter(tag="scratch"), dry_run=True)
    done = db.sessions.prune(SessionFilter(tag="scratch"))

    assert set(planned.deleted) == set(done.deleted) == {first.id, tip.id}
    assert db.sessions.list(limit=None) == []
    assert db.messages.count() == 0
