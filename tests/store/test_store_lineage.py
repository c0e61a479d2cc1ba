"""Conversations as wholes: rotation, resuming, branches, delegates, and the lease that guards a compression."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from hermes_state.errors import InvalidValue, LeaseHeld, SessionNotFound
from hermes_state.leases import compression_lease
from hermes_state.records import MessageState, Relation

if TYPE_CHECKING:
    from hermes_state.records import Rotation
    from hermes_state.store import SessionDB

SUMMARY = [{"role": "user", "content": "summary"}]


def start(db: SessionDB, name: str = "s1") -> str:
    db.sessions.create(name, source="cli", title="plan", cwd="/w", user_id="u", system_prompt="be kind")
    db.messages.append_many(name, [{"role": "user", "content": f"{name} {n}"} for n in range(3)])
    return name


def test_resuming_any_ancestor_gives_the_tip(db: SessionDB) -> None:
    """B059: after two compressions the first id, its title and a prefix all lead to the newest segment."""
    start(db)
    second = db.lineage.rotate("s1", SUMMARY).child
    third = db.lineage.rotate(second.id, SUMMARY).child
    for ref in ("s1", second.id, third.id, third.id[:-2], "plan", "plan #2"):
        assert db.sessions.resume(ref).id == third.id
    assert [s.id for s in db.lineage.segments(second.id)] == ["s1", second.id, third.id]
    assert [s.id for s in db.sessions.list()] == [third.id]
    assert db.sessions.get("s1").conversation_id == third.id


def test_an_empty_tip_is_still_the_tip(db: SessionDB) -> None:
    """B059: a child without messages, made by a runtime that writes the transcript later, is where it goes on."""
    start(db)
    db.sessions.end("s1", "compression")
    child = db.sessions.create(source="cli", parent_id="s1")
    assert db.sessions.resume("s1").id == child.id
    assert [m.content for m in db.messages.history(child.id)] == ["s1 0", "s1 1", "s1 2"]


def test_a_child_takes_over_where_it_came_from(db: SessionDB) -> None:
    """Origin, model and prompt follow; the title gets the next number; counters start anew."""
    start(db)
    done = db.lineage.rotate("s1", SUMMARY)
    assert (done.parent.end_reason, done.created) == ("compression", True)
    assert (done.child.cwd, done.child.user_id, done.child.source) == ("/w", "u", "cli")
    assert (done.child.title, done.child.parent_id, done.child.relation) == ("plan #2", "s1", Relation.COMPRESSION)
    assert db.sessions.system_prompt(done.child.id) == "be kind"
    assert (done.child.message_count, done.parent.message_count) == (1, 3)


def test_rotation_happens_once(db: SessionDB) -> None:
    """However many try at once, one child is made and all get it."""
    start(db)
    done: list[Rotation] = []
    threads = [threading.Thread(target=lambda: done.append(db.lineage.rotate("s1", SUMMARY))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({rotation.child.id for rotation in done}) == 1
    assert [rotation.created for rotation in done].count(True) == 1
    assert db.messages.count(done[0].child.id) == 1


def test_a_live_sibling_is_preferred_to_a_closed_one(db: SessionDB) -> None:
    """B062: neither a closed continuation, nor a delegate, nor a branch, nor a reset is where the parent goes on."""
    start(db)
    db.sessions.end("s1", "compression")
    db.sessions.create("s2", source="cli", parent_id="s1", relation="compression")
    db.sessions.end("s2", "session_reset")
    db.sessions.create("s3", source="cli", parent_id="s1", relation="compression")
    db.sessions.create("s4", source="subagent", parent_id="s1")
    db.sessions.create("s5", source="cli", parent_id="s1", relation="branch")
    db.sessions.create("s6", source="cli", parent_id="s1", relation="reset")
    assert db.sessions.resume("s1").id == "s3"
    assert {s.id for s in db.sessions.list()} == {"s3", "s5", "s6"}
    assert {s.id for s in db.lineage.children("s1")} == {"s2", "s3", "s4", "s5", "s6"}


def test_of_two_live_continuations_the_last_active_wins(db: SessionDB) -> None:
    """B062: deterministic, and it follows what is written when the choice is made anew."""
    start(db)
    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    for name, minute in (("s2", 5), ("s3", 1)):
        db.sessions.create(
            name, source="cli", parent_id="s1", relation="compression", started_at=now + dt.timedelta(minutes=minute)
        )
    assert db.sessions.resume("s1").id == "s2"
    assert len(db.sessions.list()) == 1


def test_segments_follow_each_other_whatever_the_clock_said(db: SessionDB) -> None:
    """A clock that was set back, or a segment whose parent was named late, changes nothing in the order."""
    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    for n, name in enumerate("cba"):
        db.sessions.create(name, source="cli", started_at=now + dt.timedelta(days=n))
        db.messages.append(name, role="user", content=name)
    for name, parent in (("c", "b"), ("b", "a")):
        db.sessions.create(name, source="cli", parent_id=parent, relation="compression")
    assert [s.id for s in db.lineage.segments("c")] == ["a", "b", "c"]
    assert [m.content for m in db.messages.history("b")] == ["a", "b", "c"]
    assert [s.id for s in db.sessions.list()] == ["c"]


def test_a_failed_rotation_changes_nothing(db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    """B061: an error between ending the parent and filling the child leaves the parent live and writable."""
    start(db)

    def crash(*_: object) -> None:
        raise RuntimeError("power cut")

    monkeypatch.setattr("hermes_state.lineage.edits.append_all", crash)
    with pytest.raises(RuntimeError):
        db.lineage.rotate("s1", SUMMARY)
    monkeypatch.undo()
    assert db.sessions.get("s1").ended_at is None
    assert db.lineage.children("s1") == []
    db.messages.append("s1", role="user", content="on")


def test_a_branch_is_a_copy_that_goes_its_own_way(db: SessionDB) -> None:
    """Every active message with every field, up to the one named; both go on independently, and both are listed."""
    start(db)
    calls = [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]
    middle = db.messages.append("s1", role="assistant", tool_calls=calls, reasoning={"a": 1}, platform_message_id="p")
    db.messages.append("s1", role="user", content="after")
    db.messages.append("s1", role="user", content="taken back")
    db.messages.rewind("s1", last=1)
    whole, part = db.lineage.branch("s1"), db.lineage.branch("s1", up_to_message_id=middle.id, title="side")
    assert [m.content for m in db.messages.list(whole.id)] == ["s1 0", "s1 1", "s1 2", None, "after"]
    copied = db.messages.list(part.id)[-1]
    assert (copied.tool_calls, copied.reasoning, copied.platform_message_id) == (calls, {"a": 1}, "p")
    assert copied.position == 3
    assert copied.created_at == middle.created_at
    assert (whole.title, part.title, part.relation, part.message_count) == ("plan #2", "side", Relation.BRANCH, 4)
    db.messages.append(part.id, role="user", content="own way")
    assert db.messages.count("s1") == 5
    assert {s.id for s in db.sessions.list()} == {"s1", whole.id, part.id}


def test_a_delegate_is_hidden_unless_asked_for(db: SessionDB) -> None:
    """B010: its own title or none, its parent named, in the list only on request, compressed or not."""
    from hermes_state.listing import SessionFilter

    start(db)
    delegate = db.lineage.delegate("s1", model="small")
    db.messages.append(delegate.id, role="user", content="work")
    child = db.lineage.rotate(delegate.id, SUMMARY).child
    assert (delegate.source, delegate.model, delegate.title, delegate.parent_id) == ("subagent", "small", None, "s1")
    assert child.delegated
    assert [s.id for s in db.sessions.list()] == ["s1"]
    shown = db.sessions.list(SessionFilter(include_delegates=True))
    assert {s.id for s in shown} == {"s1", child.id}
    every = db.sessions.list(SessionFilter(every_segment=True))
    assert {s.id for s in every} == {"s1", delegate.id, child.id}


def test_usage_adds_up_over_the_segments(db: SessionDB) -> None:
    """B058: running totals and deltas give one sum; reasoning is part of output; each task is booked once."""
    start(db)
    for total in (700, 1900, 4000):
        db.usage.record("s1", model="m", input_tokens=total, absolute=True)
    threads = [threading.Thread(target=lambda: db.usage.record("s1", model="m", input_tokens=10)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    db.usage.record("s1", model="m", task="compression", input_tokens=20)
    child = db.lineage.rotate("s1", SUMMARY).child
    db.usage.record(child.id, model="m", input_tokens=100, output_tokens=50, reasoning_tokens=30, actual_cost_usd=0.5)
    assert [(u.task, u.input_tokens) for u in db.usage.of_session("s1")] == [("", 4030), ("compression", 20)]
    whole = db.usage.of_conversation(child.id)
    assert (whole.input_tokens, whole.output_tokens, whole.total_tokens) == (4150, 50, 4200)
    assert db.usage.of_session(child.id)[0].total_tokens == 150
    assert whole.actual_cost_usd == 0.5
    assert whole.estimated_cost_usd is None
    assert [(u.model, u.task) for u in db.usage.by_model()] == [("m", ""), ("m", "compression")]
    with pytest.raises(InvalidValue):
        db.usage.record("s1", input_tokens=-1)
    with pytest.raises(SessionNotFound):
        db.usage.record("gone", input_tokens=1)


def test_tokens_are_counted_beyond_32_bits(db: SessionDB) -> None:
    for session in ("s1", "s2"):
        db.sessions.create(session, source="cli")
        db.usage.record(session, model="m", cache_read_tokens=3_000_000_000)
    found = db.usage.by_model()[0].cache_read_tokens
    assert (found, type(found)) == (6_000_000_000, int)


# --- leases -----------------------------------------------------------------------------------------------------


def test_a_lease_has_one_owner(db: SessionDB) -> None:
    """Taken, prolonged by its owner, refused to others with the owner's name, free after release."""
    db.leases.acquire("job", "a")
    db.leases.acquire("job", "a")
    with pytest.raises(LeaseHeld) as refused:
        db.leases.acquire("job", "b")
    assert refused.value.owner == "a"
    assert refused.value.retryable
    assert not db.leases.release("job", "b")
    assert not db.leases.heartbeat("job", "b")
    assert db.leases.release("job", "a")
    assert db.leases.holder("job") is None
    with db.leases.hold("job", "b") as lease:
        assert lease.owner == "b"
    assert db.leases.holder("job") is None
    for name, owner, ttl in (("", "a", 1.0), ("j", "", 1.0), ("j", "a", 0.0)):
        with pytest.raises(InvalidValue):
            db.leases.acquire(name, owner, ttl_s=ttl)


