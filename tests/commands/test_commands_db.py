"""The commands about the store as a whole."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from hermes_state import SessionDB

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Call


def tamper(home: Path, sql: str) -> None:
    """Change the store behind its back."""
    connection = sqlite3.connect(home / "hermes_state.db")
    with connection:
        connection.execute(sql)
    connection.close()


@pytest.mark.parametrize("args", [(), ("--full",)])
def test_a_sound_store_passes(call: Call, store: dict[str, str], args: tuple[str, ...]) -> None:
    answer = call("db", "check", *args)
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert answer.stdout.startswith("sound: 3 sessions, 5 messages")


def test_findings_are_told_with_what_mends_them(call: Call, home: Path, store: dict[str, str]) -> None:
    tamper(home, "UPDATE sessions SET message_count = 99")
    answer = call("db", "check")
    assert answer.exit_code == 1
    assert "3 findings of kind counter" in answer.stdout
    assert "hermes-state db recover" in answer.stdout
    report = call("db", "check", "--json")
    assert report.exit_code == 1
    assert report.json["sound"] is False
    assert report.json["counts"] == {"counter": 3}
    assert {finding["kind"] for finding in report.json["findings"]} == {"counter"}


def test_a_check_writes_nothing(call: Call, home: Path, store: dict[str, str]) -> None:
    before = (home / "hermes_state.db").read_bytes()
    call("db", "check", "--full")
    assert (home / "hermes_state.db").read_bytes() == before


def test_a_store_that_can_not_be_read_is_a_finding(call: Call, home: Path, store: dict[str, str]) -> None:
    file = home / "hermes_state.db"
    raw = bytearray(file.read_bytes())
    raw[4096 * 2 : 4096 * 6] = b"\xa5" * (4096 * 4)
    file.write_bytes(raw)
    answer = call("db", "check", "--json")
    assert answer.exit_code == 1
    assert "damaged" in answer.json["counts"]


def test_migrate_says_what_was_done(call: Call, home: Path, store: dict[str, str]) -> None:
    assert "already" in call("db", "migrate").stdout
    (home / "hermes_state.db").write_bytes(b"")  # a store that was never opened
    done = call("db", "migrate", "--json").json
    assert (done["from"], done["changed"]) == (None, True)
    with SessionDB.open(home=home, read_only=True) as db:
        assert db.sessions.list() == []


def test_a_newer_schema_is_refused_by_name(call: Call, home: Path, store: dict[str, str]) -> None:
    tamper(home, "UPDATE alembic_version SET version_num = 'zzzz'")
    for args in (("sessions", "list"), ("db", "migrate")):
        answer = call(*args, "--json")
        assert (answer.exit_code, answer.error["kind"]) == (12, "schema_too_new")
        assert "zzzz" in answer.error["message"]


def test_reindex_builds_the_index_from_the_messages(call: Call, home: Path, store: dict[str, str]) -> None:
    """Also one that was lost; it ends with everything indexed."""
    call("search", "redis")
    tamper(home, "UPDATE store_state SET indexed_through = 0")
    done = call("db", "reindex", "--json").json
    assert (done["messages"], done["pending"]) == (5, 0)
    assert call("db", "check", "--full").exit_code == 0
    assert call("search", "redis").exit_code == 0


def test_reindex_counts_what_was_compacted_too(call: Call, home: Path, store: dict[str, str]) -> None:
    """Everything that is in the index is counted, not only what is active."""
    with SessionDB.open(home=home) as db:
        total = db.messages.count()
        db.messages.compact(db.sessions.resume("redis deploy").id, [{"role": "user", "content": "all went well"}])
    assert call("db", "reindex", "--json").json["messages"] == total + 1


def test_a_reindex_that_fails_is_an_error(call: Call, store: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """B016: never exit code 0 with half an index; what is not in it is still found."""
    from hermes_state.engine import sqlite_index
    from hermes_state.errors import DiskFull

    def full(*_: object, **__: object) -> None:
        raise DiskFull("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(sqlite_index, "insert", full)
        answer = call("db", "reindex", "--json")
        assert (answer.exit_code, answer.error["kind"]) == (10, "disk_full")
    assert call("search", "redis").exit_code == 0


def test_status_tells_how_the_store_is_doing(call: Call, home: Path, store: dict[str, str]) -> None:
    shown = call("db", "status").stdout
    assert shown.startswith(f"{home / 'hermes_state.db'}\n")
    for words in (
        "current",
        "3 conversations in 3 sessions, 5 messages",
        "5 messages wait for the next search",
        "SQLite",
    ):
        assert words in shown
    call("search", "redis")
    assert call("db", "status", "--json").json["index"]["is_current"] is True


def test_status_works_on_a_store_of_a_newer_version(call: Call, home: Path, store: dict[str, str]) -> None:
    tamper(home, "UPDATE alembic_version SET version_num = 'zzzz'")
    answer = call("db", "status")
    assert answer.exit_code == 0
    assert "zzzz; this version of hermes-state works with" in answer.stdout
    assert call("db", "status", "--json").json["counts"] is None


def test_optimize_and_vacuum_say_what_they_did(call: Call, store: dict[str, str]) -> None:
    assert "optimized in" in call("db", "optimize", "--budget", "5").stdout
    assert " before, " in call("db", "vacuum").stdout


CANARY = "zqcanary7f3a91"


def test_deleted_means_deleted_after_a_purge(call: Call, home: Path, store: dict[str, str]) -> None:
    """B163: after a delete no search finds it; after a purge no file holds it."""
    with SessionDB.open(home=home) as db:
        session = db.sessions.create(source="cli", title=CANARY)
        db.messages.append(session.id, role="user", content=f"a word like {CANARY}")
    call("search", CANARY)
    call("sessions", "delete", CANARY, "--yes")
    assert call("search", CANARY).exit_code == 1
    purged = call("db", "purge", "--find", CANARY, "--json")
    assert (purged.exit_code, purged.json["complete"], purged.json["found"]) == (0, True, {CANARY: []})
    assert not [file for file in home.rglob("*") if file.is_file() and CANARY.encode() in file.read_bytes()]


def test_a_word_that_is_still_there_is_exit_code_1(call: Call, home: Path, store: dict[str, str]) -> None:
    (home / "notes.txt").write_text(CANARY)
    answer = call("db", "purge", "--find", CANARY)
    assert answer.exit_code == 1
    assert f"{CANARY} is in {home / 'notes.txt'}" in answer.stdout


def test_older_copies_go_only_when_somebody_agrees(call: Call, home: Path, store: dict[str, str]) -> None:
    snapshot = home / "state-snapshots" / "hermes_state-0000-20260101T000000Z.db"
    snapshot.parent.mkdir()
    snapshot.write_bytes(b"old")
    assert call("db", "purge").exit_code == 2
    assert call("db", "purge", terminal=True, stdin="n\n").exit_code == 1
    assert snapshot.exists()
    answer = call("db", "purge", "--yes")
    assert (answer.exit_code, snapshot.exists()) == (0, False)
    assert "1 older copy removed" in answer.stdout


@pytest.mark.parametrize("command", ["status", "check", "migrate", "reindex", "optimize", "vacuum", "purge"])
def test_no_store_is_said(call: Call, home: Path, command: str) -> None:
    assert call("db", command).exit_code == 17
    assert not home.exists()


# --- recover ------------------------------------------------------------------------------------------------------


def test_recover_makes_a_sound_store_beside_the_damaged_one(call: Call, home: Path, store: dict[str, str]) -> None:
    tamper(home, "UPDATE sessions SET message_count = 99, is_tip = 0")
    before = (home / "hermes_state.db").read_bytes()
    answer = call("db", "recover", "--json")
    assert answer.exit_code in (0, 1), answer.stderr
    assert answer.json["report"]["findings"] == []
    assert (home / "hermes_state.db").read_bytes() == before
    salvaged = f"sqlite:///{answer.json['target']}"
    assert call("db", "check", "--full", "--db", salvaged).exit_code == 0
    assert call("sessions", "list", "--db", salvaged, "--json").json["total"] == 3


def test_recover_puts_it_in_place_on_request(call: Call, home: Path, store: dict[str, str]) -> None:
    """The damaged store is kept, and says where."""
    tamper(home, "UPDATE sessions SET message_count = 99")
    answer = call("db", "recover", "--swap")
    assert answer.exit_code in (0, 1), answer.stderr
    assert "it is in place" in answer.stderr
    assert call("db", "check").exit_code == 0
    assert call("sessions", "list", "--json").json["total"] == 3


def test_recover_leaves_a_sound_store_alone(call: Call, home: Path, store: dict[str, str], tmp_path: Path) -> None:
    """Said in a word, exit code 0; nothing is made beside it or put in its place."""
    before = {file.name: file.read_bytes() for file in home.iterdir() if file.suffix == ".db"}
    for options in ((), ("--swap",), ("--into", str(tmp_path / "other.db"))):
        answer = call("db", "recover", *options)
        assert (answer.exit_code, answer.stdout) == (0, "")
        assert answer.stderr == f"nothing to recover: {home / 'hermes_state.db'} is sound\n"
    told = call("db", "recover", "--json").json
    assert (told["complete"], told["target"], told["copy"], told["report"]["findings"]) == (True, None, None, [])
    assert {file.name: file.read_bytes() for file in home.iterdir() if file.suffix == ".db"} == before
    assert not (home / "state-snapshots").exists()
    assert not (tmp_path / "other.db").exists()


def test_recover_names_what_mends_an_index(call: Call, home: Path, store: dict[str, str]) -> None:
    assert call("search", "redis").exit_code == 0
    tamper(home, "DELETE FROM message_index_data WHERE id > 10")
    answer = call("db", "recover")
    assert answer.exit_code == 0
    assert "nothing to recover" in answer.stderr
    assert "of kind index: `hermes-state db reindex`" in answer.stderr


def test_recover_never_overwrites(call: Call, home: Path, store: dict[str, str], tmp_path: Path) -> None:
    target = tmp_path / "mine.db"
    target.write_text("mine")
    answer = call("db", "recover", "--into", str(target), "--json")
    assert (answer.exit_code, answer.error["kind"], target.read_text()) == (6, "conflict", "mine")


def test_purge_looks_for_no_empty_word(call: Call, store: dict[str, str]) -> None:
    """An empty word would be in every file; nothing is done."""
    answer = call("db", "purge", "--find", "", "--yes", "--json")
    assert (answer.exit_code, answer.error["kind"], answer.stdout) == (2, "usage", "")
