"""The append statement: prepared by hand, alone or within a transaction, and what stands in for a foreign key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hermes_state import SessionDB
from hermes_state.engine.connections import driver_of
from hermes_state.errors import HermesStateError, InvalidValue, SessionMoved, SessionNotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def elsewhere(url: str) -> Iterator[SessionDB]:
    """Another client of the same store."""
    with SessionDB.open(url) as store:
        yield store


def _forget_prepared(db: SessionDB) -> None:
    with db.engine.read() as connection:
        driver_of(connection).execute("DEALLOCATE ALL")


def test_an_append_goes_on_when_the_prepared_statements_were_thrown_away(db: SessionDB) -> None:
    """psycopg does so after a rollback to a savepoint, a pooler when it lends the connection to another client."""
    session = db.sessions.create(source="cli").id
    db.messages.append(session, role="user", content="one")
    _forget_prepared(db)
    db.messages.append(session, role="user", content="two")
    _forget_prepared(db)
    db.messages.append_many(session, [{"role": "user", "content": "three"}, {"role": "user", "content": "four"}])
    with pytest.raises(RuntimeError), db.transaction(), db.transaction():  # noqa: PT012  the block is what is undone
        db.messages.append(session, role="user", content="undone")
        raise RuntimeError
    db.messages.append(session, role="user", content="five")
    told = db.messages.list(session)
    assert [(m.position, m.content) for m in told] == list(enumerate(["one", "two", "three", "four", "five"]))


def test_every_column_arrives(db: SessionDB) -> None:
    session = db.sessions.create(source="cli").id
    long = "早上好 🌅 صباح الخير " * 500
    calls = [{"id": "c1", "function": {"name": "look", "arguments": "{}"}}]
    said = db.messages.append(session, role="assistant", content=long, tool_calls=calls, reasoning="why " * 600)
    result = db.messages.append(
        session, role="tool", content=[{"text": "a\0b"}], tool_call_id="c1", platform_message_id="p", token_count=7
    )
    assert db.messages.list(session) == [said, result]
    assert result.tool_name == "look"
    assert db.sessions.get(session).tool_call_count == 1


def test_a_session_id_is_not_cut_at_a_nul(db: SessionDB) -> None:
    db.sessions.create("a", source="cli")
    with pytest.raises((InvalidValue, SessionNotFound)):
        db.messages.append("a\0b", role="user", content="not here")
    with pytest.raises(InvalidValue):
        db.messages.append("a\ud800", role="user", content="nor here")
    assert db.messages.list("a") == []


def test_a_session_with_messages_is_not_deleted_from_under_them(db: SessionDB) -> None:
    """There is no foreign key: it would cost every append a look at the session's row, and a lock on it."""
    session = db.sessions.create(source="cli").id
    db.messages.append(session, role="user", content="kept")
    with pytest.raises(HermesStateError, match="still has messages"), db.engine.write() as connection:
        connection.exec_driver_sql("DELETE FROM sessions")
    assert [m.content for m in db.messages.list(session)] == ["kept"]
    assert db.sessions.delete(session).messages == 1


def test_only_the_very_session_and_the_very_platform_id_are_meant(db: SessionDB) -> None:
    """Both are looked up as the first that is not lower, so that no other index will do."""
    for name in ("b", "ab", "aa\u4e2d"):
        db.sessions.create(name, source="cli")
    for absent in ("a", "aa", "b\u4e2d", "zz", ""):
        with pytest.raises(SessionNotFound):
            db.messages.append(absent, role="user", content="lost")
    first = db.messages.append("ab", role="user", content="1", platform_message_id="10")
    assert db.messages.append("ab", role="user", content="2", platform_message_id="1").position == 1
    assert db.messages.append("ab", role="user", content="3", platform_message_id="100").position == 2
    assert db.messages.append("ab", role="user", content="4", platform_message_id="10") == first
    assert db.messages.append("b", role="user", content="5", platform_message_id="10").position == 0


# --- what a client remembers of a session's end -------------------------------------------------------------------

_SAID = {"role": "user", "content": "said elsewhere"}


def _leave_out_positions(store: SessionDB, session: str) -> None:
    """As a merge does it that brings in messages at the positions that they have where they come from."""
    with store.engine.write() as connection:
        connection.exec_driver_sql(
            "INSERT INTO messages (session_pk, position, created_at, state, role)"
            " SELECT pk, 40, 0, 0, 'user' FROM sessions WHERE id = %s",
            (session,),
        )
        connection.exec_driver_sql("UPDATE sessions SET message_count = message_count + 1 WHERE id = %s", (session,))
        connection.exec_driver_sql("UPDATE store_state SET counted_through = (SELECT max(id) FROM messages)")


