"""A process that appends knows where its sessions end, until somebody else changes that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hermes_state.check import check
from hermes_state.errors import SessionMoved, SessionNotFound
from hermes_state.records import MessageState
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def other(store_at: str, db: SessionDB) -> Iterator[SessionDB]:
    """A second handle on the store, as another process has it."""
    assert db.store_id
    with SessionDB.open(store_at, synchronous="NORMAL") as store:
        yield store


def say(db: SessionDB, session: str, *texts: str) -> list[int]:
    """Append messages one by one; their positions."""
    return [db.messages.append(session, role="user", content=text).position for text in texts]


def said(db: SessionDB, session: str) -> list[object]:
    """What the session says, after proving that the store is sound and that records and rows agree."""
    assert check(db.engine, full=True).is_sound
    return [message.content for message in db.messages.list(session)]


def test_what_an_append_returns_is_what_is_stored(db: SessionDB) -> None:
    """Also in two sessions in turn, and with other fields each time."""
    db.sessions.create("一", source="cli")
    db.sessions.create("二", source="cli")
    given = [
        db.messages.append(
            ("一", "二")[number % 2],
            role="assistant",
            content=f"第{number}条 🦊",
            tool_calls=[{"id": str(number)}] if number % 3 else None,
            finish_reason="stop" if number % 4 == 0 else None,
            platform_message_id=f"p{number}" if number % 5 == 0 else None,
        )
        for number in range(20)
    ]
    assert [db.messages.get(message.id) for message in given] == given
    assert [m.position for m in db.messages.list("一")] == list(range(10))


def test_two_writers_in_turn(db: SessionDB, other: SessionDB) -> None:
    """Each goes on where the session ends, whoever moved that."""
    db.sessions.create("s", source="cli")
    places = [
        place
        for number in range(6)
        for place in say((db, other)[number % 2], "s", *(f"{number}.{part}" for part in range(3)))
    ]
    assert places == list(range(18))
    assert said(db, "s") == [f"{number}.{part}" for number in range(6) for part in range(3)]


def test_another_session_got_the_next_id(db: SessionDB, other: SessionDB) -> None:
    """The position is still right, and the id is another one."""
    db.sessions.create("s", source="cli")
    db.sessions.create("t", source="cli")
    say(db, "s", "a", "b", "c")
    say(other, "t", "x")
    assert say(db, "s", "d", "e") == [3, 4]
    assert len({message.id for message in [*db.messages.list("s"), *db.messages.list("t")]}) == 6
    assert said(db, "s") == ["a", "b", "c", "d", "e"]


def test_others_compacted_rewound_and_replaced(db: SessionDB, other: SessionDB) -> None:
    """What is said next comes last."""
    db.sessions.create("s", source="cli")
    say(db, "s", "a", "b", "c", "d")
    other.messages.compact("s", [{"role": "user", "content": "summary"}], keep_last=2)
    say(db, "s", "e", "f", "g")
    assert said(db, "s") == ["summary", "c", "d", "e", "f", "g"]
    other.messages.rewind("s", last=2)
    say(db, "s", "h", "i", "j")
    assert said(db, "s") == ["summary", "c", "d", "e", "h", "i", "j"]
    other.messages.replace("s", [{"role": "user", "content": "anew"}])
    say(db, "s", "k")
    assert said(db, "s") == ["anew", "k"]


def test_others_rotated_the_session(db: SessionDB, other: SessionDB) -> None:
    """The next append is told the tip."""
    db.sessions.create("s", source="cli")
    say(db, "s", "a", "b", "c")
    tip = other.lineage.rotate("s", [{"role": "user", "content": "summary"}]).child.id
    with pytest.raises(SessionMoved) as told:
        say(db, "s", "d")
    assert told.value.tip == tip


def test_others_deleted_the_session_and_made_it_again(db: SessionDB, other: SessionDB) -> None:
    """Nothing goes into what is gone, and no id is given out twice."""
    db.sessions.create("s", source="cli")
    say(db, "s", "a", "b", "c")
    newest = db.messages.list("s")[-1].id
    other.sessions.delete("s")
    with pytest.raises(SessionNotFound):
        say(db, "s", "d")
    other.sessions.create("s", source="cli")
    assert say(db, "s", "e", "f", "g") == [0, 1, 2]
    assert min(message.id for message in db.messages.list("s")) > newest
    assert said(db, "s") == ["e", "f", "g"]


class Undone(Exception):
    """Raised to undo a transaction."""


def say_and_undo(db: SessionDB, session: str, *texts: str) -> None:
    """Append messages in a transaction that is undone."""

    def undone() -> None:
        with db.transaction():
            say(db, session, *texts)
            raise Undone

    with pytest.raises(Undone):
        undone()


def test_appends_that_were_undone_leave_no_trace(db: SessionDB, other: SessionDB) -> None:
    """The next positions are those that the undone messages had, also when others took their ids."""
    db.sessions.create("s", source="cli")
    say(db, "s", "a", "b")
    say_and_undo(db, "s", "c", "d", "e")
    assert say(db, "s", "f") == [2]
    say_and_undo(db, "s", "g", "h")
    say(other, "s", "i", "j")
    assert say(db, "s", "k", "l") == [5, 6]
    assert said(db, "s") == ["a", "b", "f", "i", "j", "k", "l"]


def test_a_part_that_was_undone(db: SessionDB) -> None:
    """A call that fails inside a transaction takes back only itself."""
    db.sessions.create("s", source="cli")
    with db.transaction():
        say(db, "s", "a", "b", "c")
        say_and_undo(db, "s", "x", "y", "z")
        assert say(db, "s", "d", "e") == [3, 4]
    assert said(db, "s") == ["a", "b", "c", "d", "e"]


def test_a_platform_id_given_twice(db: SessionDB) -> None:
    """The second append adds nothing, and what comes next is right."""
    db.sessions.create("s", source="cli")
    say(db, "s", "a", "b")
    first = db.messages.append("s", role="user", content="c", platform_message_id="7")
    again = db.messages.append("s", role="user", content="c", platform_message_id="7")
    assert again == first
    assert say(db, "s", "d", "e") == [3, 4]
    assert said(db, "s") == ["a", "b", "c", "d", "e"]


def test_a_copied_message_is_active(db: SessionDB) -> None:
    """What is appended is said now, whatever became of the message it copies."""
    db.sessions.create("s", source="cli")
    db.sessions.create("t", source="cli")
    say(db, "s", "a", "b")
    taken = db.messages.rewind("s", last=2).messages
    rewound = db.messages.list("s", states=[MessageState.REWOUND])
    assert len(taken) == len(rewound) == 2
    copies = db.messages.append_many("t", rewound)
    assert {message.state for message in copies} == {MessageState.ACTIVE}
    assert db.messages.list("t") == copies


def test_an_unknown_field_is_refused(db: SessionDB) -> None:
    """A misspelt name must not vanish among the extras."""
    db.sessions.create("s", source="cli")
    with pytest.raises(TypeError, match="takes no tool_nam;"):
        db.messages.append("s", role="tool", content="x", tool_nam="terminal")  # type: ignore[call-arg]
    assert db.messages.count("s") == 0
