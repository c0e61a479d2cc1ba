"""Deleting and pruning: what goes, what stays, and how what stays goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from hermes_state.errors import Ambiguous, SessionNotFound
from hermes_state.listing import SessionFilter
from hermes_state.records import Relation

if TYPE_CHECKING:
    from hermes_state.store import SessionDB

NOW = datetime(2026, 6, 1, tzinfo=UTC)
SUMMARY = [{"role": "user", "content": "summary"}]
OLD = SessionFilter(started_before=NOW - timedelta(days=30))


def chain(db: SessionDB, *ages_in_days: int) -> list[str]:
    """A conversation in segments of these ages, the first one first; each has a message, all but the last are ended."""
    ids: list[str] = []
    for age in ages_in_days:
        parent = {"parent_id": ids[-1], "relation": "compression"} if ids else {}
        session = db.sessions.create(source="cli", started_at=NOW - timedelta(days=age), **parent)
        db.messages.append(session.id, role="user", content=f"{age} days old")
        ids.append(session.id)
    return ids


def ids_in_list(db: SessionDB) -> list[str]:
    return [session.id for session in db.sessions.list(limit=None)]


def test_pruning_old_segments_keeps_the_young_ones(db: SessionDB) -> None:
    """B044: of A(100 d) <- B(100 d) <- C(1 d) <- D(live), a prune of 30 days takes A and B; C and D go on alone."""
    a, b, c, d = chain(db, 100, 100, 1, 0)
    done = db.sessions.prune(OLD)
    assert set(done.deleted) == {a, b}
    assert done.messages == 2
    assert db.sessions.get(c).parent_id is None
    assert db.sessions.get(d).parent_id == c
    assert [m.content for m in db.messages.history(d)] == ["1 days old", "0 days old"]
    assert ids_in_list(db) == [d]
    assert db.sessions.resume(c).id == d


def test_pruning_takes_a_whole_old_conversation_at_once(db: SessionDB) -> None:
    """Every segment that passes the filter goes, not only the tip that a list shows."""
    a, b = chain(db, 100, 90)
    db.sessions.end(b, "idle")
    assert set(db.sessions.prune(OLD).deleted) == {a, b}
    assert db.messages.count() == 0


def test_a_middle_segment_leaves_the_rest_one_conversation(db: SessionDB) -> None:
    """When only B of A <- B <- C goes, C goes on from A: still one row in the list, with all that is left."""
    a, b, c = chain(db, 3, 2, 1)
    db.sessions.tag(b, "drop")
    assert db.sessions.prune(SessionFilter(tag="drop")).deleted == (b,)
    assert db.sessions.get(c).parent_id == a
    assert db.sessions.get(c).relation is Relation.COMPRESSION
    assert ids_in_list(db) == [c]
    assert [m.content for m in db.messages.history(a)] == ["3 days old", "1 days old"]


def test_deleting_what_the_list_shows_deletes_the_conversation(db: SessionDB) -> None:
    """The tip stands for all its segments."""
    ids = chain(db, 3, 2, 1)
    assert set(db.sessions.delete(ids[-1]).deleted) == set(ids)
    assert ids_in_list(db) == []
    assert db.messages.count() == 0


def test_deleting_an_earlier_segment_leaves_the_later_ones(db: SessionDB) -> None:
    """A and B of A <- B <- C go with B; C is a conversation of its own."""
    a, b, c = chain(db, 3, 2, 1)
    assert set(db.sessions.delete(b).deleted) == {a, b}
    assert ids_in_list(db) == [c]
    assert db.sessions.get(c).parent_id is None
    db.messages.append(c, role="user", content="goes on")


def test_deleting_one_of_two_continuations_keeps_the_other_in_its_place(db: SessionDB) -> None:
    """Two segments after one parent: deleting the first segment makes each a conversation, nothing is lost."""
    (a,) = chain(db, 9)
    left = db.sessions.create(source="cli", parent_id=a, relation="compression").id
    right = db.sessions.create(source="cli", parent_id=a, relation="compression").id
    db.sessions.delete(a)
    assert sorted(ids_in_list(db)) == sorted([left, right])
    assert db.sessions.resume(left).id == left
    assert db.sessions.resume(right).id == right


def test_delegates_go_with_their_parent_and_branches_stay(db: SessionDB) -> None:
    """B163: what a sub-agent did goes, down to its own delegates and segments; a branch is somebody's conversation."""
    (a,) = chain(db, 1)
    delegate = db.lineage.delegate(a)
    nested = db.lineage.delegate(delegate.id)
    db.messages.append(delegate.id, role="user", content="work")
    continued = db.lineage.rotate(delegate.id, SUMMARY).child
    branch = db.lineage.branch(a)
    of_delegate = db.lineage.branch(continued.id)
    done = db.sessions.delete(a)
    assert set(done.deleted) == {a, delegate.id, nested.id, continued.id}
    assert sorted(ids_in_list(db)) == sorted([branch.id, of_delegate.id])
    assert db.sessions.get(branch.id).parent_id is None
    assert [m.content for m in db.messages.list(branch.id)] == ["1 days old"]


def test_a_prune_without_delegates_spares_those_of_live_sessions(db: SessionDB) -> None:
    """An old delegate of a session that stays is not what `prune` was asked for."""
    parent = db.sessions.create(source="cli", started_at=NOW).id
    delegate = db.lineage.delegate(parent, started_at=NOW - timedelta(days=99)).id
    db.sessions.end(delegate, "done")
    assert db.sessions.prune(OLD).deleted == ()
    wanted = SessionFilter(started_before=NOW - timedelta(days=30), include_delegates=True)
    assert db.sessions.prune(wanted).deleted == (delegate,)


