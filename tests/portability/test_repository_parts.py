"""A second backup copies of a store what changed, and is none the worse for it."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import peer_database
import pytest
from homes import rows
from repositories import all_snapshots, assert_sound, contents

from hermes_state.portability import apart, databases, partial
from hermes_state.portability.backup import Wanted
from hermes_state.portability.copies import Copies
from hermes_state.portability.policy import Policy
from hermes_state.portability.reader import open_archive
from hermes_state.portability.repository import snapshots
from hermes_state.portability.repository.backup import back_up
from hermes_state.portability.repository.index import Index
from hermes_state.portability.repository.packs import packs_in
from hermes_state.portability.restore import restore
from hermes_state.portability.verify import Verdict, verify

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """With a store of many pages."""
    home = tmp_path / "home"
    home.mkdir()
    peer_database.make(home / "state.db", messages=3000)
    return home


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How databases were copied."""
    found: list[str] = []
    finish, asked, copied = partial.Begun.finish, apart.refreshed, apart.copied

    def part(begun: partial.Begun) -> Any:
        made = finish(begun)
        found.append("refused" if made is None else "part")
        return made

    def child(source: Path, *arguments: Any) -> Any:
        made = asked(source, *arguments)
        found.extend(["part"] if made is not None and apart.is_held(source) else [])
        return made

    def whole(*arguments: Any, **options: Any) -> Any:
        found.append("whole")
        return copied(*arguments, **options)

    monkeypatch.setattr(partial.Begun, "finish", part)
    monkeypatch.setattr(apart, "refreshed", child)
    monkeypatch.setattr(apart, "copied", whole)
    return found


def write(home: Path, statement: str = "") -> None:
    with closing(sqlite3.connect(home / "state.db")) as db:
        db.execute(statement or "UPDATE messages SET content = content || ' 变' WHERE id = 1500")
        peer_database.add(db, 40, "valkey")
        db.commit()


def assert_comes_back(repo: Path, home: Path, again: Path) -> None:
    restore(repo / "latest", again)
    assert rows(again / "state.db") == rows(home / "state.db")
    assert_sound(repo)


def test_what_changed_is_copied(tmp_path: Path, home: Path, ways: list[str]) -> None:
    repo = tmp_path / "repo"
    back_up(home, repo)
    for number in range(4):
        write(home)
        write(home, f"DELETE FROM messages WHERE id BETWEEN {number}00 AND {number}20")
        saved = back_up(home, repo)
        assert saved.backup.written.size < 40_000
        with closing(sqlite3.connect(home / "state.db")) as db:
            said = saved.backup.manifest.facts["databases"]["home/state.db"]["rows"]
            assert said["messages"] == db.execute("SELECT count(*) FROM messages").fetchone()[0]
        assert_comes_back(repo, home, tmp_path / f"again-{number}")
    assert ways == ["whole", "part", "part", "part", "part"]


def test_it_is_as_if_copied_whole(tmp_path: Path, home: Path) -> None:
    """Names of chunks, and the paths that a restore moves."""
    back_up(home, tmp_path / "repo")
    write(home)
    part = back_up(home, tmp_path / "repo")
    whole = back_up(home, tmp_path / "repo", Wanted(reread=True))
    facts = [saved.backup.manifest.facts for saved in (part, whole)]
    assert facts[0]["databases"] == facts[1]["databases"]
    assert facts[0]["relocation"] == facts[1]["relocation"] != []
    digests = [contents(tmp_path / "repo" / saved.snapshot.id)["home/state.db"][-1] for saved in (part, whole)]
    assert digests[0] == digests[1]
    assert part.snapshot.members == whole.snapshot.members


def test_nothing_rests_on_it_for_long(
    tmp_path: Path, home: Path, ways: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a week, or when the clock went back, a whole copy is made and checked."""
    now = time.time()
    for days in (0, 6.9, 7.1, 13, 14.2, 14.3, 13.9):
        monkeypatch.setattr(time, "time", lambda days=days: now + days * 24 * 3600)
        write(home)
        back_up(home, tmp_path / "repo")
    assert ways == ["whole", "part", "whole", "part", "whole", "part", "whole"]
    assert_comes_back(tmp_path / "repo", home, tmp_path / "again")


def test_sqlite_checks_it_once_a_day(
    tmp_path: Path, home: Path, ways: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now, check, hours, checked = time.time(), databases.check, 0.0, []
    monkeypatch.setattr(time, "time", lambda: now + hours * 3600)
    monkeypatch.setattr(databases, "check", lambda *found: (checked.append(hours), check(*found))[1])
    for hours in (0.0, 1.0, 19.0, 21.0, 40.0, 42.0):  # noqa: B007  the clock reads it
        write(home)
        back_up(home, tmp_path / "repo")
    assert ways == ["whole", *["part"] * 5]
    assert checked == [0.0, 21.0, 42.0]


def test_a_row_that_breaks_a_rule_is_told_the_next_day(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only SQLite knows what rows may hold; that a page is none shows at once."""
    back_up(home, tmp_path / "repo")
    with closing(sqlite3.connect(home / "state.db")) as db:
        db.execute("PRAGMA writable_schema=ON")
        db.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'role TEXT,', 'role TEXT NOT NULL,') WHERE name='messages'"
        )
        db.execute("INSERT INTO messages (session_id, role, content) VALUES ('s1', NULL, 'x')")
        db.commit()
    assert back_up(home, tmp_path / "repo").backup.unsound == {}
    write(home)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 21 * 3600)
    assert "NULL value in messages.role" in back_up(home, tmp_path / "repo").backup.unsound["home/state.db"]


