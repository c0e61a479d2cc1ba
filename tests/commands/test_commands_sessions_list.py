"""`sessions list`: the shape others build on, the filters, and what people see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hermes_state import SessionDB

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Call

# The names that the contract fixes; more are welcome.
FIXED = {
    "id", "title", "source", "model", "started_at", "last_active_at", "message_count", "parent_id", "relation",
    "archived", "preview",
}  # fmt: skip


def titles(call: Call, *args: str) -> set[str]:
    return {s["title"] or s["preview"] for s in call("sessions", "list", "--json", *args).json["sessions"]}


def test_json_has_the_fixed_shape(call: Call, store: dict[str, str]) -> None:
    """One document; every row has the fixed names, with times in UTC."""
    answer = call("sessions", "list", "--json")
    assert answer.exit_code == 0
    assert answer.stderr == ""
    assert answer.json["total"] == 3
    newest = answer.json["sessions"][0]
    assert newest.keys() >= FIXED
    assert newest["id"] == store["report"]
    assert newest["started_at"] == "2026-01-03T09:00:00.000000Z"
    assert newest["preview"] == "この設定ファイルは古い"
    assert newest["archived"] is False
    assert newest["message_count"] == 1


def test_a_conversation_stands_there_once(call: Call, store: dict[str, str], home: Path) -> None:
    """Compression, a branch and a sub-agent: two rows more at most, and `--all` has every one."""
    with SessionDB.open(home=home) as db:
        tip = db.lineage.rotate(store["deploy"], [{"role": "user", "content": "summary"}]).child
        branch = db.lineage.branch(tip.id)
        db.lineage.delegate(tip.id)
    shown = [s["id"] for s in call("sessions", "list", "--json").json["sessions"]]
    assert set(shown) == {tip.id, branch.id, store["arabic"], store["report"]}
    everything = call("sessions", "list", "--all", "--json").json["sessions"]
    assert len(everything) == 6
    assert {s["relation"] for s in everything} == {None, "compression", "branch", "delegate"}


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("--source", "telegram"), {"مرحبا، كيف حال الخادم db-07 اليوم؟"}),
        (("--source", "telegram", "--source", "cron"), {"مرحبا، كيف حال الخادم db-07 اليوم؟", "日次レポート"}),
        (("--title", "REDIS"), {"redis deploy"}),
        (("--title", "レポ"), {"日次レポート"}),
        (("--model", "glm"), {"redis deploy", "مرحبا، كيف حال الخادم db-07 اليوم؟", "日次レポート"}),
        (("--after", "2026-01-03"), {"日次レポート"}),
        (("--before", "2026-01-02"), {"redis deploy"}),
        (("--started-after", "2026-01-02", "--started-before", "2026-01-03"), {"مرحبا، كيف حال الخادم db-07 اليوم؟"}),
        (("--min-messages", "2", "--max-messages", "2"), {"redis deploy", "مرحبا، كيف حال الخادم db-07 اليوم؟"}),
        (("--ended",), set()),
        (("--archived",), set()),
        (("--after", "1h"), set()),
    ],
)
def test_each_filter_gives_what_filtering_by_hand_gives(
    call: Call, store: dict[str, str], args: tuple[str, ...], expected: set[str]
) -> None:
    """B020: open, renamed and untitled ones included."""
    assert titles(call, *args) == expected


def test_archived_ones_are_hidden_until_asked_for(call: Call, store: dict[str, str]) -> None:
    assert call("sessions", "archive", store["deploy"]).exit_code == 0
    assert "redis deploy" not in titles(call)
    assert titles(call, "--archived") == {"redis deploy"}
    assert "redis deploy" in titles(call, "--all")


def test_jsonl_streams_a_session_a_line(call: Call, store: dict[str, str]) -> None:
    lines = call("sessions", "list", "--jsonl", "--order", "oldest").stdout.splitlines()
    assert len(lines) == 3
    assert store["deploy"] in lines[0]


def test_pages_follow_each_other_and_say_what_is_left(call: Call, store: dict[str, str]) -> None:
    first = call("sessions", "list", "--limit", "2")
    rest = call("sessions", "list", "--limit", "2", "--offset", "2")
    assert "2 of 3 conversations" in first.stderr
    assert store["deploy"] in rest.stdout
    assert store["deploy"] not in first.stdout
    assert rest.stderr == ""


def test_people_see_a_row_a_conversation_in_any_script(call: Call, store: dict[str, str]) -> None:
    """Words have a heading; nothing is cut in a pipe."""
    shown = call("sessions", "list").stdout.splitlines()
    assert shown[0].split() == ["ID", "ACTIVE", "MSGS", "SOURCE", "MODEL", "TITLE"]
    assert shown[1].endswith("日次レポート")
    assert shown[2].endswith("مرحبا، كيف حال الخادم db-07 اليوم؟")


def test_nothing_that_fits_is_said_and_is_no_error(call: Call, store: dict[str, str]) -> None:
    answer = call("sessions", "list", "--source", "nowhere")
    assert (answer.exit_code, answer.stdout) == (0, "")
    assert "no conversation fits" in answer.stderr


def test_a_wrong_date_is_a_usage_error_that_shows_the_forms(call: Call, store: dict[str, str]) -> None:
    answer = call("sessions", "list", "--after", "soon")
    assert answer.exit_code == 2
    assert "2026-01-31" in answer.stderr


def test_a_folder_may_be_this_one_or_one_of_another_machine(
    call: Call, home: Path, store: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project" / "src").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    with SessionDB.open(home=home) as db:
        here = db.sessions.create(source="cli", cwd=str(tmp_path / "project" / "src"))
        there = db.sessions.create(source="cli", cwd="D:\\work\\notes")
    for folder, session in ((".", here), ("src/..", None), ("D:\\work", there), (str(tmp_path), here)):
        shown = call("sessions", "list", "--cwd", folder, "--json").json["sessions"]
        assert [s["id"] for s in shown] == ([session.id] if session else [])
