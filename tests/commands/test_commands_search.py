"""`search`: the shape others build on, options, pages, and what people see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from test_commands_import import make_hermes_home

from hermes_state import SessionDB

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Call


def hits(call: Call, *args: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call("search", *args, "--json").json["hits"]
    return found


def test_json_has_the_fixed_shape(call: Call, store: dict[str, str]) -> None:
    """The names that the contract fixes, the query as typed, nothing on stderr."""
    answer = call("search", "redis", "升级", "--json")
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert (answer.json["query"], answer.json["degraded"]) == ("redis 升级", [])
    best = answer.json["hits"][0]
    assert list(best)[:10] == [
        "message_id", "session_id", "conversation_id", "role", "snippet", "score", "created_at", "source", "title",
        "context",
    ]  # fmt: skip
    assert best["session_id"] == best["conversation_id"] == store["deploy"]
    assert best["created_at"] == "2026-01-01T09:00:00.000000Z"
    assert ">>>redis<<<" in best["snippet"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("升级", "deploy"),
        ("الخادم", "arabic"),
        ("設定", "report"),
        ("db-07", "arabic"),
        ("where does redis run", "deploy"),
    ],
)
def test_every_script_is_found(call: Call, store: dict[str, str], query: str, found: str) -> None:
    assert hits(call, query)[0]["session_id"] == store[found]


def test_nothing_found_is_exit_code_1(call: Call, store: dict[str, str]) -> None:
    answer = call("search", "zzzzz", "--json")
    assert (answer.exit_code, answer.json["hits"]) == (1, [])
    spoken = call("search", "zzzzz")
    assert (spoken.exit_code, spoken.stdout, spoken.stderr) == (1, "", "nothing found\n")


def test_options_narrow_as_filters_in_the_query_do(call: Call, store: dict[str, str]) -> None:
    for option, filter_ in (
        (("--role", "assistant"), "role:assistant"),
        (("--source", "cli"), "source:cli"),
        (("--session", store["deploy"]), f"session:{store['deploy']}"),
        (("--after", "2026-01-01T09:01:00"), "after:2026-01-01T09:01:00"),
        (("--before", "2026-01-02"), "before:2026-01-02"),
        (("--model", "glm"), "model:glm"),
    ):
        by_option = [hit["message_id"] for hit in hits(call, "redis", *option)]
        assert by_option == [hit["message_id"] for hit in hits(call, f"redis {filter_}")]
        assert by_option


def test_exclusions_are_words_and_misspelt_options_are_not(call: Call, store: dict[str, str]) -> None:
    """`-word` needs no quoting; `--limt 5` is never searched for."""
    assert [hit["role"] for hit in hits(call, "redis", "-升级")] == ["assistant"]
    answer = call("search", "redis", "--limt", "5", "--json")
    assert (answer.exit_code, answer.error["kind"]) == (2, "usage")
    assert "--limit" in answer.error["message"]
    assert call("search").exit_code == 2
    assert call("search", " ").exit_code == 2


def test_an_ambiguous_or_unknown_session_is_an_error(call: Call, store: dict[str, str]) -> None:
    assert call("search", "redis", "--session", "nothing").exit_code == 4
    assert call("search", "redis", "--session", "2").exit_code == 5


def test_hostile_queries_never_fail(call: Call, store: dict[str, str]) -> None:
    for query in ('"', "((", "a AND", "*", "NEAR(", "col:x", "'; drop table", "\x00", "-", "😀", "redis\x1b[2J"):
        assert call("search", "--", query).exit_code in (0, 1), query


@pytest.fixture
def many(home: Path, store: dict[str, str]) -> None:
    with SessionDB.open(home=home, synchronous="NORMAL") as db:
        session = db.sessions.create(source="cli")
        db.messages.append_many(session.id, [{"role": "user", "content": f"heron number {n}"} for n in range(60)])


def test_pages_follow_each_other(call: Call, many: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also across the pages in which hits are fetched."""
    monkeypatch.setattr("hermes_state.commands.search._PAGE", 7)
    everything = [hit["message_id"] for hit in hits(call, "heron", "--limit", "0", "--sort", "oldest")]
    assert len(everything) == len(set(everything)) == 60
    page = [hit["message_id"] for hit in hits(call, "heron", "--limit", "9", "--offset", "10", "--sort", "oldest")]
    assert page == everything[10:19]