def test_a_dry_run_tells_all_and_changes_nothing(db: SessionDB) -> None:
    """B046: five ended cron sessions of yesterday are listed whatever their age, two open ones are named as kept."""
    for n in range(7):
        session = db.sessions.create(f"c{n}", source="cron", started_at=NOW - timedelta(hours=n))
        if n < 5:
            db.sessions.end(session.id, "done")
    plan = db.sessions.prune(SessionFilter(sources=["cron"]), dry_run=True)
    assert set(plan.deleted) == {f"c{n}" for n in range(5)}
    assert plan.kept == {"c5": "open", "c6": "open"}
    assert (plan.oldest_at, plan.newest_at) == (NOW - timedelta(hours=4), NOW)
    assert plan.dry_run
    assert db.sessions.count() == 7
    done = db.sessions.prune(SessionFilter(sources=["cron"]), include_open=True)
    assert len(done.deleted) == 7
    assert not done.dry_run


def test_archived_conversations_are_pruned_only_on_request(db: SessionDB) -> None:
    """Archiving is keeping: the default filter leaves what was archived."""
    session = db.sessions.create(source="cli", started_at=NOW - timedelta(days=99)).id
    db.sessions.end(session, "done")
    db.sessions.archive(session)
    assert db.sessions.prune(OLD).deleted == ()
    assert db.sessions.prune(SessionFilter(archived=True)).deleted == (session,)


def test_an_ambiguous_prefix_deletes_nothing(db: SessionDB) -> None:
    """B067: `deadbeef` fits two sessions and is refused with both; a longer prefix goes through."""
    for name in ("deadbeef-1111", "deadbeef-2222"):
        db.sessions.create(name, source="cli")
    with pytest.raises(Ambiguous) as refused:
        db.sessions.delete("deadbeef")
    assert refused.value.candidates == ("deadbeef-1111", "deadbeef-2222")
    assert db.sessions.count() == 2
    with pytest.raises(Ambiguous):
        db.sessions.resume("deadbeef")
    assert db.sessions.resume("deadbeef-1").id == "deadbeef-1111"
    assert db.sessions.delete("deadbeef-1").deleted == ("deadbeef-1111",)


@pytest.mark.parametrize("ref", ["", "nothing", "deadbeef*", "%", "\ud800", "a\0b"])
def test_what_names_nothing_deletes_nothing(db: SessionDB, ref: str) -> None:
    """Wildcards, empty and unstorable references are not found, whatever the store holds."""
    db.sessions.create("deadbeef-1111", source="cli")
    with pytest.raises(SessionNotFound):
        db.sessions.delete(ref)
    assert db.sessions.count() == 1


def test_ids_of_deleted_messages_are_never_given_out_again(db: SessionDB) -> None:
    """A note that points at message 7 must not find another one there after message 7 was deleted."""
    kept, gone = db.sessions.create(source="cli").id, db.sessions.create(source="cli").id
    db.messages.append(kept, role="user", content="a")
    last = db.messages.append(gone, role="user", content="b").id
    db.sessions.delete(gone)
    assert db.messages.append(kept, role="user", content="c").id > last
    (many,) = db.messages.append_many(kept, [{"role": "user", "content": "d"}])
    assert many.id > last + 1
    assert [s.message_count for s in db.sessions.list()] == [3]


def test_prompts_nobody_uses_go_with_their_sessions(db: SessionDB) -> None:
    """A system prompt is stored once, and is gone when the last session with it is."""
    first, second = (db.sessions.create(source="cli", system_prompt="be kind").id for _ in range(2))
    prompts = "SELECT count(*) FROM system_prompts"
    with db.engine.read() as connection:
        assert connection.exec_driver_sql(prompts).scalar() == 1
    db.sessions.delete(first)
    assert db.sessions.system_prompt(second) == "be kind"
    db.sessions.delete(second)
    with db.engine.read() as connection:
        assert connection.exec_driver_sql(prompts).scalar() == 0


def test_routes_usage_and_tags_follow_a_deleted_session(db: SessionDB) -> None:
    """A route stays, without a session; tags, usage and hand-overs go."""
    session = db.sessions.create(source="telegram").id
    db.sessions.tag(session, "x")
    db.usage.record(session, model="m", input_tokens=1)
    db.handoffs.request(session, "telegram")
    db.routes.set("peer", session, entry={"a": 1})
    db.sessions.delete(session)
    route = db.routes.get("peer")
    assert route is not None
    assert (route.session_id, route.entry) == (None, {"a": 1})
    assert db.usage.by_model() == []
    assert db.handoffs.pending() == []


def test_a_large_prune_lets_others_write_in_between(db: SessionDB) -> None:
    """400 sessions go in several short transactions, and the result is their sum."""
    for n in range(400):
        session = db.sessions.create(f"s{n:03}", source="cli", started_at=NOW - timedelta(days=99, seconds=n)).id
        db.messages.append_many(session, [{"role": "user", "content": "x"}] * 3)
        db.sessions.end(session, "done")
    writes: list[float] = []
    original = db.engine.write

    def counting(**options: float) -> object:
        writes.append(1)
        return original(**options)

    db.engine.write = counting  # type: ignore[method-assign,assignment]
    done = db.sessions.prune(OLD)
    assert len(writes) > 2
    assert (len(done.deleted), done.messages) == (400, 1200)
    assert done.oldest_at == NOW - timedelta(days=99, seconds=399)
    assert db.sessions.count() == 0
