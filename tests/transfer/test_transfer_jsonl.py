"""JSON Lines: out, in and out again is equal; what is here already is never overwritten; every problem has its line."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
import store_strategies as make
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_state.check import check
from hermes_state.errors import FormatError, PartialSuccess, SessionNotFound
from hermes_state.listing import SessionFilter
from hermes_state.messages import ANY_STATE
from hermes_state.records import MessageState, Relation
from hermes_state.store import SessionDB
from hermes_state.transfer import LoadReport, Selection, dump, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def exported(db: SessionDB, selection: Selection | None = None, *, redact: bool = False) -> str:
    out = io.StringIO()
    dump(db.engine, out, selection or Selection(), redact=redact)
    return out.getvalue()


def imported(db: SessionDB, text: str | bytes) -> LoadReport:
    return load(db.engine, io.BytesIO(text.encode() if isinstance(text, str) else text))


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def with_lines(text: str, change: Callable[[list[dict[str, Any]]], Any]) -> str:
    found = lines(text)
    change(found)
    return "".join(json.dumps(line) + "\n" for line in found)


def is_sound(db: SessionDB) -> bool:
    return not check(db.engine, full=True).findings


def small(db: SessionDB) -> str:
    """A store with two sessions; its export."""
    db.sessions.create("a", source="cli", title="plan", system_prompt="be kind")
    db.messages.append_many("a", [{"role": "user", "content": f"m{n}"} for n in range(3)])
    db.sessions.create("b", source="cli")
    db.messages.append("b", role="user", content="hello")
    return exported(db)


@settings(max_examples=40)
@given(st.lists(make.session, max_size=4), make.acts)
def test_out_in_and_out_again_is_equal(tmp_path_factory: Any, sessions: list[Any], history: list[Any]) -> None:
    folder = tmp_path_factory.mktemp("stores")
    with SessionDB.open(folder / "a.db", synchronous="NORMAL") as db:
        make.fill(db, sessions, history)
        first = exported(db)
    with SessionDB.open(folder / "b.db", synchronous="NORMAL") as other:
        report = imported(other, first)
        assert not report.problems
        assert not report.conflicts
        assert exported(other) == first
        assert is_sound(other)
        again = imported(other, first)
        assert (again.sessions_added, again.conflicts, again.problems) == (0, (), ())
        assert exported(other) == first


def test_a_whole_conversation_comes_back_as_it_was(db: SessionDB, other: SessionDB) -> None:
    root = db.sessions.create("root", source="cli", title="plan", started_at=None)
    db.messages.append_many(root.id, [{"role": "user", "content": "一"}, {"role": "assistant", "content": "\ud800\0"}])
    db.messages.compact(root.id, [{"role": "user", "content": "summary"}])
    tip = db.lineage.rotate(root.id, [{"role": "user", "content": "more"}]).child
    db.messages.append(tip.id, role="user", content="oops")
    db.messages.rewind(tip.id, last=1)
    worker = db.lineage.delegate(tip.id)
    db.sessions.archive(tip.id)
    imported(other, exported(db))
    assert other.sessions.resume("root").id == tip.id
    assert [m.content for m in other.messages.history(tip.id)] == ["一", "\ud800\0", "summary", "more"]
    assert other.messages.count("root", states=(MessageState.COMPACTED,)) == 2
    assert [m.content for m in other.messages.undo_rewind(tip.id)] == ["oops"]
    assert other.sessions.get(worker.id).relation == Relation.DELEGATE
    assert other.sessions.get(worker.id).delegated
    assert other.sessions.get("root").archived
    assert is_sound(other)


def test_the_parent_may_come_later_or_in_another_file(db: SessionDB, other: SessionDB) -> None:
    root = db.sessions.create("root", source="cli")
    db.messages.append(root.id, role="user", content="x")
    tip = db.lineage.rotate(root.id, [{"role": "user", "content": "y"}]).child
    only = Selection(ids=[tip.id], whole_conversations=False)
    part = exported(db, only)
    report = imported(other, part)
    assert report.unlinked == ((tip.id, "root"),)
    assert exported(other, only) == part
    imported(other, exported(db, Selection(ids=["root"], whole_conversations=False)))
    assert other.sessions.resume("root").id == tip.id
    assert lines(exported(other)) == lines(exported(db))
    assert is_sound(other)


def test_equal_sessions_are_skipped_and_different_ones_left_alone(db: SessionDB, other: SessionDB) -> None:
    text = small(db)
    imported(other, text)
    other.messages.append("a", role="user", content="said there")
    other.sessions.update("b", cwd="/there")
    before = exported(other)
    report = imported(other, text)
    assert (report.sessions_added, report.sessions_equal) == (0, 0)
    assert [(c.session_id, c.line, c.what) for c in report.conflicts] == [
        ("a", 3, "session a has more messages here"),
        ("b", 7, "session b is here with another cwd"),
    ]
    assert exported(other) == before
    with pytest.raises(PartialSuccess, match="2 are not"):
        report.raise_for_problems()


def test_a_difference_is_named(db: SessionDB, other: SessionDB) -> None:
    text = small(db)
    imported(other, text)
    changed = with_lines(text, lambda found: found[3].update(content="other words"))
    assert "another content" in imported(other, changed).conflicts[0].what

    def fewer(found: list[dict[str, Any]]) -> None:
        del found[5]
        found[2]["messages"] = 2

    assert "more messages here" in imported(other, with_lines(text, fewer)).conflicts[0].what


def test_a_title_that_is_taken_gets_a_number_and_is_still_the_same_session(db: SessionDB, other: SessionDB) -> None:
    other.sessions.create("mine", source="cli", title="plan")
    text = small(db)
    report = imported(other, text)
    assert report.retitled == (("a", "plan #2"),)
    again = imported(other, text)
    assert (again.sessions_equal, again.conflicts) == (2, ())


@pytest.mark.parametrize(
    ("line", "broken", "what"),
    [
        (3, b"{oops", "not JSON"),
        (3, b'{"type": "message"}', "is not a time"),
        (3, b'{"type": "wish"}', "'wish' is not known"),
        (3, b'{"type": "message", "position": -1, "role": "user", "created_at": "2026-01-01"}', "position is -1"),
        (3, b'{"type": "message", "position": 0, "role": "", "created_at": "2026-01-01"}', "needs a role"),
        (3, b'{"type": "message", "position": 9, "role": "u", "created_at": "2026-01-01", "state": "lost"}', "state"),
        (3, b'"\xff"', "not UTF-8 at byte 1"),
        (3, b"[" * 100_000, "not JSON"),
        (2, b'{"type": "session", "id": "a\\u0000", "source": "cli", "messages": 3}', "control characters"),
        (2, b'{"type": "session", "id": 7, "source": "cli", "messages": 3}', "non-empty string"),
        (2, b'{"type": "session", "id": "../../x", "source": "", "messages": 3}', "source"),
        (2, b'{"type": "session", "id": "x", "source": "cli", "started_at": "soon", "messages": 3}', "not a time"),
        (2, b'{"type": "session", "id": "x", "source": "cli", "relation": "twin", "messages": 3}', "no relation"),
    ],
)
def test_a_broken_line_costs_its_session_and_no_other(
    db: SessionDB, other: SessionDB, line: int, broken: bytes, what: str
) -> None:
    raw = small(db).encode().splitlines()
    raw[line] = broken
    report = imported(other, b"\n".join(raw))
    assert make.all_ids(other) == ["b"]
    problem = report.problems[0]
    assert what in problem.what
    assert problem.hint
    assert problem.line == line + 1
    assert is_sound(other)


def test_lost_lines_are_noticed(db: SessionDB, other: SessionDB) -> None:
    raw = small(db).encode().splitlines(keepends=True)
    report = imported(other, b"".join(raw[:5]))
    assert make.all_ids(other) == []
    assert [p.what for p in report.problems] == [
        "the session should have 3 messages and has 2: lines were lost or added",
        "the file ends before its closing line: it was cut off",
    ]
    report = imported(other, b"".join(raw[:6] + raw[8:]))
    assert make.all_ids(other) == ["a"]
    assert "2 sessions, and 1 were found" in report.problems[0].what


@pytest.mark.parametrize("percent", range(0, 101, 4))
def test_a_file_cut_anywhere_leaves_whole_sessions(tmp_path: Path, percent: int) -> None:
    with SessionDB.open(tmp_path / "a.db", synchronous="NORMAL") as db:
        whole = small(db).encode()
    raw = whole[: len(whole) * percent // 100]
    with SessionDB.open(tmp_path / "b.db", synchronous="NORMAL") as other:
        try:
            report = imported(other, raw)
        except FormatError:
            assert make.all_ids(other) == []
            return
        counts = {i: other.sessions.get(i).message_count for i in make.all_ids(other)}
        assert counts in ({}, {"a": 3}, {"a": 3, "b": 1})
        assert bool(report.problems) == (raw != whole)


@pytest.mark.parametrize(
    "text",
    ["", "\n", "hello", "[]", '{"type":"header","format":"other","version":1}', '{"id": "x", "messages": []}'],
)
def test_what_is_no_export_is_refused(db: SessionDB, text: str) -> None:
    with pytest.raises(FormatError, match="not the header"):
        imported(db, text)


def test_a_newer_export_is_refused_by_its_version(db: SessionDB) -> None:
    with pytest.raises(FormatError, match="version 99"):
        imported(db, '{"type":"header","format":"hermes-state-sessions","version":99}')


def test_a_byte_order_mark_and_empty_lines_are_no_matter(db: SessionDB, other: SessionDB) -> None:
    raw = b"\xef\xbb\xbf" + small(db).encode().replace(b"\n", b"\r\n\r\n")
    assert not imported(other, raw).problems
    assert make.all_ids(other) == ["a", "b"]


def test_hand_made_files_are_taken(other: SessionDB) -> None:
    text = """{"type": "header", "format": "hermes-state-sessions", "version": 1}
{"type": "session", "id": "x", "source": "notes", "started_at": "2026-01-02", "messages": 2, "title": "By hand"}
{"type": "message", "position": 0, "role": "user", "created_at": "2026-01-02T10:00:00Z", "content": "hi", "mood": "ok"}
{"type": "message", "position": 5, "role": "assistant", "created_at": "2026-01-02T10:00:01+02:00", "content": "ho"}
{"type": "end", "sessions": 1, "messages": 2}
"""
    assert not imported(other, text).problems
    first, second = other.messages.list("x")
    assert (first.extras, second.position) == ({"mood": "ok"}, 5)
    assert other.messages.append("x", role="user", content="next").position == 6


def test_selections_take_what_they_say(db: SessionDB) -> None:
    root = db.sessions.create("root", source="cli")
    db.messages.append(root.id, role="user", content="x")
    tip = db.lineage.rotate(root.id, [{"role": "user", "content": "y"}]).child
    worker = db.lineage.delegate(tip.id)
    db.sessions.create("chat", source="telegram")
    db.sessions.archive("chat")

    def ids(selection: Selection) -> set[str]:
        return {line["id"] for line in lines(exported(db, selection)) if line["type"] == "session"}

    assert ids(Selection()) == {"root", tip.id, worker.id, "chat"}
    assert ids(Selection(wanted=SessionFilter())) == {"root", tip.id}
    assert ids(Selection(wanted=SessionFilter(), whole_conversations=False)) == {tip.id}
    assert ids(Selection(wanted=SessionFilter(sources=["telegram"], archived=None))) == {"chat"}
    assert ids(Selection(ids=["root"])) == {"root", tip.id}
    assert ids(Selection(ids=["root"], whole_conversations=False)) == {"root"}
    with pytest.raises(SessionNotFound, match="nobody"):
        ids(Selection(ids=["root", "nobody"]))


def test_redacted_exports_have_no_secret_and_are_whole_otherwise(db: SessionDB, other: SessionDB) -> None:
    secret = "sk-test-ABCDEF0123456789abcdef"
    db.sessions.create("s", source="cli", title=f"about {secret}", system_prompt=f"key {secret}",
                       model_config={"api_key": secret})  # fmt: skip
    calls = [{"id": "c", "function": {"name": "curl", "arguments": json.dumps({"header": f"Bearer {secret}"})}}]
    db.messages.append(
        "s", role="user", content=f"my key is {secret} for the zebra", tool_calls=calls, reasoning=secret
    )
    text = exported(db, redact=True)
    assert secret not in text
    assert "for the zebra" in text
    out = io.StringIO()
    assert dump(db.engine, out, redact=True).redacted == 6
    assert not imported(other, text).problems
    assert secret in exported(db)


def test_a_huge_session_goes_in_pages(db: SessionDB, other: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    db.sessions.create("s", source="cli")
    db.messages.append_many("s", [{"role": "user", "content": f"m{n}"} for n in range(1234)])
    db.sessions.create("t", source="cli")
    text = exported(db)
    report = imported(other, text)
    assert report.messages_added == 1234
    assert exported(other) == text
    assert len(other.messages.list("s", states=ANY_STATE)) == 1234
    assert other.sessions.get("s").message_count == 1234


def test_routes_come_with_everything_and_those_here_stay(db: SessionDB, other: SessionDB) -> None:
    small(db)
    db.routes.set("k1", "a", entry={"n": 1})
    db.routes.set("k2", "b", scope="s")
    other.routes.set("k1", entry={"mine": True})
    imported(other, exported(db))
    assert other.routes.get("k1").entry == {"mine": True}  # type: ignore[union-attr]
    assert other.routes.get("k2", scope="s").session_id == "b"  # type: ignore[union-attr]
    assert '"route"' not in exported(db, Selection(ids=["a"]))