def test_jsonl_streams_a_hit_a_line(call: Call, many: None) -> None:
    answer = call("search", "heron", "--jsonl", "--limit", "30")
    assert answer.exit_code == 0
    assert len(answer.stdout.splitlines()) == 30
    assert call("search", "zzzzz", "--jsonl").exit_code == 1


def test_conversations_stand_there_once(call: Call, many: None) -> None:
    found = call("search", "heron", "--conversations", "--json").json["conversations"]
    assert len(found) == 1
    assert found[0]["hit_count"] > 1


def test_archived_and_sub_agents_on_request(call: Call, home: Path, store: dict[str, str]) -> None:
    with SessionDB.open(home=home) as db:
        child = db.lineage.delegate(store["deploy"])
        db.messages.append(child.id, role="user", content="redis pools")
        db.sessions.archive(store["deploy"])
    assert {hit["role"] for hit in hits(call, "redis", "--archived")} == {"user", "assistant"}
    assert store["deploy"] not in {hit["session_id"] for hit in hits(call, "redis", "--no-archived")}
    assert child.id not in {hit["session_id"] for hit in hits(call, "redis")}
    assert child.id in {hit["session_id"] for hit in hits(call, "redis", "--delegates")}
    assert {child.id, store["deploy"]} <= {hit["session_id"] for hit in hits(call, "redis", "--all")}


def test_people_see_where_it_was_said_and_what(call: Call, store: dict[str, str]) -> None:
    shown = call("search", "redis").stdout.splitlines()
    assert shown[0] == f"redis deploy  cli · 2026-01-01 · {store['deploy']}"
    assert len(shown) == 3
    assert shown[1].startswith("  ")
    assert ">>>" not in "".join(shown)


def test_matches_stand_out_on_a_terminal(call: Call, store: dict[str, str]) -> None:
    shown = call("search", "redis", terminal=True).stdout
    assert "\x1b[91m\x1b[1mredis\x1b[0m" in shown


def test_context_and_explanation(call: Call, store: dict[str, str]) -> None:
    shown = call("search", "7.2", "--context", "1", "--limit", "1", "--explain")
    assert "▶" in shown.stdout
    assert "score" in shown.stdout
    assert "ranked" in shown.stderr
    document = call("search", "7.2", "--explain", "--json").json
    assert document["explanation"]["pieces"]
    assert document["hits"][0]["why"]["pieces"]


@pytest.mark.parametrize("terminal", [False, True])
def test_a_store_that_is_behind_a_hermes_home_is_pointed_out(
    call: Call, home: Path, store: dict[str, str], tmp_path: Path, terminal: bool
) -> None:
    """One line, after the hits; never a question once there is a store."""
    make_hermes_home(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "state.db").rename(home / "state.db")
    answer = call("search", "redis", terminal=terminal)
    assert answer.exit_code == 0
    assert "not searched: 1 session of" in answer.stderr
    assert call("search", "redis", "--json").stderr == ""


def test_on_a_terminal_the_import_is_offered(call: Call, home: Path) -> None:
    """Before a first search in a home that is a Hermes agent's; a no leaves everything as it is."""
    make_hermes_home(home)
    declined = call("search", "预算", terminal=True, stdin="n\n")
    assert declined.exit_code == 17
    assert not (home / "hermes_state.db").exists()
    agreed = call("search", "预算", terminal=True, stdin="\n")
    assert agreed.exit_code == 0
    assert "预算" in agreed.stdout


def test_in_a_pipe_nothing_is_asked(call: Call, home: Path) -> None:
    make_hermes_home(home)
    answer = call("search", "预算")
    assert answer.exit_code == 17
    assert "hermes-state import hermes" in answer.stderr
