"""A second backup copies of a store what changed, and is none the worse for it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import peer_database
import pytest
from homes import rows
from ordinary_user import modes_count
from repositories import all_snapshots, assert_sound, contents

from hermes_state import SessionDB
from hermes_state.copying.digest import digests
from hermes_state.home import STORE_NAME
from hermes_state.portability import apart, databases, partial
from hermes_state.portability.backup import Wanted, backup
from hermes_state.portability.copies import Copies
from hermes_state.portability.policy import Policy
from hermes_state.portability.reader import open_archive
from hermes_state.portability.repository import snapshots
from hermes_state.portability.repository.backup import back_up
from hermes_state.portability.repository.index import Index
from hermes_state.portability.repository.packs import packs_in
from hermes_state.portability.restore import restore
from hermes_state.portability.stored import content_of
from hermes_state.portability.verify import Verdict, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


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


REBUILT = "INSERT INTO state_meta (key, value) VALUES ('fts_rebuild_progress', '7')"


@pytest.mark.parametrize(
    ("wanted", "statement"),
    [(Wanted(keep_indexes=True), ""), (Wanted(secrets=Policy.REDACT), ""), (Wanted(), REBUILT)],
    ids=["with its indexes", "without secrets", "with an index that is being built"],
)
def test_a_snapshot_of_something_else_is_nothing_to_build_on(
    tmp_path: Path, home: Path, ways: list[str], wanted: Wanted, statement: str
) -> None:
    """The one between holds other pages than were noted of the first."""
    repo = tmp_path / "repo"
    write(home, f"UPDATE messages SET content = 'with {SECRET} in it' WHERE id % 50 = 3")
    back_up(home, repo)
    if statement:
        write(home, statement)
    back_up(home, repo, wanted)
    write(home, "DELETE FROM state_meta WHERE key LIKE 'fts_rebuild%'")
    back_up(home, repo)
    assert_comes_back(repo, home, tmp_path / "again")
    write(home)
    back_up(home, repo)
    assert_comes_back(repo, home, tmp_path / "later")
    assert [way for way in ways if way != "refused"] == ["whole", "whole", "whole", "part"]


def _replaced_by_a_text(database: Path) -> None:
    database.unlink()
    database.write_text("moved away")


@pytest.mark.parametrize(
    "change",
    [
        Path.unlink,
        lambda database: database.rename(database.with_name("moved.db")),
        lambda database: database.with_name("linked.db").hardlink_to(database),
        _replaced_by_a_text,
    ],
    ids=["deleted", "moved", "linked", "by a text"],
)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_what_becomes_of_a_database_that_was_begun(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object], moment: str
) -> None:
    """Between the first look and the walk: the backup holds what is there then, or what was there when it began."""
    repo, database = tmp_path / "repo", home / "state.db"
    back_up(home, repo)
    write(home)
    with closing(sqlite3.connect(database)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = rows(database)
    refreshing = partial.refreshing

    @contextmanager
    def changing(*places: Path) -> Iterator[partial.Begun | None]:
        if moment == "before":
            change(database)
        with refreshing(*places) as begun:
            if moment == "after":
                change(database)
            yield begun

    monkeypatch.setattr(partial, "refreshing", changing)
    saved = back_up(home, repo)
    monkeypatch.undo()
    assert not saved.backup.is_partial
    again = tmp_path / "again"
    restore(repo / "latest", again)
    assert {path.name for path in again.glob("*.db")} == {path.name for path in home.glob("*.db")}
    for path in home.glob("*.db"):
        found = again / path.name
        if change is _replaced_by_a_text:
            assert found.read_text() == path.read_text()
        else:
            assert rows(found) in (rows(path), before)
    assert_sound(repo)
    back_up(home, repo)
    restore(repo / "latest", tmp_path / "later")
    for path in home.glob("*.db"):
        if change is not _replaced_by_a_text:
            assert rows(tmp_path / "later" / path.name) == rows(path)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system does not tell what is open")
def test_many_databases_are_not_open_at_once(tmp_path: Path, ways: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    home, most = tmp_path / "home", 0
    for number in range(8):
        folder = home / f"profiles/{number}"
        folder.mkdir(parents=True)
        peer_database.make(folder / "state.db", messages=900)
    back_up(home, tmp_path / "repo")
    for folder in home.glob("profiles/*"):
        write(folder)
    finish = partial.Begun.finish

    def counting(begun: partial.Begun) -> Any:
        nonlocal most
        opened = [path.readlink() for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
        most = max(most, len({path for path in opened if path.suffix == ".db" and home not in path.parents}))
        return finish(begun)

    monkeypatch.setattr(partial.Begun, "finish", counting)
    back_up(home, tmp_path / "repo")
    assert ways == ["whole"] * 8 + ["part"] * 8
    assert 0 < most <= 2


def test_a_home_in_which_nothing_can_be_made(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite must not look for a log in WAL mode: it would have to make one."""
    asked = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and asked(path, mode))  # it asks for the user
    for number in range(2):
        before = rows(home / "state.db")
        assert not (home / "state.db-wal").exists()
        home.chmod(0o500)
        try:
            with modes_count():
                saved = back_up(home, tmp_path / "repo")
                backup(home, tmp_path / f"{number}.tar.zst")
        finally:
            home.chmod(0o700)
        assert not saved.backup.is_partial
        for place in (tmp_path / "repo/latest", tmp_path / f"{number}.tar.zst"):
            restore(place, tmp_path / f"again-{number}-{place.name}")
            assert rows(tmp_path / f"again-{number}-{place.name}/state.db") == before
        write(home)


