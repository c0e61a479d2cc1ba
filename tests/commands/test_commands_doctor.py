"""`doctor`: each fault is found, named, and has what mends it; nothing is changed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from hermes_state import SessionDB
from hermes_state.commands import doctor
from hermes_state.engine import access
from hermes_state.engine.driver import Driver, newest_driver

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Call


@pytest.fixture
def sound(home: Path, store: dict[str, str]) -> Path:
    """A home with nothing to mend."""
    home.chmod(0o700)
    return home


def checks(call: Call) -> dict[str, dict[str, Any]]:
    answer = call("doctor", "--json")
    found = {check["name"]: check for check in answer.json["checks"]}
    has_findings = any(check["status"] == "finding" for check in found.values())
    assert answer.exit_code == (1 if has_findings else 0)
    assert answer.json["ok"] is not has_findings
    return found


def test_a_sound_home_has_nothing_to_mend(call: Call, sound: Path) -> None:
    is_safe = newest_driver().wal_reset_safe  # an old SQLite is a finding by itself
    to_mend = {name for name, check in checks(call).items() if check["status"] != "ok"}
    assert to_mend == (set() if is_safe else {"sqlite"})
    shown = call("doctor")
    assert (shown.exit_code == 0, shown.stderr == "nothing to mend\n") == (is_safe, is_safe)
    assert "3 conversations" in shown.stdout


def test_conversations_are_counted_as_elsewhere(call: Call, sound: Path, store: dict[str, str]) -> None:
    """Archived ones too: a number that differs from `db status` and `sessions stats` would look like a loss."""
    assert call("sessions", "archive", store["arabic"]).exit_code == 0
    assert "3 conversations" in call("doctor").stdout
    assert "3 conversations" in call("db", "status").stdout
    assert "3 conversations" in call("sessions", "stats").stdout


def test_a_home_that_others_can_read(call: Call, sound: Path) -> None:
    sound.chmod(0o755)
    (sound / "hermes_state.db").chmod(0o644)
    found = checks(call)
    assert found["home_modes"]["fix"] == f"chmod 0700 {sound}"
    assert found["store_modes"]["fix"] == f"chmod 0600 {sound / 'hermes_state.db'}"
    assert (sound / "hermes_state.db").stat().st_mode & 0o777 == 0o644


def test_an_old_sqlite(call: Call, sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = Driver(newest_driver().module, (3, 40, 1))
    monkeypatch.setattr("hermes_state.engine.driver.newest_driver", lambda: old)
    assert "pysqlite3" in checks(call)["sqlite"]["fix"]


def test_a_disk_that_is_almost_full(call: Call, sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    assert "only 1.0 kB free" in checks(call)["space"]["message"]


def test_a_write_ahead_log_that_grew(call: Call, sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "WAL_IS_LARGE_BYTES", 0)
    assert checks(call)["wal"]["status"] == "finding"


def test_a_file_system_without_a_write_ahead_log(call: Call, sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B146: SQLite goes on in another journal mode without a word. `unix-dotfile` can't share the log's memory."""
    with closing(sqlite3.connect(sound / "hermes_state.db")) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    uri_of = access.uri_of
    monkeypatch.setattr(access, "uri_of", lambda path, **mode: f"{uri_of(path, **mode)}&vfs=unix-dotfile")
    with SessionDB.open(home=sound) as db:
        db.messages.append(db.sessions.list()[0].id, role="user", content="works all the same")
        assert len(db.search.messages("works all the same")) == 1
    assert "journal mode is delete" in checks(call)["journal"]["message"]


def test_a_store_that_can_not_be_opened(call: Call, sound: Path) -> None:
    (sound / "hermes_state.db").write_bytes(b"this was a database once, " * 400)
    assert checks(call)["store"]["status"] == "finding"


def test_no_store_yet_is_no_fault(call: Call, home: Path) -> None:
    assert checks(call)["store"]["status"] == "note"
    assert not home.exists()


def test_a_hermes_home_never_imported_is_a_finding_and_news_are_a_note(call: Call, sound: Path) -> None:
    import sqlite3

    from test_commands_import import SCHEMA

    with sqlite3.connect(sound / "state.db") as connection:
        connection.executescript(SCHEMA)
    assert checks(call)["hermes_home"]["fix"] == "hermes-state import hermes"
    call("import", "hermes")
    assert "hermes_home" not in checks(call)
    connection.execute("INSERT INTO sessions (id, source, started_at) VALUES ('h2', 'cli', 1767225700)")
    connection.execute(
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('h2', 'user', 'new', 1767225700)"
    )
    connection.commit()
    connection.close()
    assert checks(call)["hermes_home"]["status"] == "note"


def test_an_index_of_older_rules_is_a_note(call: Call, sound: Path) -> None:
    """The next search builds it anew by itself; what is waiting for the first search is no fault at all."""
    import sqlite3

    assert "the next search brings in 5 messages" in checks(call)["index"]["message"]
    call("search", "redis")
    assert checks(call)["index"]["message"] == "the index is sound to ask"
    with sqlite3.connect(sound / "hermes_state.db") as connection:
        connection.execute("UPDATE store_state SET segmentation = '0+stem0+unicode0'")
    connection.close()
    assert (checks(call)["index"]["status"], checks(call)["index"]["fix"]) == ("note", "hermes-state db reindex")
