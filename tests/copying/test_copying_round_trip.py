"""A copy says what its source says, on either engine, and its digest proves it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import postgres_server
import pytest
import store_strategies
import whole_store
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update

from hermes_state import schema
from hermes_state.check import check
from hermes_state.copying import conversations, keys
from hermes_state.copying.content import StoreContent
from hermes_state.copying.copy import copy_store
from hermes_state.copying.digest import Digest, digests
from hermes_state.copying.mark import MARK
from hermes_state.copying.tables import CONVERSATIONS, KEPT, NOT_COPIED
from hermes_state.errors import Conflict, InvalidValue, PartialSuccess, StoreNotEmpty
from hermes_state.store import SessionDB
from hermes_state.transfer import dump

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_state.copying.report import CopyReport


def copied(source: SessionDB, target: SessionDB, *, merge: bool = False) -> CopyReport:
    return copy_store(source.engine, target.engine, merge=merge)


def digest(db: SessionDB) -> Digest:
    with db.engine.read() as connection:
        return digests(StoreContent(connection)).combined()


def exported(db: SessionDB) -> str:
    out = io.StringIO()
    dump(db.engine, out)
    return out.getvalue()


def test_every_table_is_copied_or_known_to_stay() -> None:
    known = [*CONVERSATIONS, *(kept.table for kept in KEPT), *NOT_COPIED]
    assert sorted(table.name for table in known) == sorted(schema.metadata.tables)


@pytest.mark.parametrize("remembered", [0, 50_000])
def test_everything_arrives(
    source: SessionDB, target: SessionDB, remembered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "_REMEMBERED", remembered)
    monkeypatch.setattr(conversations, "_BATCH", 3)
    whole_store.fill(source)
    report = copied(source, target)
    report.raise_for_problems()
    assert report.is_equal
    assert exported(target) == exported(source)
    assert not check(target.engine, full=True).findings
    there, here = whole_store.counts(source), whole_store.counts(target)
    content = [table.name for table in (*CONVERSATIONS, *(kept.table for kept in KEPT))]
    assert {name: here[name] for name in content} == {name: there[name] for name in content}
    assert min(there[name] for name in content) > 0
    assert target.meta.items() == source.meta.items()
    assert target.sessions.resume("root") == source.sessions.resume("root")
    assert [m.content for m in target.messages.history("root")] == [m.content for m in source.messages.history("root")]


@pytest.mark.skipif(not postgres_server.is_here(), reason="no PostgreSQL server")
@pytest.mark.parametrize(("fresh", "other_fresh"), [("postgresql", "postgresql")], indirect=True)
def test_from_one_store_of_a_database_to_another(source: SessionDB, target: SessionDB) -> None:
    whole_store.fill(source)
    copied(source, target).raise_for_problems()
    assert exported(target) == exported(source)


def test_references_lead_to_the_same_things(source: SessionDB, target: SessionDB) -> None:
    whole_store.add_conversation(target, "gone", "x")  # so that keys differ
    target.sessions.delete("gone")
    whole_store.fill(source)
    copied(source, target).raise_for_problems()
    with target.engine.read() as connection:
        ledger, said = schema.imported_messages.c, schema.messages.c
        query = select(said.content, said.position).join(schema.messages, said.id == ledger.message_id)
        assert connection.execute(query.select_from(schema.imported_messages)).one() == ("请把 redis 升级到 7.2", 0)
        newer = schema.memories.alias("newer")
        query = select(newer.c.id, newer.c.raw).join(schema.memories, schema.memories.c.replaced_by_pk == newer.c.pk)
        assert connection.execute(query).one() == ("m1", b"\xff")
        assert connection.execute(select(schema.facts.c.superseded_by).where(schema.facts.c.pk == 6)).scalar() == 7
        assert connection.execute(select(schema.memory_outbox.c.claimed_by)).scalar() is None


def test_the_copy_lives_on(source: SessionDB, target: SessionDB) -> None:
    whole_store.fill(source)
    copied(source, target).raise_for_problems()
    tip = target.sessions.resume("root").id
    before = target.sessions.get(tip).message_count
    target.messages.append(tip, role="user", content="弾力性 after the move")
    assert target.sessions.get(tip).message_count == before + 1
    assert [hit.session_id for hit in target.search.messages("弾力性")] == [tip]
    assert [hit.session_id for hit in target.search.messages("升级")]
    assert not check(target.engine, full=True).findings


@pytest.mark.parametrize("fresh", ["sqlite"], indirect=True)
@settings(max_examples=5)
@given(sessions=st.lists(store_strategies.session, max_size=4), history=store_strategies.acts)
def test_any_history_survives_the_move_there_and_back(
    fresh: Callable[[], str], other_fresh: Callable[[], str], sessions: list[Any], history: list[Any]
) -> None:
    with (
        SessionDB.open(fresh(), synchronous="NORMAL") as one,
        SessionDB.open(other_fresh(), synchronous="NORMAL") as two,
        SessionDB.open(fresh(), synchronous="NORMAL") as three,
    ):
        store_strategies.fill(one, sessions, history)
        copied(one, two).raise_for_problems()
        copied(two, three).raise_for_problems()
        assert exported(two) == exported(three) == exported(one)
        assert digest(three) == digest(one)
        assert not check(two.engine, full=True).findings


def test_a_second_copy_finds_nothing_to_do(source: SessionDB, target: SessionDB) -> None:
    whole_store.fill(source)
    copied(source, target)
    before = whole_store.counts(target)
    again = copied(source, target)
    assert again.is_whole
    assert {number.added for number in again.counts.values()} == {0}
    assert whole_store.counts(target) == before


def test_a_store_with_content_is_refused(source: SessionDB, target: SessionDB) -> None:
    whole_store.add_conversation(source, "a", "x")
    whole_store.add_conversation(target, "b", "y")
    before = exported(target)
    with pytest.raises(StoreNotEmpty, match="not empty"):
        copied(source, target)
    target.sessions.delete("b")
    target.meta.set("k", "v")
    with pytest.raises(StoreNotEmpty):
        copied(source, target)
    assert "about b" in before


def test_a_store_is_not_copied_into_itself(source: SessionDB) -> None:
    with pytest.raises(InvalidValue, match="same store"):
        copied(source, source)


def test_the_source_is_read_at_one_moment(source: SessionDB, target: SessionDB) -> None:
    whole_store.add_conversation(source, "a", "one")

    def meanwhile(done: int, total: int) -> None:
        if done and not source.meta.get("late"):
            source.meta.set("late", "yes")
            whole_store.add_conversation(source, "late", "two")

    report = copy_store(source.engine, target.engine, progress=meanwhile)
    report.raise_for_problems()
    assert target.sessions.count() == 1
    assert target.meta.get("late") is None


def test_merging_is_by_content_and_both_ways_are_equal(
    source: SessionDB, target: SessionDB, fresh: Callable[[], str], other_fresh: Callable[[], str]
) -> None:
    whole_store.fill(source)
    whole_store.add_conversation(target, "there", "اهلا")
    whole_store.add_conversation(source, "both", "one")
    with SessionDB.open(other_fresh()) as mine, SessionDB.open(fresh()) as theirs:
        copied(source, mine)
        copied(target, theirs)
        for one, other in ((target, mine), (source, theirs)):
            report = copied(one, other, merge=True)
            assert not report.conflicts
            report.raise_for_problems()
        assert digest(mine) == digest(theirs)
        assert mine.sessions.count() == source.sessions.count() + 1
        with theirs.engine.read() as connection:
            assert connection.execute(select(schema.memories.c.raw).where(schema.memories.c.id == "m1")).scalar()
            assert connection.execute(select(schema.memory_events.c.position)).scalar() == 3
        again = copied(target, mine, merge=True)
        assert {number.added for number in again.counts.values()} == {0}


def test_what_differs_stays_and_is_listed(source: SessionDB, target: SessionDB) -> None:
    whole_store.fill(source)
    copied(source, target)
    target.meta.set("seen", "no")
    target.sessions.update("root", cwd="/elsewhere")
    with target.engine.write() as connection:
        connection.execute(update(schema.facts).where(schema.facts.c.pk == 7).values(trust=0.2))
    before = exported(target)
    report = copied(source, target, merge=True)
    assert {clash.where.split()[0] for clash in report.conflicts} == {"session", "meta", "facts"}
    assert exported(target) == before
    assert target.meta.get("seen") == "no"
    with pytest.raises(PartialSuccess, match="not in"):
        report.raise_for_problems()


def test_a_session_that_went_on_there_goes_on_here(source: SessionDB, target: SessionDB) -> None:
    whole_store.add_conversation(source, "a", "one")
    copied(source, target)
    source.messages.append("a", role="user", content="two")
    report = copied(source, target, merge=True)
    assert report.is_equal
    assert report.counts["messages"].added == 1


def test_a_copy_that_was_cut_off_and_then_written_to_is_refused(source: SessionDB, target: SessionDB) -> None:
    whole_store.add_conversation(source, "a", "one")

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_store(source.engine, target.engine, progress=stop)
    assert target.meta.get(MARK)
    with pytest.raises(Conflict, match="cut off"):
        copied(target, source)
    with pytest.raises(Conflict, match="cut off"):
        copied(source, target, merge=True)
    target.messages.append("a", role="user", content="into the half copy")
    with pytest.raises(Conflict, match="written to since"):
        copied(source, target)


def test_a_store_that_somebody_else_writes_to_is_left(
    source: SessionDB, target: SessionDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "_BATCH", 2)
    whole_store.add_conversation(source, "a", *"abcdef")

    def append(done: int, total: int) -> None:
        target.messages.append("a", role="user", content="too early")

    with pytest.raises(Conflict, match="somebody else writes"):
        copy_store(source.engine, target.engine, progress=append)


def test_two_copies_at_once_do_not_mix(source: SessionDB, target: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "_BATCH", 2)
    whole_store.add_conversation(source, "a", *"abcdef")
    reports: list[CopyReport] = []
    begun: list[int] = []

    def second(done: int, total: int) -> None:
        if not begun:
            begun.append(done)
            reports.append(copied(source, target))

    with pytest.raises(Conflict):
        copy_store(source.engine, target.engine, progress=second)
    assert reports[0].is_equal
    assert exported(target) == exported(source)
