"""Session exports: ours and Hermes's are told apart, and Hermes's only ever adds."""

from __future__ import annotations

import io
import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from hermes_homes import START, Home

from hermes_state.check import check
from hermes_state.errors import FormatError, StoreUnavailable
from hermes_state.importers import ImportReport, import_file, import_hermes
from hermes_state.messages import ANY_STATE
from hermes_state.records import MessageState, Relation
from hermes_state.transfer import LoadReport, dump

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.store import SessionDB


def hermes_export(home: Home) -> str:
    """What `hermes sessions export` writes: whole rows, content and calls decoded, active messages only."""
    home.sql.row_factory = sqlite3.Row
    lines = []
    for session in home.sql.execute("SELECT * FROM sessions ORDER BY started_at DESC, id DESC"):
        said = [
            dict(row)
            for row in home.sql.execute(
                "SELECT * FROM messages WHERE session_id = ? AND active = 1 ORDER BY id", (session["id"],)
            )
        ]
        for row in said:
            if str(row["content"]).startswith("\0json:"):
                row["content"] = json.loads(row["content"][6:])
            if row["tool_calls"]:
                row["tool_calls"] = json.loads(row["tool_calls"])
        lines.append(json.dumps(dict(session) | {"last_active": START, "messages": said}))
    return "\n".join(lines) + "\n"


def from_text(db: SessionDB, tmp_path: Path, text: str | bytes) -> ImportReport:
    file = tmp_path / "export.jsonl"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    report = import_file(db, file)
    assert isinstance(report, ImportReport)
    return report


def texts(db: SessionDB, session_id: str) -> list[Any]:
    return [m.content for m in db.messages.list(session_id)]


def rich(home: Home) -> None:
    home.session("a", title="plan", ended_at=START + 50, end_reason="compression", input_tokens=5, model="m")
    home.session("b", parent_session_id="a", started_at=START + 60, session_key="k")
    home.session("c", parent_session_id="a", source="subagent", model_config={"_delegate_from": "a"})
    home.message("a", "archived", active=0, compacted=1)
    home.talk("a", "one", "two")
    home.message("a", "\0json:" + json.dumps([{"type": "text", "text": "three"}]))
    home.message("b", "four", platform_message_id="p")
    home.message("b", "", "assistant", tool_calls='[{"id": "x", "function": {"name": "ls"}}]')


def test_a_hermes_export_comes_in_with_its_lineage(db: SessionDB, home: Home, tmp_path: Path) -> None:
    rich(home)
    report = from_text(db, tmp_path, hermes_export(home))
    assert (report.kind, report.sessions_added, report.messages_added) == ("hermes-jsonl", 3, 5)
    assert not report.warnings
    assert texts(db, "a") == ["one", "two", [{"type": "text", "text": "three"}]]
    assert db.sessions.get("b").relation == Relation.COMPRESSION
    assert db.sessions.resume("a").id == "b"
    assert db.sessions.get("c").delegated
    assert db.sessions.get("b").extras == {"session_key": "k"}
    assert db.messages.list("b")[1].tool_calls == [{"id": "x", "function": {"name": "ls"}}]
    assert db.usage.of_session("a")[0].input_tokens == 5
    assert not check(db.engine, full=True).findings
    again = from_text(db, tmp_path, hermes_export(home))
    assert (again.sessions_unchanged, again.sessions_added, again.messages_added) == (3, 0, 0)


def test_new_messages_are_added_and_nothing_is_reverted(db: SessionDB, home: Home, tmp_path: Path) -> None:
    rich(home)
    old = hermes_export(home)
    from_text(db, tmp_path, old)
    home.talk("b", "five")
    report = from_text(db, tmp_path, hermes_export(home))
    assert (report.sessions_changed, report.messages_added) == (1, 1)
    assert texts(db, "b") == ["four", "", "five"]
    db.sessions.rename("a", "mine")
    report = from_text(db, tmp_path, old)
    assert (report.sessions_unchanged, report.messages_added) == (3, 0)
    assert db.sessions.get("a").title == "mine"
    assert texts(db, "b") == ["four", "", "five"]