def test_a_lease_expires_without_a_heartbeat(db: SessionDB) -> None:
    """After its time another owner gets it, and the first learns that it lost it."""
    db.leases.acquire("job", "a", ttl_s=60.0)
    assert db.leases.heartbeat("job", "a", ttl_s=0.05)
    time.sleep(0.06)
    assert db.leases.acquire("job", "b").owner == "b"
    assert not db.leases.heartbeat("job", "a")


def test_a_dead_owner_is_noticed_at_once(db: SessionDB, store_at: str) -> None:
    """A process of this machine that was killed holds nothing, however long its lease had to go."""
    code = (
        "import os, sys; from hermes_state.store import SessionDB\n"
        f"SessionDB.open({store_at!r}).leases.acquire('job', 'dead', ttl_s=3600); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert db.leases.holder("job") is None
    assert db.leases.acquire("job", "b").owner == "b"


def test_a_compression_in_progress_keeps_others_out(db: SessionDB) -> None:
    """Only the lease's owner rotates; a sealed session is not reopened while its summary is being made."""
    start(db)
    lease = compression_lease("s1")
    db.leases.acquire(lease, "worker")
    with pytest.raises(LeaseHeld):
        db.lineage.rotate("s1", SUMMARY, owner="other")
    db.sessions.end("s1", "compression")
    with pytest.raises(LeaseHeld):
        db.messages.append("s1", role="user", content="x")
    assert db.lineage.rotate("s1", SUMMARY, owner="worker").created


def test_a_transcript_after_a_crash_is_whole_for_a_provider(db: SessionDB) -> None:
    """B065: a call without a result is told as interrupted, a result without its call becomes a note; order is kept."""
    db.sessions.create("s", source="cli")
    calls = [{"id": t, "type": "function", "function": {"name": "web", "arguments": "{}"}} for t in ("t1", "t2")]
    db.messages.append("s", role="user", content="go")
    db.messages.append("s", role="assistant", tool_calls=calls)
    db.messages.append("s", role="tool", tool_call_id="t1", content="one")
    db.messages.append("s", role="user", content="and?")
    db.messages.append("s", role="tool", tool_call_id="zz", content="stray")
    shown = db.messages.replay("s")
    assert [m["role"] for m in shown] == ["user", "assistant", "tool", "tool", "user", "user"]
    assert [m.get("tool_call_id") for m in shown[2:4]] == ["t1", "t2"]
    assert "interrupted" in shown[3]["content"]
    assert "stray" in shown[5]["content"]


def test_states_are_stored_as_numbers_that_never_change() -> None:
    """Files of today must mean the same tomorrow."""
    assert [(s.name, int(s)) for s in MessageState] == [("ACTIVE", 0), ("COMPACTED", 1), ("REWOUND", 2)]
