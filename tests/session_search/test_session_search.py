"""The tool an agent calls: four shapes, a budget, and no word of the conversation it is in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from hermes_state.session_search import SCHEMA, SessionSearch
from hermes_state.session_search.budget import estimate_tokens
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def db(tmp_path: Path) -> Iterator[SessionDB]:
    """An empty store, closed after the test."""
    with SessionDB.open(tmp_path / "store.db", synchronous="NORMAL") as store:
        yield store


def say(db: SessionDB, session_id: str, *texts: str, role: str = "user") -> list[int]:
    """Append texts; their message ids."""
    return [db.messages.append(session_id, role=role, content=text).id for text in texts]


def call(db: SessionDB, arguments: Any, **options: Any) -> dict[str, Any]:
    """The tool's answer as a dictionary."""
    answer = json.loads(SessionSearch(db, **options).call(arguments))
    assert isinstance(answer, dict)
    return answer


def test_discover_gives_the_passage_with_its_surroundings(db: SessionDB) -> None:
    """A query gives each conversation once, with the match, what stands around it, and how much more there is."""
    session = db.sessions.create(source="cli", title="birds")
    say(db, session.id, *[f"line {number}" for number in range(8)])
    (found,) = say(db, session.id, "we saw a blue heron")
    say(db, session.id, *[f"line {number}" for number in range(9, 20)])
    answer = call(db, {"query": "heron"})
    assert answer["mode"] == "discover"
    assert answer["count"] == 1
    result = answer["results"][0]
    assert result["session_id"] == session.id
    assert result["match_message_id"] == found
    assert "heron" in result["snippet"]
    anchor = next(m for m in result["messages"] if m.get("anchor"))
    assert anchor["id"] == found
    assert result["messages_before"] == 8 - 5
    assert result["messages_after"] == 11 - 5
    assert [m["content"] for m in result["bookend_start"]] == ["line 0", "line 1", "line 2"]


def test_the_current_conversation_is_left_out_with_all_its_segments(db: SessionDB) -> None:
    """What compression moved out of the context is the same conversation and is not found again."""
    first = db.sessions.create(source="cli")
    say(db, first.id, "blue heron here")
    child = db.lineage.rotate(first.id, [{"role": "user", "content": "summary"}]).child
    assert call(db, {"query": "heron"})["count"] == 1
    assert call(db, {"query": "heron"}, current_session_id=child.id)["count"] == 0


def test_a_session_that_was_reset_is_found_from_its_successor(db: SessionDB) -> None:
    """After /new the last conversation is not in the context, so it is found although it is the parent (B011)."""
    first = db.sessions.create(source="cli")
    say(db, first.id, "blue heron")
    db.sessions.end(first.id, "session_reset")
    second = db.sessions.create(source="cli", parent_id=first.id)
    answer = call(db, {"query": "heron"}, current_session_id=second.id)
    assert [result["session_id"] for result in answer["results"]] == [first.id]


def test_a_huge_tool_result_is_cut_around_the_match_and_says_so(db: SessionDB) -> None:
    """The answer keeps its budget; the snippet and the cut text both hold the word at position 90,000 (B014)."""
    session = db.sessions.create(source="cli")
    text = "filler " * 12_857 + "needle " + "filler " * 1_400
    arguments = json.dumps({"q": "argument " * 11_000})
    calls = [{"id": "c1", "function": {"name": "web_search", "arguments": arguments}}]
    db.messages.append(session.id, role="assistant", tool_calls=calls)
    db.messages.append(session.id, role="tool", tool_call_id="c1", content=text)
    for arguments_ in (
        {"query": "needle", "role_filter": "tool"},
        {"session_id": session.id},
        {"session_id": session.id, "around_message_id": 2},
    ):
        raw = SessionSearch(db).call(arguments_)
        assert estimate_tokens(raw) <= 6000
        answer = json.loads(raw)
        messages = answer["messages"] if "messages" in answer else answer["results"][0]["messages"]
        tool = next(m for m in messages if m["role"] == "tool")
        assert tool["content_truncated"] is True
        assert tool["content_chars"] == len(text)
        assistant = next(m for m in messages if m["role"] == "assistant")
        assert assistant["tool_calls_truncated"] is True
    found = call(db, {"query": "needle", "role_filter": "tool"})["results"][0]
    assert "needle" in found["snippet"]
    assert "needle" in next(m for m in found["messages"] if m.get("anchor"))["content"]


def test_scroll_moves_through_a_session_and_follows_segments(db: SessionDB) -> None:
    """A message of another segment of the same conversation is shown where it is, with a word about it."""
    first = db.sessions.create(source="cli")
    ids = say(db, first.id, *[f"line {number}" for number in range(20)])
    child = db.lineage.rotate(first.id, [{"role": "user", "content": "summary"}]).child
    answer = call(db, {"session_id": first.id, "around_message_id": ids[10], "window": 2})
    assert [m["content"] for m in answer["messages"]] == [f"line {n}" for n in range(8, 13)]
    assert (answer["messages_before"], answer["messages_after"]) == (8, 7)
    moved = call(db, {"session_id": child.id, "around_message_id": ids[10], "window": 1})
    assert moved["session_id"] == first.id
    assert first.id in moved["warning"]


