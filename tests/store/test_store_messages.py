"""Messages: what goes in comes back equal, in order, and is never lost."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from message_strategies import UNKNOWN, any_text, messages

from hermes_state.errors import InvalidValue, MessageNotFound, SessionMoved, SessionNotFound
from hermes_state.records import Message, MessageState

if TYPE_CHECKING:
    from hermes_state.store import SessionDB

# One store for all examples of a test: each example takes a session of its own.
shared = settings(max_examples=80)
FIELDS = [f.name for f in dataclasses.fields(Message)]
PLACED = ("id", "session_id", "position", "created_at", "state", "extras")


def session(db: SessionDB) -> str:
    return db.sessions.create(source="cli").id


def assert_is(stored: Message, given_: dict[str, Any]) -> None:
    """The stored message has every field that was given, equal, and the defaults for the rest."""
    defaults = Message(id=1, session_id="", position=0, role="user", created_at=stored.created_at)
    for name in FIELDS:
        if name not in PLACED:
            value = given_.get(name)
            expected = getattr(defaults, name) if value is None else value
            assert getattr(stored, name) == expected, name
            assert type(getattr(stored, name)) is type(expected)
    unknown = {name: given_[name] for name in UNKNOWN if given_.get(name) is not None}
    assert stored.extras == {**given_.get("extras", {}), **unknown}
    if "created_at" in given_:
        assert stored.created_at == given_["created_at"]


@shared
@given(batch=st.lists(messages(), min_size=1, max_size=5))
def test_many_messages_come_back_equal(db: SessionDB, batch: list[dict[str, Any]]) -> None:
    """Any unicode, NUL, lone surrogates, multimodal parts, replay fields and unknown fields survive, in order."""
    target = session(db)
    returned = db.messages.append_many(target, batch)
    stored = db.messages.list(target)
    assert returned == stored
    assert [m.position for m in stored] == list(range(len(batch)))
    for message, given_ in zip(stored, batch, strict=True):
        assert_is(message, given_)
        assert db.messages.get(message.id) == message


@shared
@given(given_=messages())
def test_one_message_comes_back_equal(db: SessionDB, given_: dict[str, Any]) -> None:
    """The fast path of a single append stores the same, and returns what is stored."""
    known = {name: value for name, value in given_.items() if name not in UNKNOWN}
    returned = db.messages.append(session(db), **known)
    assert db.messages.get(returned.id) == returned
    assert_is(returned, known)


@shared
@given(batch=st.lists(messages(), max_size=4))
def test_a_copy_of_stored_messages_is_equal(db: SessionDB, batch: list[dict[str, Any]]) -> None:
    """Records read from one session and appended to another hold the same, but for their place."""
    first, second = session(db), session(db)
    originals = db.messages.append_many(first, batch)
    copies = db.messages.append_many(second, originals)
    for original, copy in zip(originals, copies, strict=True):
        assert dataclasses.replace(copy, id=original.id, session_id=first) == original


@pytest.mark.parametrize(
    "content",
    [
        *("ok \ud800 x", "a\x00b", "\udce7", "🎉🏽", "\U0010ffff", "", "\ufeffBOM", "x" * 1_000_000, "界" * 400_000),
        *([], {}, [{"type": "text", "text": "\ud83d"}], 0, False, 1.5),
    ],
    ids=lambda content: repr(content)[:20],
)
def test_difficult_content_is_stored(db: SessionDB, content: Any) -> None:
    """B037: stored as it was said, whatever it was, and what comes after is stored too."""
    target = session(db)
    db.messages.append(target, role="tool", content=content)
    db.messages.append(target, role="user", content="after")
    assert [m.content for m in db.messages.list(target)] == [content, "after"]


def test_lone_surrogates_in_every_field_do_no_harm(db: SessionDB) -> None:
    """B037: in tool arguments and reasoning they come back equal; in names, which are compared, they become U+FFFD."""
    calls = [{"id": "c\udce7", "function": {"name": "f", "arguments": {"a": "\udce7"}}}]
    stored = db.messages.append(
        session(db),
        role="assistant",
        tool_calls=calls,
        reasoning="\ud800",
        tool_name="t\ud800",
        tool_call_id="i\ud800",
        platform_message_id="p\ud800",
        extras={"\ud800": "\ud800"},
    )
    assert stored == db.messages.get(stored.id)
    assert (stored.tool_calls, stored.reasoning, stored.extras) == (calls, "\ud800", {"\ud800": "\ud800"})
    assert (stored.tool_name, stored.tool_call_id, stored.platform_message_id) == ("t\ufffd", "i\ufffd", "p\ufffd")
    json.dumps(stored.extras).encode()


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"role": "user", "content": b"bytes"}, "content"),
        ({"role": "user", "content": object()}, "content"),
        ({"role": "user", "tool_calls": [{1, 2}]}, "tool_calls"),
        ({"role": "user", "mood": b"x"}, "details"),
        ({"role": "user", "extras": ["x"]}, "extras"),
        ({"role": "user", "state": 7}, "state"),
        ({"role": "user", "state": [1]}, "state"),
        ({"role": "user", "created_at": "2026-01-01"}, "created_at"),
        ({"role": "user", "created_at": dt.datetime(2026, 1, 1)}, "time zone"),  # noqa: DTZ001
        ({"role": ""}, "role"),
        ({"role": "\0"}, "role"),
        ({"role": 5}, "role"),
        ({"content": "x"}, "role"),
    ],
    ids=repr,
)
def test_what_can_not_be_stored_is_refused_and_nothing_is_written(
    db: SessionDB, fields: dict[str, Any], told: str
) -> None:
    """The error says which field, and of a batch not even the good messages are stored."""
    target = session(db)
    with pytest.raises(InvalidValue, match=told):
        db.messages.append_many(target, [{"role": "user", "content": "good"}, fields])
    assert db.messages.count(target) == 0


def test_nesting_that_a_reader_could_not_parse_is_refused(db: SessionDB) -> None:
    """A thousand lists in each other would make the whole session unreadable; 150 are fine."""
    deep: list[Any] = []
    for _ in range(150):
        deep = [deep]
    target = session(db)
    assert db.messages.append(target, role="user", content=deep).content == deep
    for _ in range(850):
        deep = [deep]
    with pytest.raises(InvalidValue, match=r"nested|stored"):
        db.messages.append(target, role="user", content=deep)
    many = [[[]]] * 500  # many brackets are no depth
    assert db.messages.append(target, role="user", content=many).content == many


def test_order_is_of_insertion_whatever_the_clock_says(db: SessionDB) -> None:
    """B034: equal times and a clock that goes backwards change nothing in list, window and history."""
    target = session(db)
    instant = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    for n in range(20):
        db.messages.append(target, role="user", content=str(n), created_at=instant - dt.timedelta(seconds=n // 2))
    expected = [str(n) for n in range(20)]
    anchor = db.messages.list(target)[10].id
    for _ in range(5):
        assert [m.content for m in db.messages.list(target)] == expected
        assert [m.content for m in db.messages.history(target)] == expected
        assert [m.content for m in db.messages.window(target, anchor, before=99, after=99).messages] == expected
        assert [m.content for m in db.messages.list(target, newest_first=True)] == expected[::-1]


# --- one message or two -----------------------------------------------------------------------------------------


def test_the_same_platform_id_is_the_same_message(db: SessionDB) -> None:
    """B023: a redelivery returns the stored message, one by one and in a batch, within the batch too."""
    target = session(db)
    first = db.messages.append(target, role="user", content="hi", platform_message_id="m1")
    assert db.messages.append(target, role="user", content="hi again", platform_message_id="m1") == first
    batch = [{"role": "user", "content": text, "platform_message_id": key} for text, key in ("am", "bn", "cn")]
    for message in batch:
        message["platform_message_id"] = {"m": "m1", "n": "n"}[message["platform_message_id"]]
    stored = db.messages.append_many(target, batch)
    assert [m.content for m in stored] == ["hi", "b", "b"]
    assert db.messages.count(target) == 2


def test_equal_texts_without_a_key_are_two_messages(db: SessionDB) -> None:
    """B023: people do say "ok" twice; an empty platform id is no key, and another session has its own keys."""
    target, other = session(db), session(db)
    for _ in range(2):
        db.messages.append(target, role="user", content="ok")
        db.messages.append(target, role="user", content="ok", platform_message_id="")
    db.messages.append(target, role="user", content="x", platform_message_id="m")
    db.messages.append(other, role="user", content="y", platform_message_id="m")
    assert (db.messages.count(target), db.messages.count(other)) == (5, 1)


def test_a_message_that_was_taken_back_can_be_said_again(db: SessionDB) -> None:
    """An edited message comes with the platform id of the one it replaces: it is stored, the old one stays hidden."""
    target = session(db)
    first = db.messages.append(target, role="user", content="old", platform_message_id="m")
    db.messages.rewind(target, last=1)
    again = db.messages.append(target, role="user", content="new", platform_message_id="m")
    assert again.id != first.id
    assert again.platform_message_id == "m"
    assert [m.content for m in db.messages.list(target)] == ["new"]
    assert [m.content for m in db.messages.undo_rewind(target)] == ["old"]
    assert [m.content for m in db.messages.list(target)] == ["old", "new"]
    assert db.messages.append(target, role="user", content="later", platform_message_id="m") == again


def test_undoing_a_rewind_brings_platform_ids_back(db: SessionDB) -> None:
    """When nobody took the id meanwhile, a replaced message has it again after the undo."""
    target = session(db)
    db.messages.append(target, role="user", content="a", platform_message_id="m")
    db.messages.replace(target, [])
    (back,) = db.messages.undo_rewind(target)
    assert back.platform_message_id == "m"


# --- where it may be written ------------------------------------------------------------------------------------


@pytest.mark.parametrize("ref", ["nothing", "", "x" * 9])
def test_appending_to_no_session_is_an_error(db: SessionDB, ref: str) -> None:
    """B022: it never returns success without a row."""
    with pytest.raises(SessionNotFound):
        db.messages.append(ref, role="user", content="x")
    with pytest.raises(SessionNotFound):
        db.messages.append_many(ref, [{"role": "user", "content": "x"}])
    assert db.messages.count() == 0


def test_an_unstorable_session_id_is_an_error(db: SessionDB) -> None:
    """A lone surrogate in the id is told, not a Unicode error of the driver."""
    with pytest.raises(InvalidValue, match="surrogate"):
        db.messages.append("\ud800", role="user", content="x")
    with pytest.raises(SessionNotFound):
        db.messages.list("\ud800")


def test_a_compressed_session_names_its_successor(db: SessionDB) -> None:
    """B061: with a live child a write is refused with the id to use instead."""
    target = session(db)
    child = db.lineage.rotate(target, [{"role": "user", "content": "summary"}]).child
    for write in (
        lambda: db.messages.append(target, role="user", content="x"),
        lambda: db.messages.append_many(target, [{"role": "user", "content": "x"}]),
        lambda: db.messages.compact(target, [{"role": "user", "content": "x"}]),
        lambda: db.messages.replace(target, [{"role": "user", "content": "x"}]),
    ):
        with pytest.raises(SessionMoved) as moved:
            write()
        assert moved.value.tip == child.id
    assert db.messages.count(target) == 0


def test_a_tool_result_gets_the_name_of_its_call(db: SessionDB) -> None:
    """B056: the name stands in the call only; one by one, and in a batch with the call in it."""
    target = session(db)
    call = [{"id": "c1", "type": "function", "function": {"name": "web_search", "arguments": "{}"}}]
    db.messages.append(target, role="assistant", tool_calls=call)
    assert db.messages.append(target, role="tool", tool_call_id="c1", content="r").tool_name == "web_search"
    batch = [{"role": "assistant", "tool_calls": call}, {"role": "tool", "tool_call_id": "c1", "content": "r"}]
    assert db.messages.append_many(target, batch)[1].tool_name == "web_search"
    assert db.messages.append(target, role="tool", tool_call_id="none", content="r").tool_name is None


# --- reading ----------------------------------------------------------------------------------------------------


def test_a_window_counts_what_lies_beyond_it(db: SessionDB) -> None:
    """Rewound messages are neither shown nor counted, compacted ones are, wherever the anchor is."""
    target = session(db)
    db.messages.append_many(target, [{"role": "user", "content": str(n)} for n in range(30)])
    db.messages.compact(target, [{"role": "user", "content": "sum"}], keep_last=10)
    db.messages.rewind(target, last=4)
    everything = db.messages.list(target, states=(MessageState.ACTIVE, MessageState.COMPACTED))
    for place, anchor in enumerate(everything):
        window = db.messages.window(target, anchor.id, before=3, after=2)
        assert [m.id for m in window.messages] == [m.id for m in everything[max(place - 3, 0) : place + 3]]
        assert window.before == max(place - 3, 0)
        assert window.after == max(len(everything) - place - 3, 0)


def test_a_window_around_a_rewound_message_shows_it_once(db: SessionDB) -> None:
    """The anchor is shown, whatever its state; its rewound neighbours are not."""
    target = session(db)
    ids = [m.id for m in db.messages.append_many(target, [{"role": "user", "content": str(n)} for n in range(5)])]
    db.messages.rewind(target, to_message_id=ids[2])
    window = db.messages.window(target, ids[3])
    assert [m.id for m in window.messages] == [ids[0], ids[1], ids[3]]
    assert (window.before, window.after) == (0, 0)


def test_a_message_of_another_session_is_no_anchor(db: SessionDB) -> None:
    """Ids are unique in the store, so a wrong pair is told apart from an empty window."""
    target, other = session(db), session(db)
    message = db.messages.append(other, role="user", content="x")
    for attempt in (
        lambda: db.messages.window(target, message.id),
        lambda: db.messages.rewind(target, to_message_id=message.id),
        lambda: db.lineage.branch(target, up_to_message_id=message.id),
        lambda: db.messages.get(10**12),
    ):
        with pytest.raises(MessageNotFound):
            attempt()


# --- taking back ------------------------------------------------------------------------------------------------


def test_concurrent_undo_takes_each_message_once(db: SessionDB) -> None:
    """B035: 40 threads that take the last message back get 40 different ones and nothing is left."""
    target = session(db)
    db.messages.append_many(target, [{"role": "user", "content": str(n)} for n in range(40)])
    taken: list[int] = []

    def take() -> None:
        taken.extend(message.id for message in db.messages.rewind(target, last=1).messages)

    threads = [threading.Thread(target=take) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(taken)) == len(taken) == 40
    assert db.messages.count(target) == db.sessions.get(target).message_count == 0
    assert db.sessions.get(target).rewind_count == 40


def test_undo_brings_back_the_newest_rewind_only(db: SessionDB) -> None:
    """Two rewinds are undone one by one, the newer first; what was said since stays, after it."""
    target = session(db)
    db.messages.append_many(target, [{"role": "user", "content": c} for c in "abcd"])
    db.messages.rewind(target, last=1)
    db.messages.rewind(target, last=2)
    db.messages.append(target, role="user", content="e")
    assert [m.content for m in db.messages.undo_rewind(target)] == ["b", "c"]
    assert [m.content for m in db.messages.list(target)] == ["a", "b", "c", "e"]
    assert [m.content for m in db.messages.undo_rewind(target)] == ["d"]
    assert db.messages.undo_rewind(target) == []
    assert [m.content for m in db.messages.list(target)] == ["a", "b", "c", "d", "e"]
    assert db.sessions.get(target).message_count == 5


def test_a_rewind_needs_to_know_how_far(db: SessionDB) -> None:
    """Neither or both of the two ways to say it are refused; more than there is takes all; none or fewer takes none."""
    target = session(db)
    message = db.messages.append(target, role="user", content="x")
    for wrong in ({}, {"last": 1, "to_message_id": message.id}):
        with pytest.raises(InvalidValue):
            db.messages.rewind(target, **wrong)
    for nothing in (0, -3):
        assert db.messages.rewind(target, last=nothing).messages == ()
    assert len(db.messages.rewind(target, last=99).messages) == 1
    assert db.sessions.get(target).rewind_count == 1


def test_compacting_keeps_the_newest_as_they_are(db: SessionDB) -> None:
    """The summary stands before the kept messages, which keep their ids; what it stands for can still be read."""
    target = session(db)
    ids = [m.id for m in db.messages.append_many(target, [{"role": "user", "content": c} for c in "abcd"])]
    (summary,) = db.messages.compact(target, [{"role": "user", "content": "a and b"}], keep_last=2)
    assert [m.id for m in db.messages.list(target)] == [summary.id, *ids[2:]]
    assert [m.content for m in db.messages.history(target)] == ["a", "b", "a and b", "c", "d"]
    db.messages.compact(target, [{"role": "user", "content": "all"}])
    assert [m.content for m in db.messages.list(target)] == ["all"]
    assert db.messages.count(target, states=(MessageState.COMPACTED,)) == 5
    assert db.sessions.get(target).message_count == 1


def test_keeping_more_than_there_is_keeps_all(db: SessionDB) -> None:
    """The summary goes before everything and nothing is archived."""
    target = session(db)
    db.messages.append_many(target, [{"role": "user", "content": c} for c in "ab"])
    db.messages.compact(target, [{"role": "user", "content": "sum"}], keep_last=3)
    assert [m.content for m in db.messages.list(target)] == ["sum", "a", "b"]


NOTHING = [None, "", " \n", [], {}, [{"type": "text", "text": " "}], ["", None]]


@pytest.mark.parametrize("summary", [[], *([{"role": "user", "content": content}] for content in NOTHING)])
def test_an_empty_summary_compacts_nothing(db: SessionDB, summary: list[dict[str, Any]]) -> None:
    """B064: a summariser that failed loses no message, in place or by rotation."""
    target = session(db)
    db.messages.append(target, role="user", content="x")
    with pytest.raises(InvalidValue):
        db.messages.compact(target, summary)
    with pytest.raises(InvalidValue):
        db.lineage.rotate(target, summary)
    db.messages.append(target, role="user", content="goes on")
    assert [m.content for m in db.messages.list(target)] == ["x", "goes on"]
    assert db.sessions.get(target).ended_at is None


def test_replacing_keeps_an_equal_start(db: SessionDB) -> None:
    """Messages that both transcripts start with keep their ids; archives stay; the rest can be undone."""
    target = session(db)
    db.messages.append_many(target, [{"role": "user", "content": c} for c in "ab"])
    db.messages.compact(target, [{"role": "user", "content": "sum"}])
    old = db.messages.append_many(target, [{"role": "user", "content": c} for c in "cde"])
    kept = db.messages.list(target)[:2]
    new = [{"role": "user", "content": c} for c in ("sum", "c", "x")]
    replaced = db.messages.replace(target, new)
    assert [m.content for m in replaced] == ["sum", "c", "x"]
    assert [m.id for m in replaced[:2]] == [m.id for m in kept]
    assert replaced == db.messages.list(target)
    assert db.messages.count(target, states=(MessageState.COMPACTED,)) == 2
    assert db.messages.count(target, states=(MessageState.REWOUND,)) == len(old) - 1
    assert db.sessions.get(target).message_count == 3


def test_a_long_text_is_no_difference_to_replace(db: SessionDB) -> None:
    """Texts that are stored packed compare equal like any other."""
    target = session(db)
    long = {"role": "tool", "content": "log line\n" * 1000}
    (stored,) = db.messages.append_many(target, [long])
    assert [m.id for m in db.messages.replace(target, [long])] == [stored.id]


@shared
@given(text=any_text)
def test_the_session_row_counts_any_message(db: SessionDB, text: str) -> None:
    """Counters follow each single append at once, tool calls included."""
    target = session(db)
    db.messages.append(target, role="assistant", content=text, tool_calls=[{"id": "1"}, {"id": "2"}])
    counted = db.sessions.get(target)
    assert (counted.message_count, counted.tool_call_count) == (1, 2)


def test_what_is_known_of_a_message_later_is_added_and_what_it_says_stays(db: SessionDB) -> None:
    session = db.sessions.create(source="cli").id
    said = db.messages.append(session, role="user", content="升级 redis \ud800", token_count=7, extras={"a": 1})
    amended = db.messages.amend(said.id, api_content=[{"type": "text", "text": "升级 redis + recall"}], extras={"b": 2})
    assert amended == db.messages.get(said.id)
    assert (amended.content, amended.token_count, dict(amended.extras)) == (said.content, 7, {"a": 1, "b": 2})
    assert amended.api_content == [{"type": "text", "text": "升级 redis + recall"}]
    assert (amended.position, amended.created_at) == (said.position, said.created_at)
    assert db.messages.amend(said.id, extras={"a": 3}).extras["a"] == 3
    with pytest.raises(MessageNotFound):
        db.messages.amend(said.id + 1_000_000, extras={})
