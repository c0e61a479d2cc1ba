"""An index that is damaged, missing or impossible: messages are stored and found all the same."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from damage import leaves_of, overwrite

from hermes_state.check import Kind, check
from hermes_state.engine import sqlite_index
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed store of 400 indexed messages in two sessions."""
    path = tmp_path / "store.db"
    with SessionDB.open(path, synchronous="NORMAL") as db:
        for n in range(2):
            db.sessions.create(f"s{n}", source="cli")
            texts = [f"word{m} 消息{m} session{n} " + "lorem ipsum " * 20 for m in range(200)]
            db.messages.append_many(f"s{n}", [{"role": "user", "content": text} for text in texts])
        db.search.messages("word7")
        db.maintenance.optimize()
    return path


@pytest.mark.parametrize("part", ["message_index_data", "message_index_docsize", "message_index_idx"])
def test_a_damaged_index_hinders_nobody(path: Path, part: str) -> None:
    """B032: appends, deletions and searches go on, the index is built anew from the messages, and that is verified."""
    overwrite(path, *leaves_of(path, part))
    with SessionDB.open(path) as db:
        report = check(db.engine)
        assert Kind.INDEX in report.counts
        assert not report.needs_recovery, report.findings
        assert db.messages.append("s0", role="user", content="written beside the damage").position == 200
        assert len(db.search.messages("damage")) == 1
        assert len(db.search.messages("word7", limit=50)) == 2
        db.sessions.delete("s1")
        assert len(db.search.messages("word7", limit=50)) == 1
        assert db.messages.count() == 201
        db.index.rebuild()
        assert_sound_after_vacuum(db)


def assert_sound_after_vacuum(db: SessionDB) -> None:
    """Nothing is wrong but for pages of the old index that SQLite could not read to free them; a vacuum does."""
    report = check(db.engine, full=True)
    assert report.counts.keys() <= {Kind.UNUSED}, report.findings
    assert not report.needs_recovery
    db.maintenance.vacuum()
    assert check(db.engine, full=True).is_sound


def test_deleting_beside_a_damaged_index_works(path: Path) -> None:
    """The deletion goes through though the index can't be told; what is left is found, what is gone is not."""
    overwrite(path, *leaves_of(path, "message_index_data"))
    with SessionDB.open(path) as db:
        db.sessions.delete("s1")
        assert db.sessions.count() == 1
        assert [hit.session_id for hit in db.search.messages("word7", limit=50)] == ["s0"]
        assert_sound_after_vacuum(db)


def test_upkeep_of_a_damaged_index_builds_it_anew(path: Path) -> None:
    """Optimizing and purging end with a sound store instead of an error."""
    overwrite(path, *leaves_of(path, "message_index_data"))
    with SessionDB.open(path) as db:
        db.maintenance.optimize()
        assert db.maintenance.optimize().is_complete
        assert_sound_after_vacuum(db)
    overwrite(path, *leaves_of(path, "message_index_data"))
    with SessionDB.open(path) as db:
        assert db.maintenance.purge().is_complete
        assert check(db.engine, full=True).is_sound
        assert len(db.search.messages("word7", limit=50)) == 2


def test_a_missing_index_is_built(path: Path) -> None:
    """Dropped by hand, or never there: the next search builds it."""
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE message_index")
    connection.close()
    with SessionDB.open(path) as db:
        assert Kind.INDEX in check(db.engine).counts
        assert len(db.search.messages("word7", limit=50)) == 2
        db.index.rebuild()
        assert check(db.engine, full=True).is_sound


def test_without_fts5_everything_is_stored_and_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B043: a SQLite without the module keeps and finds messages; a later one that has it fills the index."""
    path = tmp_path / "s.db"
    monkeypatch.setattr(sqlite_index, "is_available", lambda connection: False)
    with SessionDB.open(path) as db:
        db.sessions.create("s", source="cli")
        db.messages.append_many("s", [{"role": "user", "content": t} for t in ("hello world", "你好 世界", "other")])
        assert [hit.session_id for hit in db.search.messages("hello")] == ["s"]
        assert len(db.search.messages("世界")) == 1
        assert db.search.messages("absent") == []
        db.maintenance.optimize()
        db.maintenance.purge()
        assert check(db.engine, full=True).is_sound
        status = db.maintenance.status().index
        assert status is not None
        assert not status.is_available
    monkeypatch.undo()
    with SessionDB.open(path) as db:
        db.messages.append("s", role="user", content="hello again")
        assert len(db.search.messages("hello")) == 2
        assert db.index.mark().is_current
        assert check(db.engine, full=True).is_sound


def test_a_killed_rebuild_goes_on_where_it_stopped(path: Path) -> None:
    """B169: searches are complete meanwhile; the next handle finishes; nothing is in twice."""
    code = (
        "import os; from hermes_state.store import SessionDB; from hermes_state import index\n"
        f"index.BATCH_MESSAGES = 20; db = SessionDB.open({str(path)!r})\n"
        "def stop(done, newest):\n"
        "    if done > 100: os.kill(os.getpid(), 9)\n"
        "db.index.rebuild(progress=stop)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    with SessionDB.open(path) as db:
        stand = db.index.mark()
        assert 0 < stand.indexed_through < 400
        assert len(db.search.messages("word7", limit=50)) == 2
        db.index.catch_up()
        assert db.index.mark().is_current
        assert check(db.engine, full=True).is_sound


def test_opening_does_not_grow_with_the_store(tmp_path: Path) -> None:
    """B170: no check, no rebuild and no scan at open, also after a kill: it reads pages by the handful."""
    path = tmp_path / "s.db"
    with SessionDB.open(path, synchronous="NORMAL") as db:
        db.sessions.create("s", source="cli")
        for _ in range(10):
            db.messages.append_many("s", [{"role": "user", "content": "x" * 4000} for _ in range(500)])
    code = (
        "import os; from hermes_state.store import SessionDB\n"
        f"SessionDB.open({str(path)!r}).messages.append('s', role='user', content='x'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    statements: list[str] = []
    with SessionDB.open(path) as db:
        driver: Any = db.engine._writer_raw()  # type: ignore[attr-defined]
        driver.set_trace_callback(statements.append)
        db.sessions.get("s")
    assert not [s for s in statements if "check" in s]
