"""The JSON of `memory …` is what `docs/cli.md` promises."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

import pytest
from test_commands_contract import conform

from memory.commands.contract import SHAPES

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Call

# The peer's table of facts, as far as it is read.
_PEER = """
CREATE TABLE facts (fact_id INTEGER PRIMARY KEY, content TEXT NOT NULL UNIQUE, category TEXT DEFAULT 'general',
    tags TEXT DEFAULT '', trust_score REAL DEFAULT 0.5, retrieval_count INTEGER DEFAULT 0,
    helpful_count INTEGER DEFAULT 0, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, hrr_vector BLOB);
INSERT INTO facts (content) VALUES ('Mira waters the tulips');
"""
# Of a command: its arguments. `chat` is held to its shape where it has somebody to talk with (tests/memory_agent).
RUNS = {
    "memory list": (),
    "memory add": ("prefers 乌龙茶", "--target", "user"),
    "memory replace": ("db-07", "db-08"),
    "memory remove": ("deploy host",),
    "memory remove --forget": ("deploy host", "--yes"),
    "memory search": ("deploy",),
    "memory history": (),
    "memory undo": (),
    "memory approve": (),
    "memory approve --all": (),
    "memory approve --all --reject": (),
    "memory providers": (),
    "memory use": ("holographic",),
    "memory setup": ("holographic",),
    "memory status": ("--start",),
    "memory check": ("holographic", "--only", "contract"),
    "memory facts stats": (),
    "memory facts list": (),
    "memory facts search": ("who", "maintains", "redis"),
    "memory facts about": ("Dana",),
    "memory facts contradictions": (),
    "memory facts add": ("Noor keeps the 备份 keys",),
    "memory facts import": ("{home}/memory_store.db",),
    "memory facts rebuild": (),
}


@pytest.fixture
def remembered(call: Call, home: Path) -> Path:
    """A home with entries, a write that waits, and facts of which two contradict each other."""
    home.mkdir()
    assert call("memory", "add", "The deploy host is db-07", "--tag", "ops").exit_code == 0
    waits = {"id": "1f2e3d4c", "kind": "memory", "requested_at": 1_767_225_600.0}
    folder = home / "pending" / "memory"
    folder.mkdir(parents=True)
    operation = {"action": "add", "target": "memory", "content": "Backups run at 04:00"}
    (folder / "1f2e3d4c.json").write_text(json.dumps(waits | {"payload": operation} | operation))
    for fact in ("Dana maintains the redis cluster", "Dana does not maintain the redis cluster"):
        assert call("memory", "facts", "add", fact).exit_code == 0
    with sqlite3.connect(home / "memory_store.db") as connection:
        connection.executescript(_PEER)
    connection.close()
    return home


def test_every_documented_shape_is_held() -> None:
    assert RUNS.keys() | {"chat --query TEXT"} == SHAPES.keys()


@pytest.mark.parametrize("command", RUNS)
def test_the_json_of_a_command_is_as_documented(call: Call, remembered: Path, command: str) -> None:
    answer = call(*command.split(), *(arg.format(home=remembered) for arg in RUNS[command]), "--json")
    assert answer.exit_code in (0, 1), answer.stderr
    assert answer.stderr == ""
    conform(answer.json, SHAPES[command])
    if command != "memory setup":  # it has no secrets here
        lists = [value for value in answer.json.values() if isinstance(value, list)]
        assert not lists or any(lists)  # an empty list would prove nothing


def test_a_write_that_does_not_wait_is_told_by_what_it_is(call: Call, remembered: Path) -> None:
    answer = call("memory", "approve", "nosuch", "--json")
    assert (answer.exit_code, answer.error["kind"]) == (38, "nothing_waits")
    assert "hermes-state memory approve" in answer.error["hint"]


def test_a_fact_needs_no_quotes(call: Call) -> None:
    """As an entry of the built-in memory; tags may be repeated, or stand together."""
    args = ("Dana", "keeps", "the", "备份", "keys", "--tag", "ops", "--tags", "infra,oncall")
    assert call("memory", "facts", "add", *args).exit_code == 0
    (fact,) = call("memory", "facts", "list", "--json").json["facts"]
    assert (fact["content"], fact["tags"]) == ("Dana keeps the 备份 keys", "ops,infra,oncall")
    assert call("memory", "facts", "list", "--min-trust", "7").exit_code == 2


def test_undoing_what_never_was_is_told(call: Call, remembered: Path) -> None:
    answer = call("memory", "undo", "nosuch", "--json")
    assert answer.exit_code == 38
    assert "batch" in answer.error["message"]


@pytest.mark.parametrize("args", [("list",), ("search", "who", "maintains", "redis"), ("about", "Dana")], ids=" ".join)
def test_facts_come_as_json_lines(call: Call, remembered: Path, args: tuple[str, ...]) -> None:
    """What stands in the one document, a line each."""
    lines = call("memory", "facts", *args, "--jsonl").stdout.splitlines()
    document = call("memory", "facts", *args, "--json").json
    assert [json.loads(line)["content"] for line in lines] == [
        fact["content"] for fact in document.get("facts") or document["results"]
    ]
    assert lines
