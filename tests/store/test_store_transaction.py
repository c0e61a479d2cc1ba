"""Several calls as one transaction."""

from __future__ import annotations

import pytest

from hermes_state import SessionDB
from hermes_state.errors import SessionNotFound, StoreBusy


def test_what_a_block_writes_is_seen_by_others_only_when_it_ends(db: SessionDB, store_at: str) -> None:
    with SessionDB.open(store_at) as other:
        with db.transaction():
            session = db.sessions.create(source="cli", title="部署")
            db.messages.append(session.id, role="user", content="升级 redis")
            db.messages.append_many(session.id, [{"role": "assistant", "content": "done"}])
            assert db.messages.count(session.id) == 2
            assert other.sessions.find(session.id) is None
        assert [message.content for message in other.messages.list(session.id)] == ["升级 redis", "done"]
        assert [hit.session_id for hit in other.search.messages("升级")] == [session.id]


def test_a_block_that_raises_leaves_nothing(db: SessionDB) -> None:
    kept = db.sessions.create(source="cli").id
    with pytest.raises(ZeroDivisionError), db.transaction():  # noqa: PT012  the block is what is tested
        lost = db.sessions.create(source="cli").id
        db.messages.append(lost, role="user", content="lost")
        db.messages.append(kept, role="user", content="lost too")
        raise ZeroDivisionError
    assert db.sessions.find(lost) is None
    assert db.messages.list(kept) == []
    assert db.search.messages("lost") == []


def test_a_call_that_fails_inside_takes_back_only_itself(db: SessionDB) -> None:
    with db.transaction():
        session = db.sessions.create(source="cli").id
        db.messages.append(session, role="user", content="stays")
        with pytest.raises(SessionNotFound):
            db.messages.append_many("no-such-session", [{"role": "user", "content": "x"}])
        db.messages.append(session, role="user", content="stays too")
    assert [message.content for message in db.messages.list(session)] == ["stays", "stays too"]


def test_another_process_may_write_only_after_it(db: SessionDB, store_at: str) -> None:
    with SessionDB.open(store_at, busy_budget_s=0.05) as other:
        session = other.sessions.create(source="cli").id
        with db.transaction():
            db.messages.append(session, role="user", content="first")
            with pytest.raises(StoreBusy):
                other.messages.append(session, role="user", content="second")
        other.messages.append(session, role="user", content="second")
    assert [message.content for message in db.messages.list(session)] == ["first", "second"]