def test_scroll_refuses_the_current_conversation_and_foreign_messages(db: SessionDB) -> None:
    """Neither what is in the context already nor a message of another conversation is shown."""
    one, two = db.sessions.create(source="cli"), db.sessions.create(source="cli")
    (mine,), (other,) = say(db, one.id, "mine"), say(db, two.id, "other")
    current = call(db, {"session_id": one.id, "around_message_id": mine}, current_session_id=one.id)
    assert (current["success"], current["kind"]) == (False, "invalid_value")
    foreign = call(db, {"session_id": one.id, "around_message_id": other})
    assert (foreign["success"], foreign["kind"]) == (False, "message_not_found")


def test_read_shows_the_start_and_the_end(db: SessionDB) -> None:
    """A long session is read as its first 20 and last 10 messages; a title names it as well as an id."""
    session = db.sessions.create(source="cli", title="long one")
    say(db, session.id, *[f"line {number}" for number in range(50)])
    answer = call(db, {"session_id": "long one"})
    contents = [m["content"] for m in answer["messages"]]
    assert contents == [f"line {n}" for n in (*range(20), *range(40, 50))]
    assert (answer["message_count"], answer["truncated"]) == (50, True)


def test_rewound_messages_are_never_shown(db: SessionDB) -> None:
    """What the user took back is in no shape of the answer."""
    session = db.sessions.create(source="cli")
    ids = say(db, session.id, "kept", "secret heron", "also taken back")
    db.messages.rewind(session.id, to_message_id=ids[1])
    for arguments in ({"query": "heron"}, {"session_id": session.id}, {}):
        assert "heron" not in json.dumps(call(db, arguments).get("results") or call(db, arguments).get("messages"))


def test_browse_lists_what_people_did_last(db: SessionDB) -> None:
    """Automation, delegates and the current conversation are left out; a preview says what each was about."""
    talk, current = db.sessions.create(source="cli"), db.sessions.create(source="telegram")
    cron = db.sessions.create(source="cron")
    for session in (cron, talk, current):
        say(db, session.id, f"hello from {session.source}")
    db.lineage.delegate(talk.id)
    answer = call(db, {"limit": 5}, current_session_id=current.id)
    assert [(r["session_id"], r["preview"]) for r in answer["results"]] == [(talk.id, "hello from cli")]


def test_a_conversation_found_by_its_title_alone_shows_its_start(db: SessionDB) -> None:
    """A title holds words that no message has; the conversation is found and shown all the same."""
    session = db.sessions.create(source="cli", title="quarterly zebra report")
    say(db, session.id, "numbers, please", "more numbers")
    answer = call(db, {"query": "zebra"})
    assert answer["results"][0]["session_id"] == session.id
    assert answer["results"][0]["bookend_start"][0]["content"] == "numbers, please"


@pytest.mark.parametrize(
    "arguments",
    [
        "not json",
        "[1]",
        {"limit": "many"},
        {"sort": "best"},
        {"query": 5},
        {"session_id": "nobody"},
        {"session_id": "x", "around_message_id": 99},
        {"profile": "../evil"},
        {"profile": "work"},
        {"colour": "red"},
    ],
)
def test_wrong_arguments_are_answered_in_words(db: SessionDB, arguments: Any) -> None:
    """The tool never raises: the answer is JSON that says what is wrong."""
    answer = call(db, arguments)
    assert answer["success"] is False
    assert answer["error"]


def test_models_send_numbers_as_text(db: SessionDB) -> None:
    """`"limit": "2"` and 2.0 mean 2; numbers out of bounds are held to them."""
    for _ in range(4):
        say(db, db.sessions.create(source="cli").id, "a heron")
    assert call(db, {"query": "heron", "limit": "2"})["count"] == 2
    assert call(db, '{"query": "heron", "limit": 2.0}')["count"] == 2
    assert call(db, {"query": "heron", "limit": 99})["count"] == 4


def test_another_profile_is_searched_read_only(tmp_path: Path) -> None:
    """`profile` and `profile/id` open that profile's store; a search of it finds things (the peer's never does)."""
    with SessionDB.open(tmp_path / "profiles" / "work" / "hermes_state.db") as other:
        session = other.sessions.create(source="cli")
        say(other, session.id, "the heron of work")
    with SessionDB.open(tmp_path / "hermes_state.db") as db:
        answer = call(db, {"query": "heron", "profile": "work"}, home=tmp_path)
        assert answer["count"] == 1
        read = call(db, {"session_id": f"work/{session.id}"}, home=tmp_path)
        assert read["messages"][0]["content"] == "the heron of work"


def test_any_text_survives_the_answer(db: SessionDB) -> None:
    """Lone surrogates, NUL and emoji come back as valid JSON that UTF-8 can carry."""
    session = db.sessions.create(source="cli")
    say(db, session.id, "heron \ud800 \0 👩‍👩‍👧 苍鹭")
    raw = SessionSearch(db).call({"query": "heron"})
    raw.encode()
    assert json.loads(raw)["results"][0]["messages"][0]["content"] == "heron \ud800 \0 👩‍👩‍👧 苍鹭"


def test_the_schema_names_every_argument() -> None:
    """The schema is what a provider takes: a function with described, closed parameters."""
    function = SCHEMA["function"]
    assert function["name"] == "session_search"
    assert function["parameters"]["additionalProperties"] is False
    assert {"query", "session_id", "around_message_id", "window"} <= function["parameters"]["properties"].keys()