def test_a_database_that_only_its_owner_can_read(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, ways: list[str]
) -> None:
    """A program was killed in a commit, and nobody but it may roll that back: the rest of the home is backed up."""
    with closing(sqlite3.connect(home / "state.db", isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=DELETE")
    script = (
        "import os, sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "db.execute('PRAGMA cache_size=5'); db.execute('BEGIN')\n"
        "db.execute('UPDATE messages SET content = ?', ('x' * 3000,)); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", script, home / "state.db"], check=True)
    assert (home / "state.db-journal").stat().st_size
    (home / "notes.md").write_text("升级")
    asked = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and asked(path, mode))
    home.chmod(0o500)
    try:
        with modes_count():
            saved = back_up(home, tmp_path / "repo")
    finally:
        home.chmod(0o700)
    assert [one["name"] for one in saved.backup.written.report.omitted] == ["home/state.db"]
    assert contents(tmp_path / "repo/latest").keys() >= {"home/notes.md"}


def test_what_digests_kept_is_in_no_copy(tmp_path: Path, ways: list[str]) -> None:
    """Neither few rows of it, nor so many that they fill pages."""
    home, repo = tmp_path / "home", tmp_path / "repo"
    home.mkdir()
    with SessionDB.open(home / STORE_NAME) as db:
        for number in range(4):
            for _ in range(80):
                session = db.sessions.create(source="cli").id
                db.messages.append(session, role="user", content=f"升级 valkey {number} " * 40)
            assert db.search.messages("valkey")
            with content_of(str(home / STORE_NAME)) as content:
                digests(content)
            back_up(home, repo)
    restore(repo / "latest", tmp_path / "again")
    with closing(sqlite3.connect(tmp_path / "again" / STORE_NAME)) as again:
        assert again.execute("SELECT count(*) FROM sessions").fetchone() == (320,)
        assert again.execute("SELECT count(*) FROM session_digests").fetchone() == (0,)
    assert ways == ["whole", "part", "part", "part"]


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


def test_a_store_under_two_names(tmp_path: Path, home: Path) -> None:
    """A hard link: while one is being copied, no descriptor of the other is closed in this process."""
    with closing(sqlite3.connect(home / "state.db")) as db:
        db.execute("PRAGMA journal_mode=DELETE")
    (home / "again.db").hardlink_to(home / "state.db")
    for number in range(3):
        saved = back_up(home, tmp_path / "repo")
        assert not saved.backup.unsound
        restore(tmp_path / "repo" / saved.snapshot.id, tmp_path / f"again-{number}")
        for name in ("state.db", "again.db"):
            assert rows(tmp_path / f"again-{number}" / name) == rows(home / "state.db")
        write(home)
    assert_sound(tmp_path / "repo")