def test_all_is_read_when_asked_for(tmp_path: Path, home: Path, ways: list[str]) -> None:
    for wanted in (Wanted(), Wanted(reread=True), Wanted(keep_indexes=True), Wanted(secrets=Policy.REDACT)):
        write(home)
        back_up(home, tmp_path / "repo", wanted)
    assert ways == ["whole"] * 4


def test_the_program_has_the_store_open(tmp_path: Path, home: Path, ways: list[str]) -> None:
    """Then a child reads it; the program's locks stay."""
    back_up(home, tmp_path / "repo")
    with closing(sqlite3.connect(home / "state.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE messages SET content = 'mine' WHERE id = 7")
        before = rows(home / "state.db")
        write_elsewhere = sqlite3.connect(home / "state.db", timeout=0)
        back_up(home, tmp_path / "repo")
        with closing(write_elsewhere), pytest.raises(sqlite3.OperationalError, match="locked"):
            write_elsewhere.execute("DELETE FROM messages")
        db.execute("COMMIT")
        restore(tmp_path / "repo/latest", tmp_path / "again")
        assert rows(tmp_path / "again/state.db") == before
        back_up(home, tmp_path / "repo")
    assert ways == ["whole", "part", "part"]
    assert_comes_back(tmp_path / "repo", home, tmp_path / "later")


def test_what_did_not_change_is_damaged_in_the_repository(tmp_path: Path, home: Path, ways: list[str]) -> None:
    """A chunk that is needed for a changed page can't be read: all is read, and stored anew."""
    repo = tmp_path / "repo"
    back_up(home, repo)
    [pack] = packs_in(repo / "packs")
    content = bytearray(pack.read_bytes())
    with Index.of(repo / "packs") as index:
        [snapshot] = all_snapshots(repo)
        member = next(m for m in snapshots.members(snapshot, index) if m.entry.name == "home/state.db")
        place = index.places[member.chunks[-1]]
    content[place.stored.offset + place.stored.stored // 2] ^= 255
    pack.write_bytes(content)
    write(home)
    back_up(home, repo)
    assert ways == ["whole", "whole"]
    restore(repo / "latest", tmp_path / "again")
    assert rows(tmp_path / "again/state.db") == rows(home / "state.db")


def test_the_store_is_damaged(tmp_path: Path, home: Path, ways: list[str]) -> None:
    """In a page that did not change since; a backup says so as ever."""
    repo = tmp_path / "repo"
    back_up(home, repo)
    with closing(sqlite3.connect(home / "state.db")) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages'").fetchone()[0]
        size = db.execute("PRAGMA page_size").fetchone()[0]
    with (home / "state.db").open("r+b") as file:
        file.seek((root - 1) * size + 12)
        file.write(b"\xff\xff")
    saved = back_up(home, repo)
    assert saved.backup.unsound
    assert ways == ["whole", "whole"]


def test_the_digest_that_is_told_is_the_one_that_is_expected(tmp_path: Path, home: Path) -> None:
    back_up(home, tmp_path / "repo")
    write(home)
    saved = back_up(home, tmp_path / "repo")
    result = verify(tmp_path / "repo" / saved.snapshot.id, expect=saved.snapshot.whole)
    assert (result.verdict, result.whole) == (Verdict.SOUND, saved.snapshot.whole)
    other = verify(tmp_path / "repo" / saved.snapshot.id, expect="0" * 64)
    assert other.verdict is Verdict.DAMAGED
    with open_archive(tmp_path / "repo" / saved.snapshot.id) as archive:
        assert sum(1 for _ in archive.members()) > 1


@pytest.mark.parametrize("what", ["deleted", "a link", "another", "left out"])
def test_a_store_that_is_there_no_more(tmp_path: Path, home: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look at what is known and the walk, or since the last backup."""
    back_up(home, tmp_path / "repo")
    write(home)
    wanted = Wanted(exclude=("state.db",)) if what == "left out" else Wanted()
    begin = Copies.begin

    def change(copies: Copies, *arguments: Any) -> None:
        begin(copies, *arguments)
        assert copies.begun
        if what in ("deleted", "a link"):
            (home / "state.db").rename(tmp_path / "elsewhere.db")
        if what == "a link":
            (home / "state.db").symlink_to(tmp_path / "elsewhere.db")
        if what == "another":
            peer_database.make(tmp_path / "other.db", messages=7)
            (tmp_path / "other.db").replace(home / "state.db")

    monkeypatch.setattr(Copies, "begin", change)
    before = rows(home / "state.db")
    saved = back_up(home, tmp_path / "repo", wanted)
    restore(tmp_path / "repo" / saved.snapshot.id, tmp_path / "again")
    assert os.path.lexists(tmp_path / "again/state.db") == (what in ("another", "a link"))
    assert (tmp_path / "again/state.db").is_symlink() == (what == "a link")
    if what == "another":
        assert rows(tmp_path / "again/state.db") == before
        monkeypatch.undo()
        back_up(home, tmp_path / "repo")
        assert_comes_back(tmp_path / "repo", home, tmp_path / "later")
    assert_sound(tmp_path / "repo")