def test_the_state_db_may_come_before_or_after_its_export(db: SessionDB, home: Home, tmp_path: Path) -> None:
    rich(home)
    from_text(db, tmp_path, hermes_export(home))
    report = import_hermes(db, home.folder)
    assert (report.sessions_added, report.messages_added) == (0, 1)
    assert not report.warnings
    said = [(m.content, m.state) for m in db.messages.list("a", states=ANY_STATE)]
    assert said[0] == ("archived", MessageState.COMPACTED)
    assert [text for text, _ in said[1:3]] == ["one", "two"]
    assert not check(db.engine, full=True).findings
    report = from_text(db, tmp_path, hermes_export(home))
    assert report.sessions_unchanged == 3
    assert not import_hermes(db, home.folder).changed_anything


def test_another_session_with_the_same_id_comes_in_beside_it(db: SessionDB, home: Home, tmp_path: Path) -> None:
    db.sessions.create("a", source="cli")
    db.messages.append("a", role="user", content="mine")
    rich(home)
    report = from_text(db, tmp_path, hermes_export(home))
    assert report.warning_counts == {"id_taken": 1}
    assert texts(db, "a") == ["mine"]
    again = from_text(db, tmp_path, hermes_export(home))
    assert (again.sessions_added, again.sessions_unchanged) == (0, 3)


def test_what_was_deleted_here_is_not_brought_back(db: SessionDB, home: Home, tmp_path: Path) -> None:
    rich(home)
    from_text(db, tmp_path, hermes_export(home))
    db.sessions.delete("b")
    report = from_text(db, tmp_path, hermes_export(home))
    assert report.sessions_deleted_here == 3  # the earlier segment and the delegate went with it
    assert db.sessions.find("b") is None


def test_a_broken_line_is_reported_with_its_number(db: SessionDB, home: Home, tmp_path: Path) -> None:
    rich(home)
    lines = hermes_export(home).encode().splitlines()
    bad = [
        lines[0],
        b"{oops",
        b'{"id": 5}',
        b'{"id": "m", "source": "x", "messages": [1, {"role": "user"}]}',
        *lines[1:],
    ]
    report = from_text(db, tmp_path, b"\n".join(bad))
    assert (report.sessions_added, report.sessions_failed) == (4, 2)
    assert [w.where for w in report.warnings if w.kind == "not_imported"] == ["line 2", "line 3"]
    assert report.warning_counts["bad_message"] == 1
    assert db.messages.count("m") == 1


def test_a_conversation_with_segments_is_taken_apart(db: SessionDB, home: Home, tmp_path: Path) -> None:
    rich(home)
    parts = [json.loads(line) for line in hermes_export(home).splitlines()]
    report = from_text(db, tmp_path, json.dumps(parts[0] | {"segments": parts}))
    assert report.sessions_added == 3


def test_our_own_export_is_told_by_its_header(db: SessionDB, home: Home, tmp_path: Path) -> None:
    home.session("a", title="plan")
    home.talk("a", "one")
    import_hermes(db, home.folder)
    out = io.StringIO()
    dump(db.engine, out)
    file = tmp_path / "ours.jsonl"
    file.write_text(out.getvalue())
    report = import_file(db, file)
    assert isinstance(report, LoadReport)
    assert report.sessions_equal == 1


@pytest.mark.parametrize("text", [b"", b"hello\n", b"[1]\n", b'{"a": 1}\n', b"\xff\xfe\n", b'{"id": "x"}\n'])
def test_what_is_neither_is_refused(db: SessionDB, tmp_path: Path, text: bytes) -> None:
    with pytest.raises(FormatError, match="neither"):
        from_text(db, tmp_path, text)
    with pytest.raises(StoreUnavailable, match="can't be read"):
        import_file(db, tmp_path / "missing.jsonl")
