"""Reading, changing, deleting and counting conversations."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click
import pytest

from hermes_state import SessionDB

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Call

SUMMARY = [{"role": "user", "content": "[summary] redis was upgraded"}]


# --- show and resume ----------------------------------------------------------------------------------------------


@pytest.fixture
def long_conversation(home: Path, store: dict[str, str]) -> dict[str, str]:
    """The deploy conversation goes on after a compression, with a call and its long result."""
    with SessionDB.open(home=home) as db:
        tip = db.lineage.rotate(store["deploy"], SUMMARY).child
        call = {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": '{"cmd": "ls"}'}}
        db.messages.append(tip.id, role="assistant", tool_calls=[call], reasoning_content="Look first.")
        db.messages.append(
            tip.id, role="tool", tool_call_id="c1", content="\n".join(f"file {n}" for n in range(40)) + "\n"
        )
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 4000}}
        db.messages.append(tip.id, role="user", content=[{"type": "text", "text": "看这张图"}, image])
    return store | {"tip": tip.id}


@pytest.mark.parametrize("ref", ["deploy", "tip"])
def test_show_reads_the_whole_conversation_from_any_segment(
    call: Call, long_conversation: dict[str, str], ref: str
) -> None:
    shown = call("sessions", "show", long_conversation[ref]).stdout
    assert shown.index("请把 redis 升级到 7.2") < shown.index("[summary] redis was upgraded") < shown.index("看这张图")
    assert f"continued in {long_conversation['tip']}" in shown
    assert '→ terminal {"cmd": "ls"}' in shown
    assert "28 more lines; --full shows all" in shown
    assert "[image, 3.0 kB]" in shown
    assert "Look first." not in shown


def test_show_in_full(call: Call, long_conversation: dict[str, str]) -> None:
    shown = call("sessions", "show", "redis deploy", "--full", "--reasoning").stdout
    assert "file 39" in shown
    assert "Look first." in shown


def test_show_json(call: Call, long_conversation: dict[str, str]) -> None:
    answer = call("sessions", "show", long_conversation["tip"], "--json").json
    assert answer["session"]["id"] == long_conversation["tip"]
    assert answer["segments"] == [long_conversation["deploy"], long_conversation["tip"]]
    assert [m["role"] for m in answer["messages"]] == ["user", "assistant", "user", "assistant", "tool", "user"]
    assert answer["messages"][3]["tool_calls"][0]["id"] == "c1"
    assert answer["messages"][4]["tool_name"] == "terminal"
    assert (answer["before"], answer["after"], answer["anchor_id"]) == (0, 0, None)


def test_show_around_a_message_needs_no_reference(call: Call, long_conversation: dict[str, str]) -> None:
    messages = call("sessions", "show", long_conversation["tip"], "--json").json["messages"]
    anchor = messages[4]["id"]
    view = call("sessions", "show", "--around", str(anchor), "--context", "1", "--json").json
    assert [m["id"] for m in view["messages"]] == [m["id"] for m in messages[3:6]]
    assert (view["before"], view["after"], view["anchor_id"]) == (1, 0, anchor)
    shown = call("sessions", "show", "--around", str(anchor), "--context", "0").stdout
    assert "▶ tool terminal" in shown
    assert "2 earlier messages" in shown
    assert "1 later message" in shown


def test_show_around_refuses_a_message_of_another_conversation(call: Call, store: dict[str, str]) -> None:
    anchor = call("sessions", "show", store["arabic"], "--json").json["messages"][0]["id"]
    assert call("sessions", "show", store["deploy"], "--around", str(anchor)).exit_code == 4


def test_show_narrows_by_role_and_to_the_last(call: Call, long_conversation: dict[str, str]) -> None:
    view = call("sessions", "show", "redis deploy", "--role", "user", "--last", "1", "--json").json
    assert [m["content"][0]["text"] for m in view["messages"]] == ["看这张图"]
    assert view["before"] == 2


def test_what_was_taken_back_shows_on_request(call: Call, home: Path, store: dict[str, str]) -> None:
    with SessionDB.open(home=home) as db:
        db.messages.rewind(store["deploy"], last=1)
    assert "7.2 now" not in call("sessions", "show", store["deploy"]).stdout
    assert "taken back" in call("sessions", "show", store["deploy"], "--rewound").stdout


def test_resume_prints_the_tip_and_nothing_else(call: Call, long_conversation: dict[str, str]) -> None:
    """B059, B067: from any segment or a unique start of its id."""
    tip = long_conversation["tip"]
    for ref in (long_conversation["deploy"], tip, tip[:-2], "redis deploy"):
        answer = call("sessions", "resume", ref)
        assert (answer.stdout, answer.stderr) == (f"{tip}\n", "")
    assert call("sessions", "resume", tip, "--json").json["session"]["id"] == tip


def test_the_pager_is_for_terminals(
    call: Call, store: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pager = tmp_path / "pager"
    pager.write_text(f"#!/bin/sh\ncat > {tmp_path}/paged\n")
    pager.chmod(0o755)
    monkeypatch.setenv("PAGER", str(pager))
    call("sessions", "show", store["deploy"])
    assert not (tmp_path / "paged").exists()
    call("sessions", "show", store["deploy"], "--no-pager", terminal=True)
    assert not (tmp_path / "paged").exists()
    call("sessions", "show", store["deploy"], terminal=True)
    assert "升级" in (tmp_path / "paged").read_text(encoding="utf-8")


# --- changes ------------------------------------------------------------------------------------------------------


def test_rename_and_take_the_title_away(call: Call, store: dict[str, str]) -> None:
    """B047: a title that another conversation has is refused, and its holder named."""
    renamed = call("sessions", "rename", store["arabic"], "خطة", "الخادم", "--json").json
    assert renamed["session"]["title"] == "خطة الخادم"
    taken = call("sessions", "rename", store["arabic"], "redis deploy", "--json")
    assert (taken.exit_code, taken.error["kind"]) == (6, "title_taken")
    assert store["deploy"] in taken.error["message"]
    assert call("sessions", "rename", store["arabic"]).stderr.endswith("has no title now\n")


def test_archive_and_unarchive(call: Call, store: dict[str, str]) -> None:
    both = call("sessions", "archive", store["deploy"], store["arabic"], "--json").json["sessions"]
    assert [s["archived"] for s in both] == [True, True]
    assert call("sessions", "unarchive", store["deploy"]).exit_code == 0
    shown = {s["id"] for s in call("sessions", "list", "--json").json["sessions"]}
    assert shown == {store["deploy"], store["report"]}


def test_a_wrong_reference_among_several_changes_nothing(call: Call, store: dict[str, str]) -> None:
    assert call("sessions", "archive", store["deploy"], "nothing").exit_code == 4
    assert call("sessions", "delete", store["deploy"], "nothing", "--yes").exit_code == 4
    assert len(call("sessions", "list", "--json").json["sessions"]) == 3


def test_tags(call: Call, store: dict[str, str]) -> None:
    call("sessions", "tag", store["deploy"], "ops", "重要")
    assert call("sessions", "untag", store["deploy"], "ops", "--json").json["session"]["tags"] == ["重要"]
    assert [s["id"] for s in call("sessions", "list", "--tag", "重要", "--json").json["sessions"]] == [store["deploy"]]
    assert "#重要" in call("sessions", "list").stdout


# --- deleting -----------------------------------------------------------------------------------------------------


def left(call: Call) -> int:
    return int(call("sessions", "list", "--all", "--json").json["total"])


def test_delete_asks_only_on_a_terminal(call: Call, store: dict[str, str]) -> None:
    """Nobody there to ask: refused with the flag that goes ahead, nothing deleted."""
    refused = call("sessions", "delete", store["deploy"])
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    assert call("sessions", "delete", store["deploy"], terminal=True, stdin="n\n").exit_code == 1
    assert left(call) == 3
    agreed = call("sessions", "delete", store["deploy"], terminal=True, stdin="y\n")
    assert "Delete 1 session with 2 messages?" in agreed.stderr
    assert agreed.exit_code == 0
    assert left(call) == 2


def test_delete_shows_what_will_go_and_a_dry_run_changes_nothing(call: Call, long_conversation: dict[str, str]) -> None:
    planned = call("sessions", "delete", long_conversation["tip"], "--dry-run")
    assert "redis deploy #2" in planned.stdout
    assert "2 sessions with 6 messages" in planned.stderr
    assert left(call) == 4
    done = call("sessions", "delete", long_conversation["tip"], "--yes", "--json").json
    assert set(done["deleted"]) == {long_conversation["deploy"], long_conversation["tip"]}
    assert (done["messages"], done["dry_run"]) == (6, False)
    assert left(call) == 2


def test_an_ambiguous_prefix_deletes_nothing(call: Call, store: dict[str, str]) -> None:
    """B067."""
    answer = call("sessions", "delete", "2", "--yes", "--json")
    assert (answer.exit_code, answer.error["kind"]) == (5, "ambiguous")
    assert left(call) == 3


@pytest.fixture
def cron_runs(home: Path, store: dict[str, str]) -> dict[str, str]:
    """B046: five cron sessions of yesterday that ended, two that are open."""
    yesterday = datetime.now(UTC) - timedelta(days=1)
    with SessionDB.open(home=home) as db:
        for n in range(7):
            session = db.sessions.create(f"cron_{n}", source="cron", started_at=yesterday + timedelta(minutes=n))
            if n < 5:
                db.sessions.end(session.id, "cron_complete")
        db.sessions.end(store["report"], "done")
        db.sessions.archive(store["report"])
    return store


def test_prune_takes_what_fits_and_says_what_it_left(call: Call, cron_runs: dict[str, str]) -> None:
    """No hidden limit of age; oldest, newest and the open ones are told; a dry run changes nothing."""
    planned = call("sessions", "prune", "--source", "cron", "--dry-run")
    assert "5 sessions with 0 messages: oldest" in planned.stderr
    assert "2 open sessions skipped" in planned.stderr
    assert [line.split()[0] for line in planned.stdout.splitlines()] == [f"cron_{n}" for n in range(5)]
    assert left(call) == 10
    done = call("sessions", "prune", "--source", "cron", "--yes", "--json").json
    assert sorted(done["deleted"]) == [f"cron_{n}" for n in range(5)]
    assert done["kept"] == {"cron_5": "open", "cron_6": "open"}
    assert done["oldest_at"] < done["newest_at"]
    assert left(call) == 5


def test_prune_by_age_counts_from_the_last_activity(call: Call, cron_runs: dict[str, str]) -> None:
    planned = call("sessions", "prune", "--older-than", "30d", "--include-open", "--dry-run", "--json").json
    assert set(planned["deleted"]) == {cron_runs["deploy"], cron_runs["arabic"]}
    everything = call("sessions", "prune", "--older-than", "30d", "--include-open", "--all", "--dry-run", "--json").json
    assert set(everything["deleted"]) == {cron_runs["deploy"], cron_runs["arabic"], cron_runs["report"]}


def test_prune_without_a_filter_is_refused(call: Call, store: dict[str, str]) -> None:
    assert call("sessions", "prune", "--yes").exit_code == 2
    assert call("sessions", "prune", "--open", "--include-open", "--dry-run").exit_code == 0


def test_prune_of_nothing_asks_nothing(call: Call, store: dict[str, str]) -> None:
    answer = call("sessions", "prune", "--source", "nowhere")
    assert (answer.exit_code, answer.stderr) == (0, "no session to delete\n")


# --- stats --------------------------------------------------------------------------------------------------------


def test_stats_json_counts_right(call: Call, home: Path, long_conversation: dict[str, str]) -> None:
    with SessionDB.open(home=home) as db:
        db.lineage.delegate(long_conversation["tip"])
        db.messages.rewind(long_conversation["arabic"], last=1)
        db.usage.record(long_conversation["deploy"], model="glm-4.6", input_tokens=100, output_tokens=50)
    numbers = call("sessions", "stats", "--json").json
    assert (numbers["conversations"], numbers["sessions"], numbers["delegates"]) == (3, 5, 1)
    assert numbers["messages"] == {"active": 8, "compacted": 0, "rewound": 1}
    assert sum(share["messages"] for share in numbers["roles"]) == 8
    assert sum(share["messages"] for share in numbers["sources"]) == 8
    assert sum(day["messages"] for day in numbers["days"]) == 8
    assert sum(day["sessions"] for day in numbers["days"]) == 4
    assert numbers["longest"][0] == {
        "id": long_conversation["tip"], "title": "redis deploy #2", "source": "cli", "messages": 6, "segments": 2,
    }  # fmt: skip
    assert numbers["usage"][0]["input_tokens"] == 100
    assert numbers["store"]["bytes"] > 0


def test_stats_show_a_calendar_and_bars(call: Call, long_conversation: dict[str, str]) -> None:
    shown = call("sessions", "stats").stdout
    for word in ("3 conversations, 9 messages", "Activity", "Mon", "Sun", "cli", "█", "glm-4.6", "redis deploy #2"):
        assert word in shown


def test_stats_since_a_moment(call: Call, long_conversation: dict[str, str]) -> None:
    numbers = call("sessions", "stats", "--since", "2026-01-02", "--json").json
    assert [day["date"] for day in numbers["days"]][:2] == ["2026-01-02", "2026-01-03"]
    assert long_conversation["deploy"] not in {c["id"] for c in numbers["longest"]}


def test_stats_of_an_empty_store(call: Call, home: Path) -> None:
    SessionDB.open(home=home).close()
    shown = call("sessions", "stats")
    assert shown.exit_code == 0
    assert "0 conversations, 0 messages" in shown.stdout


def test_the_longest_conversations_keep_their_ids_on_a_narrow_terminal(
    call: Call, store: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The title gives way; an id that is cut short can't be typed."""
    monkeypatch.setenv("COLUMNS", "50")
    shown = click.unstyle(call("sessions", "stats", "--no-color", terminal=True).stdout)
    longest = shown.partition("Longest conversations\n")[2].splitlines()
    assert {line.split()[1] for line in longest} <= set(store.values())
    assert all(line.split()[0].isdigit() and line == line.rstrip() for line in longest)
