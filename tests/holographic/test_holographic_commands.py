"""`hermes-state memory facts …`, as a person and as a program call it."""

from __future__ import annotations

import io
import json
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from test_holographic_importing import SCHEMA, write

from hermes_state.commands import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def facts(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Run one of the commands on the home."""

    def invoke(*arguments: str, stdin: str = "") -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        code = run(["memory", "facts", *arguments, "--home", str(home)])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return invoke


def test_add_list_and_search(facts: Callable[..., Ran]) -> None:
    assert facts("add", "Dana Okafor maintains redis", "--tags", "ops", "--trust", "0.8").out == "fact 1 added\n"
    assert facts("add", "Dana Okafor maintains redis").out == "fact 1 says so already\n"
    added = facts("add", "-", "--json", stdin="王伟负责净值报表\n\nLikes 🍵\n王伟负责净值报表\n").json
    assert added == {"facts": [{"fact_id": 2, "new": True}, {"fact_id": 3, "new": True}, {"fact_id": 2, "new": False}]}
    listed = facts("list")
    assert [line.split()[0] for line in listed.out.splitlines()] == ["ID", "1", "3", "2"]
    assert facts("list", "--json", "--min-trust", "0.6").json["count"] == 1
    found = facts("search", "who", "maintains", "redis?", "--json")
    assert (found.code, found.json["results"][0]["fact_id"]) == (0, 1)
    assert "王伟负责净值报表" in facts("search", "谁负责净值").out


def test_what_is_not_found_exits_1(facts: Callable[..., Ran]) -> None:
    facts("add", "Dana Okafor maintains redis")
    found = facts("search", "penguins")
    assert (found.code, found.out) == (1, "")
    assert "nothing found" in found.err
    assert facts("about", "Wei Chen").code == 1


def test_without_a_store_reading_says_so(facts: Callable[..., Ran]) -> None:
    for command in ("stats", "list", "contradictions", "rebuild"):
        assert facts(command).code == 17


def test_about_one_and_about_several(facts: Callable[..., Ran]) -> None:
    for content in ("Dana Okafor maintains Borealis", "Wei Chen audits Borealis"):
        facts("add", content)
    assert [hit.get("via") for hit in facts("about", "Dana Okafor", "--json").json["results"]] == [None, "Borealis"]
    both = facts("about", "Dana Okafor", "Wei Chen", "--json").json["results"]
    assert {hit["via"] for hit in both} == {"Borealis"}


def test_contradictions_exit_1_when_there_are_some(facts: Callable[..., Ran]) -> None:
    facts("add", "Dana lives in Oslo")
    none = facts("contradictions")
    assert (none.code, none.out) == (0, "")
    facts("add", "Dana lives in Bergen")
    some = facts("contradictions")
    assert some.code == 1
    assert "older 1: Dana lives in Oslo" in some.out
    assert "newer 2: Dana lives in Bergen" in some.out
    assert facts("contradictions", "--json").json["contradictions"][0]["newer"] == 2


def test_import_again_and_again(facts: Callable[..., Ran], home: Path, tmp_path: Path) -> None:
    peer = tmp_path / "memory_store.db"
    write(peer, *((statement, ()) for statement in SCHEMA.split(";") if statement.strip()))
    write(peer, ("INSERT INTO facts (content, trust_score) VALUES ('Likes tea', 0.6)", ()))
    assert facts("import").code == 17
    assert "1 fact added" in facts("import", str(peer)).out
    assert "nothing new" in facts("import", str(tmp_path)).out
    shutil.copy(peer, home / "memory_store.db")
    report = facts("import", "--json").json["import"]
    assert (report["found"], report["added"], report["known"]) == (1, 0, 1)


def test_rebuild_at_another_dimension(facts: Callable[..., Ran]) -> None:
    facts("add", "Dana Okafor maintains redis")
    assert facts("rebuild", "--dim", "512").out == "1 fact done, vectors of 512 phases\n"
    assert facts("rebuild", "--json").json == {"facts": 1, "dim": 1024}
    assert facts("rebuild", "--dim", "7").code == 2
    assert facts("search", "redis").code == 0


def test_stats_draw_and_count(facts: Callable[..., Ran]) -> None:
    for content in ("Dana Okafor maintains redis", "dana okafor maintains redis!", "王伟负责净值报表"):
        facts("add", content, "--category", "project")
    facts("add", "Likes tea", "--trust", "0.95")
    page = facts("stats").out
    for word in ("4 facts", "Trust", "0.9–1.0", "█", "Categories", "project", "Banks", "Doubles", "Dana Okafor"):
        assert word in page
    numbers = facts("stats", "--json").json
    assert (numbers["facts"], sum(step["facts"] for step in numbers["trust"])) == (4, 4)
    assert numbers["doubles"][0]["ids"] == [1, 2]
    assert numbers["dims"] == {"1024": 4}
    assert {bank["category"]: bank["over"] for bank in numbers["banks"]}["project"] == 0


def test_stats_of_an_empty_store(facts: Callable[..., Ran]) -> None:
    facts("add", "Likes tea")
    facts("list")
    assert facts("stats", "--json").json["rebuild_due"] is False


def test_settings_that_make_no_sense_are_an_error(facts: Callable[..., Ran], home: Path) -> None:
    (home / "config.yaml").write_text("plugins:\n  hermes-memory-store:\n    hrr_dim: wide\n")
    assert facts("add", "Likes tea").code == 2