def _delete_last(store: SessionDB, session: str) -> None:
    with store.engine.write() as connection:
        connection.exec_driver_sql(
            "DELETE FROM messages WHERE id = (SELECT max(id) FROM messages WHERE session_pk ="
            " (SELECT pk FROM sessions WHERE id = %s))",
            (session,),
        )


@pytest.mark.parametrize(
    ("change", "position"),
    [
        (lambda store, session: store.messages.append(session, **_SAID), 4),
        (lambda store, session: store.messages.append_many(session, [_SAID, _SAID]), 5),
        (lambda store, session: store.messages.compact(session, [_SAID], keep_last=2), 6),
        (lambda store, session: store.messages.replace(session, [_SAID]), 4),
        (_leave_out_positions, 41),
        (_delete_last, 2),
        (lambda store, session: store.sessions.rename(session, "another title"), 3),
    ],
    ids=["append", "append many", "compact", "replace", "positions left out", "delete the last", "rename"],
)
def test_the_position_is_right_whatever_another_client_did(
    db: SessionDB, elsewhere: SessionDB, change: Callable[[SessionDB, str], object], position: int
) -> None:
    session = db.sessions.create(source="cli").id
    for content in ("0", "1", "2"):
        db.messages.append(session, role="user", content=content)
    change(elsewhere, session)
    assert db.messages.append(session, role="user", content="next").position == position
    assert db.messages.append(session, role="user", content="last").position == position + 1


def test_a_session_that_another_client_deleted_takes_nothing(db: SessionDB, elsewhere: SessionDB) -> None:
    db.sessions.create("gone", source="cli")
    db.messages.append("gone", role="user", content="0")
    elsewhere.sessions.delete("gone")
    with pytest.raises(SessionNotFound):
        db.messages.append("gone", role="user", content="lost")
    elsewhere.sessions.create("gone", source="cli")
    assert db.messages.append("gone", role="user", content="of the new one").position == 0
    assert [m.content for m in elsewhere.messages.list("gone")] == ["of the new one"]


def test_a_session_that_another_client_sealed_takes_nothing(db: SessionDB, elsewhere: SessionDB) -> None:
    session = db.sessions.create(source="cli").id
    db.messages.append(session, role="user", content="0")
    child = elsewhere.lineage.rotate(session, [{"role": "user", "content": "summary"}]).child.id
    with pytest.raises(SessionMoved) as moved:
        db.messages.append(session, role="user", content="lost")
    assert moved.value.tip == child
    assert [m.content for m in db.messages.list(session)] == ["0"]


def test_clients_take_turns_in_one_session(db: SessionDB, elsewhere: SessionDB) -> None:
    """Each finds the position that it remembers taken, and none is left out."""
    session = db.sessions.create(source="cli").id
    placed = [store.messages.append(session, **_SAID).position for _ in range(5) for store in (db, elsewhere, db)]
    assert placed == list(range(15))


def test_a_platform_id_is_seen_again_by_who_remembers_the_end(db: SessionDB) -> None:
    session = db.sessions.create(source="cli").id
    first = db.messages.append(session, role="user", content="0", platform_message_id="p")
    assert db.messages.append(session, role="user", content="0 again", platform_message_id="p") == first
    assert db.messages.append(session, role="user", content="1", platform_message_id="q").position == 1


def test_more_sessions_than_a_connection_remembers(db: SessionDB) -> None:
    sessions = [db.sessions.create(source="cli").id for _ in range(120)]
    for position in range(2):
        for session in sessions:
            assert db.messages.append(session, role="user", content="x").position == position


def test_a_server_that_does_not_tell_the_state_of_the_sequence(db: SessionDB, elsewhere: SessionDB) -> None:
    """As newer ones to a role without rights on it: an append looks up where the session ends, and adds one message."""
    session = db.sessions.create(source="cli").id
    with db.engine.write() as connection:
        connection.exec_driver_sql("SELECT setval('session_changes', nextval('session_changes') + 1000, false)")
    for position in range(3):
        assert db.messages.append(session, role="user", content=f"{position}").position == position
    elsewhere.sessions.rename(session, "told again")
    for position in range(3, 6):
        assert db.messages.append(session, role="user", content=f"{position}").position == position
    assert [m.content for m in elsewhere.messages.list(session)] == [*"012345"]
