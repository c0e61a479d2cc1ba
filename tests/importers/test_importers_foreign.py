"""A foreign database is read whole, whatever state its files are in, and nothing is written in its folder."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hermes_homes import Home, listing
from ordinary_user import modes_count

from hermes_state.errors import FormatError, StoreDamaged, StoreUnavailable
from hermes_state.importers import foreign, import_hermes
from hermes_state.importers.foreign import ForeignChanged, ForeignDatabase, opened

if TYPE_CHECKING:
    from hermes_state.store import SessionDB

COUNT = "SELECT count(*) FROM messages"
WRITER = """
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA journal_mode=" + sys.argv[2])
db.execute("PRAGMA synchronous=OFF")
db.execute("PRAGMA cache_size=2")
db.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id, role, content)")
db.execute("CREATE TABLE sessions (id)")
for n in range(300):
    db.execute("INSERT INTO messages (content) VALUES (?)", ("x" * 500,))
if sys.argv[3] == "torn":
    db.execute("BEGIN IMMEDIATE")
    db.execute("UPDATE messages SET content = content || 'torn'")
os._exit(0)
"""


def crashed(folder: Path, mode: str = "WAL", how: str = "whole") -> Path:
    """A database whose owner was killed: 300 messages committed, an update of all of them perhaps not."""
    folder.mkdir(exist_ok=True)
    path = folder / "state.db"
    subprocess.run([sys.executable, "-c", WRITER, str(path), mode, how], check=True)
    return path


def count(path: Path) -> int:
    before = listing(path.parent)
    with opened(path) as database:
        (number,) = next(database.rows(COUNT))
        assert not any("torn" in row[0] for row in database.rows("SELECT content FROM messages"))
        database.verify()
    assert listing(path.parent) == before
    return int(number)


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))


def temporary_copies() -> list[Path]:
    return list(Path(tempfile.gettempdir()).iterdir())


def test_a_live_wal_is_read_up_to_its_last_commit(home: Home) -> None:
    home.session("s")
    home.talk("s", "one", "two")
    home.sql.execute("BEGIN IMMEDIATE")
    home.message("s", "not committed")
    assert count(home.path) == 2
    home.sql.execute("COMMIT")
    assert count(home.path) == 3


def test_the_owner_can_write_while_it_is_read(home: Home) -> None:
    home.session("s")
    home.talk("s", "one")
    with opened(home.path) as database:
        assert next(database.rows(COUNT)) == (1,)
        home.talk("s", "two")
        home.sql.execute("PRAGMA wal_checkpoint(PASSIVE)")
        assert next(database.rows(COUNT)) == (1,)
    assert count(home.path) == 2


@pytest.mark.parametrize("how", ["whole", "torn"])
def test_a_wal_left_by_a_crash_is_read(tmp_path: Path, how: str) -> None:
    assert count(crashed(tmp_path / "home", how=how)) == 300


@pytest.mark.parametrize("how", ["whole", "torn"])
def test_a_wal_without_its_shm_is_read_from_a_private_copy(tmp_path: Path, how: str) -> None:
    path = crashed(tmp_path / "home", how=how)
    Path(f"{path}-shm").unlink()
    assert count(path) == 300
    assert temporary_copies() == []


def test_a_wal_cut_in_the_middle_of_a_frame_is_read_up_to_there(tmp_path: Path) -> None:
    path = crashed(tmp_path / "home")
    wal = Path(f"{path}-wal")
    with wal.open("r+b") as file:
        file.truncate(wal.stat().st_size - 1000)
    assert 250 < count(path) < 300


def test_a_journal_left_by_a_crash_is_rolled_back_in_a_private_copy(tmp_path: Path) -> None:
    path = crashed(tmp_path / "home", "DELETE", "torn")
    assert Path(f"{path}-journal").stat().st_size
    assert count(path) == 300
    assert temporary_copies() == []


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_database_that_nobody_has_open_is_read_in_place(tmp_path: Path, mode: str) -> None:
    path = crashed(tmp_path / "home", mode)
    owner = sqlite3.connect(path)
    owner.execute(COUNT)
    owner.close()
    assert listing(path.parent).keys() == {"state.db"}
    assert count(path) == 300


def test_a_folder_that_can_not_be_written_is_read(tmp_path: Path) -> None:
    path = crashed(tmp_path / "home")
    path.parent.chmod(0o500)
    try:
        with modes_count():
            assert count(path) == 300
    finally:
        path.parent.chmod(0o700)


def test_a_path_with_every_odd_character_is_read(tmp_path: Path) -> None:
    assert count(crashed(tmp_path / "a home? 100% #1; 家")) == 300


def test_private_copies_are_only_ours(tmp_path: Path) -> None:
    path = crashed(tmp_path / "home")
    Path(f"{path}-shm").unlink()
    with opened(path):
        (copy,) = temporary_copies()
        assert copy.stat().st_mode & 0o777 == 0o700
    assert temporary_copies() == []


def test_writing_into_what_is_read_without_locks_is_noticed(tmp_path: Path) -> None:
    path = crashed(tmp_path / "home", "DELETE")
    with opened(path) as database:
        database.verify()
        owner = sqlite3.connect(path)
        owner.execute("UPDATE messages SET content = 'new'")
        owner.commit()
        owner.close()
        with pytest.raises(ForeignChanged):
            database.verify()


def test_an_import_starts_again_when_the_agent_starts_meanwhile(
    db: SessionDB, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.session("s")
    home.talk("s", "one")
    home.close()
    monkeypatch.setattr(foreign, "PAUSE_S", 0.0)
    looked = 0
    verify = ForeignDatabase.verify

    def verify_while_the_agent_starts(self: ForeignDatabase) -> None:
        nonlocal looked
        looked += 1
        if looked == 3:
            home.sql = sqlite3.connect(home.path, isolation_level=None)
            home.talk("s", "two")
        verify(self)

    monkeypatch.setattr(ForeignDatabase, "verify", verify_while_the_agent_starts)
    report = import_hermes(db, home.folder)
    assert [m.content for m in db.messages.list("s")] == ["one", "two"]
    assert report.sessions_found == 1


def test_a_file_that_never_rests_is_refused_in_the_end(
    db: SessionDB, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.close()
    monkeypatch.setattr(foreign, "PAUSE_S", 0.0)

    def changed(self: ForeignDatabase) -> None:
        raise ForeignChanged

    monkeypatch.setattr(ForeignDatabase, "verify", changed)
    with pytest.raises(StoreUnavailable, match="changes faster"):
        import_hermes(db, home.folder)


def test_a_damaged_database_is_reported_and_what_came_in_before_stays(db: SessionDB, home: Home) -> None:
    for n in range(60):
        home.session(f"s{n:02d}")
        home.sql.execute("BEGIN")
        for _ in range(40):
            home.message(f"s{n:02d}", "text " * 100)
        home.sql.execute("COMMIT")
    home.close()
    size = home.path.stat().st_size
    with home.path.open("r+b") as file:
        file.seek(size - size % 4096 - 40 * 4096)
        file.write(b"\xa5" * 20 * 4096)
    with pytest.raises(StoreDamaged):
        import_hermes(db, home.folder)
    assert db.messages.count() % 40 == 0


def test_locks_of_this_process_survive_reading_its_own_database(home: Home) -> None:
    """A plain descriptor that is closed, or a second SQLite library, would drop them and let another process in."""
    home.session("s")
    home.sql.execute("BEGIN IMMEDIATE")
    home.message("s", "mine")
    count_in_thread = threading.Thread(target=count, args=(home.path,))
    count_in_thread.start()
    count_in_thread.join()
    other = f"import sqlite3; sqlite3.connect({str(home.path)!r}, timeout=0).execute('BEGIN IMMEDIATE')"
    done = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True, check=False)
    assert "locked" in done.stderr
    home.sql.execute("COMMIT")
    assert count(home.path) == 1


def test_a_missing_or_wrong_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no database at"):
        ForeignDatabase(tmp_path / "state.db")
    (tmp_path / "state.db").write_bytes(b"x" * 5000)
    with pytest.raises(FormatError, match="not a SQLite database"):
        ForeignDatabase(tmp_path / "state.db")
