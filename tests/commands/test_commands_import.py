"""`import hermes`, and how a home that was not imported yet is pointed out."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Call

SCHEMA = """
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES (22);
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, title TEXT, started_at REAL NOT NULL,
  ended_at REAL, end_reason TEXT, parent_session_id TEXT, message_count INTEGER DEFAULT 0, model TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
  content TEXT, timestamp REAL NOT NULL, active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0);
INSERT INTO sessions (id, source, title, started_at, message_count) VALUES ('h1', 'cli', 'old plan', 1767225600, 2);
INSERT INTO messages (session_id, role, content, timestamp) VALUES
  ('h1', 'user', '会议纪要里的预算超支问题', 1767225600), ('h1', 'assistant', 'noted', 1767225601);
"""


def make_hermes_home(folder: Path) -> Path:
    """A small Hermes home of schema 22."""
    folder.mkdir(parents=True)
    with sqlite3.connect(folder / "state.db") as connection:
        connection.executescript(SCHEMA)
    connection.close()
    return folder


@pytest.fixture
def hermes_home(home: Path) -> Path:
    """The test's home is that of a Hermes agent."""
    return make_hermes_home(home)


def test_one_command_brings_a_home_in(call: Call, hermes_home: Path) -> None:
    answer = call("import", "hermes")
    assert answer.exit_code == 0
    assert "1 session and 2 messages added" in answer.stdout
    assert "old plan" in call("sessions", "list").stdout
    assert "预算超支" in call("sessions", "show", "h1").stdout


def test_what_came_in_is_indexed_at_once(call: Call, hermes_home: Path) -> None:
    """The first search has nothing to wait for."""
    call("import", "hermes")
    assert call("db", "status", "--json").json["index"]["pending"] == 0


def test_a_second_run_finds_nothing_new(call: Call, hermes_home: Path) -> None:
    call("import", "hermes")
    assert "nothing new in 1 session" in call("import", "hermes").stdout
    assert call("import", "hermes", "--json").json["imports"][0]["sessions_unchanged"] == 1


def test_a_home_elsewhere_by_its_path(call: Call, home: Path, tmp_path: Path) -> None:
    old = make_hermes_home(tmp_path / "old-laptop")
    assert call("import", "hermes", str(old)).exit_code == 0
    assert call("import", "hermes", str(old / "state.db")).exit_code == 0
    assert (home / "hermes_state.db").exists()
    assert not (old / "hermes_state.db").exists()


def test_a_profile_by_its_name(call: Call, hermes_home: Path) -> None:
    make_hermes_home(hermes_home / "profiles" / "work")
    work = call("import", "hermes", "--profile", "work", "--json").json["imports"]
    assert [report["origin"] for report in work] == [str(hermes_home / "profiles" / "work" / "state.db")]
    assert len(call("import", "hermes", "--json").json["imports"]) == 2


@pytest.mark.parametrize("args", [("/nowhere",), ("--profile", "nobody")])
def test_what_is_not_there_is_said(call: Call, hermes_home: Path, args: tuple[str, ...]) -> None:
    """And no store is made for it."""
    answer = call("import", "hermes", *args, "--json")
    assert (answer.exit_code, answer.error["kind"]) == (17, "store_unavailable")
    assert not (hermes_home / "hermes_state.db").exists()


def test_a_file_that_is_no_hermes_store_is_refused(call: Call, home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    answer = call("import", "hermes", str(other), "--json")
    assert (answer.exit_code, answer.error["kind"]) == (19, "format_error")


def test_a_home_not_imported_yet_is_named_with_the_command_that_imports_it(call: Call, hermes_home: Path) -> None:
    answer = call("sessions", "list", "--home", str(hermes_home))
    assert answer.exit_code == 17
    assert f"`hermes-state import hermes --home {hermes_home}` brings in 1 session" in answer.stderr
