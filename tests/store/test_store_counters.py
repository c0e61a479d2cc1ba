"""Counters of sessions: right at every moment, whether or not the tail of new messages was folded into them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from hermes_state.activity import fold
from hermes_state.errors import StoreBusy
from hermes_state.schema import store_state

if TYPE_CHECKING:
    import pytest

    from hermes_state.store import SessionDB

CALLS = [{"id": str(n), "function": {"name": "f", "arguments": "{}"}} for n in range(3)]


def _say(db: SessionDB, session: str, times: int) -> None:
    for n in range(times):
        db.messages.append(session, role="assistant", content=str(n), tool_calls=CALLS if n % 2 else None)


def _counts(db: SessionDB, *sessions: str) -> list[tuple[int, int]]:
    return [(s.message_count, s.tool_call_count) for s in map(db.sessions.get, sessions)]


def _counted_through(db: SessionDB) -> int:
    with db.engine.read() as connection:
        return int(connection.execute(select(store_state.c.counted_through)).scalar_one())


def test_folding_changes_no_counter(db: SessionDB) -> None:
    one, two = (db.sessions.create(source="cli").id for _ in range(2))
    _say(db, one, 5)
    _say(db, two, 2)
    db.messages.rewind(two, last=1)
    _say(db, two, 1)
    before, listed = _counts(db, one, two), [s.id for s in db.sessions.list()]
    assert before == [(5, 6), (2, 0)]
    newest = max(m.id for m in db.messages.list(two))
    for _ in range(2):  # the second finds nothing to do
        with db.engine.write() as connection:
            fold(connection)
        assert _counts(db, one, two) == before
        assert [s.id for s in db.sessions.list()] == listed
        assert _counted_through(db) == newest
    _say(db, one, 1)
    with db.engine.write() as connection:
        fold(connection)
    assert _counts(db, one, two) == [(6, 6), (2, 0)]


def test_appends_fold_from_time_to_time(db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db.messages, "_fold_every", 4)
    session = db.sessions.create(source="cli").id
    _say(db, session, 9)
    assert _counted_through(db) >= db.messages.list(session)[4].id
    assert _counts(db, session) == [(9, 12)]


def test_an_append_does_not_fail_because_nobody_could_fold(
    db: SessionDB, monkeypatch: pytest.MonkeyPatch, store_at: str
) -> None:
    def busy(*_: object) -> None:
        raise StoreBusy(store_at, waited_s=0.0, holder="another")

    monkeypatch.setattr("hermes_state.messages.fold", busy)
    monkeypatch.setattr(db.messages, "_fold_every", 1)
    session = db.sessions.create(source="cli").id
    _say(db, session, 3)
    assert _counts(db, session) == [(3, 3)]
    assert _counted_through(db) == 0
