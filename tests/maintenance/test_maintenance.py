"""Upkeep: status, optimize, vacuum, purge."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from hermes_state.check import check
from hermes_state.engine import SqliteEngine, upkeep
from hermes_state.errors import DiskFull, HermesStateError, ReadOnlyStore, StoreBusy
from hermes_state.maintenance.status import status
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from pathlib import Path


def fill(db: SessionDB, sessions: int = 5, messages: int = 40, word: str = "ordinary") -> list[str]:
    """Sessions with texts of some hundred bytes each; every tenth text is long enough to be stored compressed."""
    ids = []
    for n in range(sessions):
        session = db.sessions.create(source="cli", title=f"{word} {n}").id
        texts = [f"{word} 工作 {n} {m} " + "lorem ipsum " * (400 if m % 10 == 0 else 20) for m in range(messages)]
        db.messages.append_many(session, [{"role": "user", "content": text} for text in texts])
        ids.append(session)
    return ids


def holds(path: Path, word: str) -> list[str]:
    """The files below a folder that hold a word, by an independent look (the store is closed)."""
    return [p.name for p in path.rglob("*") if p.is_file() and word.encode() in p.read_bytes()]


def test_status_says_how_the_store_is(db: SessionDB) -> None:
    """Sizes, schema, SQLite and what it means, counts, what waits for the index, copies on the disk."""
    ids = fill(db)
    db.lineage.rotate(ids[0], [{"role": "user", "content": "summary"}])
    db.lineage.delegate(ids[1])
    (db.path.parent / "state-snapshots").mkdir()
    (db.path.parent / "state-snapshots" / "store-0001-20260101T000000Z.db").write_bytes(b"12345")
    log = db.path.with_name("store.db-wal")
    least = log.stat().st_size
    now = db.maintenance.status()
    assert now.counts is not None
    assert (now.counts.sessions, now.counts.conversations, now.counts.messages) == (7, 5, 201)
    assert now.index is not None
    assert now.index.pending + (201 if now.index.is_current else 0) == 201
    assert now.schema == now.head
    assert now.sqlite_version in now.sqlite
    assert now.store_id == db.store_id
    assert (now.journal_mode, now.path) == ("wal", str(db.path))
    assert now.pages.size * now.pages.total > 0
    assert 0 < least <= now.sizes.wal <= log.stat().st_size  # the index may be written beside this
    assert [(copy.path.name, copy.bytes) for copy in now.copies] == [("store-0001-20260101T000000Z.db", 5)]
    db.search.messages("ordinary")
    after = db.maintenance.status().index
    assert after is not None
    assert (after.pending, after.is_current) == (0, True)
    assert after.bytes > 1000


def test_status_works_where_the_store_can_not_be_opened(db: SessionDB) -> None:
    """A schema of a newer version is named, with sizes and without counts."""
    with db.engine.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    engine = SqliteEngine(db.path, read_only=True)
    now = status(engine)
    engine.close()
    assert (now.schema, now.counts, now.index) == ("9999", None, None)
    assert now.sizes.total > 0


def test_status_names_who_else_has_it_open(db: SessionDB) -> None:
    """By process id and command, on Linux."""
    fill(db, 1, 1)
    with other_process(db.path) as other:
        assert any(f"process {other.pid}" in name for name in db.maintenance.status().open_elsewhere)
    assert db.maintenance.status().open_elsewhere == ()


class other_process:  # noqa: N801  reads like a function
    """Another process that holds the store open, reading or inside a write transaction."""

    def __init__(self, path: Path, *, writing: bool = False) -> None:
        inside = "c = db.engine.write(); c.__enter__()" if writing else "db.sessions.count()"
        self.code = (
            "import sys; from hermes_state.store import SessionDB\n"
            f"db = SessionDB.open({str(path)!r}); {inside}; print('ready', flush=True); sys.stdin.read()"
        )

    def __enter__(self) -> subprocess.Popen[bytes]:
        self.child = subprocess.Popen([sys.executable, "-c", self.code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.child.stdout is not None
        assert self.child.stdout.readline() == b"ready\n"
        return self.child

    def __exit__(self, *_: object) -> None:
        self.child.kill()
        self.child.communicate()


# --- optimize ---------------------------------------------------------------------------------------------------


def test_optimizing_never_keeps_a_writer_waiting(db: SessionDB) -> None:
    """Appends of another thread go through in between; no step holds the lock for long; nothing is left to do."""
    ids = fill(db, 10, 100)
    waits: list[float] = []
    stop = threading.Event()

    def keep_writing() -> None:
        while not stop.is_set():
            started = time.monotonic()
            db.messages.append(ids[0], role="user", content="meanwhile")
            waits.append(time.monotonic() - started)
            time.sleep(0.002)

    thread = threading.Thread(target=keep_writing)
    thread.start()
    done = db.maintenance.optimize()
    stop.set()
    thread.join()
    assert done.is_complete
    assert done.steps >= 3
    assert sorted(waits)[len(waits) * 9 // 10] < 0.1
    assert check(db.engine, full=True).is_sound


def test_optimizing_stops_at_its_budget(db: SessionDB) -> None:
    """With no time at all something is left, and the store is sound; the next call goes on."""
    fill(db, 3, 300)
    db.maintenance.optimize(budget_s=0.0)
    assert check(db.engine, full=True).is_sound
    assert db.maintenance.optimize().is_complete


def test_the_planner_keeps_its_plans_with_statistics(db: SessionDB) -> None:
    """ANALYZE must not turn the listing or the tail into a scan."""
    fill(db, 60, 12)
    with db.engine.write() as connection:
        connection.exec_driver_sql("ANALYZE")
    with SessionDB.open(db.path) as fresh:
        plans: list[str] = []
        from sqlalchemy import event

        def explain(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
            if statement.startswith("SELECT"):
                rows = connection.connection.driver_connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
                plans.extend(row[3] for row in rows)

        event.listen(fresh.engine._sqlalchemy, "before_cursor_execute", explain)  # type: ignore[attr-defined]
        fresh.sessions.list()
        fresh.sessions.get(fresh.sessions.list()[0].id)
    assert any("ix_sessions_listed" in step for step in plans)
    assert not [step for step in plans if step.startswith("SCAN") and "messages" in step]


# --- vacuum -----------------------------------------------------------------------------------------------------


def test_vacuum_gives_space_back(db: SessionDB) -> None:
    """After a large deletion the file is smaller, the WAL is empty, and the sizes are told."""
    ids = fill(db, 20, 40)
    db.index.close()  # its thread would write to the WAL again
    db.maintenance.checkpoint()
    for session in ids[2:]:
        db.sessions.delete(session)
    done = db.maintenance.vacuum()
    assert done.saved_bytes > done.before.main // 3
    assert done.after.wal == 0
    assert done.after.main == db.path.stat().st_size
    assert db.maintenance.status().pages.free == 0
    assert check(db.engine, full=True).is_sound
    assert db.messages.count(ids[0]) == 40


def test_vacuum_needs_the_store_for_itself(db: SessionDB) -> None:
    """Another process that has it open is named; on request it is done all the same."""
    fill(db, 1, 5)
    with other_process(db.path) as other:
        with pytest.raises(StoreBusy) as refused:
            db.maintenance.vacuum()
        assert str(other.pid) in refused.value.holder
        db.maintenance.vacuum(while_open=True)


def test_vacuum_waits_for_no_open_writer_for_ever(tmp_path: Path) -> None:
    """A writer of another process is an error after the budget, by name."""
    with SessionDB.open(tmp_path / "s.db", busy_budget_s=0.3) as db:
        fill(db, 1, 5)
        with other_process(db.path, writing=True) as other:
            with pytest.raises(StoreBusy) as refused:
                db.maintenance.vacuum(while_open=True)
            assert str(other.pid) in refused.value.holder


def test_vacuum_looks_for_room_first(db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too little disk or memory is told with figures before anything is done."""
    fill(db, 1, 5)
    usage = shutil.disk_usage(db.path.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(DiskFull, match="MB"):
        db.maintenance.vacuum()
    monkeypatch.undo()
    monkeypatch.setattr(upkeep, "copies_in_memory", lambda _: True)
    monkeypatch.setattr(upkeep, "free_memory", lambda: 1000)
    with pytest.raises(HermesStateError, match="memory"):
        db.maintenance.vacuum()


# --- purge ------------------------------------------------------------------------------------------------------


def test_deleted_means_deleted(db: SessionDB) -> None:
    """B163: after deleting and purging, no file of the home holds the word, wherever it had been."""
    home, word = db.path.parent, "zqcanary7f3a91"
    kept = fill(db, 3, 30)
    doomed = fill(db, 2, 60, word=word)
    db.sessions.update(doomed[0], cwd=f"/{word}", extras={word: word}, system_prompt=word)
    db.sessions.tag(doomed[0], word)
    db.messages.append(doomed[0], role="tool", content="x", tool_name=word, extras={word: 1})
    delegate = db.lineage.delegate(doomed[0]).id
    db.messages.append(delegate, role="user", content=word)
    branch = db.lineage.branch(kept[0])
    db.search.messages(word)
    with db.engine.write() as connection:
        connection.exec_driver_sql("ANALYZE")
    db.engine.copy_to(home / "store-before.db")
    (home / "state-snapshots").mkdir()
    (home / "store-before.db").rename(home / "state-snapshots" / "store-0000-20260101T000000Z.db")
    (home / ".store.db.x1.partial").write_bytes(word.encode())
    for session in doomed:
        db.sessions.delete(session)
    assert db.search.messages(word) == []

    done = db.maintenance.purge(words=[word, word.upper(), "ordinary", "nothing-has-this"])

    assert done.wal_emptied
    assert len(done.removed) == 2
    assert done.found[word] == done.found[word.upper()] == done.found["nothing-has-this"] == ()
    assert db.path in done.found["ordinary"]
    assert check(db.engine, full=True).is_sound
    assert db.messages.count(branch.id) == 30
    assert len(db.search.messages("ordinary", limit=5)) == 5
    db.close()
    assert holds(home, word) == []
    assert holds(home, "ordinary") == ["store.db"]


def test_purge_leaves_the_copies_of_other_stores(db: SessionDB) -> None:
    """Whose name only begins like this one's, and files of the user that look a little like copies."""
    folder = db.path.parent / "state-snapshots"
    folder.mkdir()
    strangers = [folder / "store-2-0001-20260101T000000Z.db", folder / "store-notes.db", folder / "2026-store.tar.zst"]
    strangers += [db.path.parent / name for name in ("store-2.db", "store.recovered-by-me.db", "mystore.damaged-1.db")]
    for path in strangers:
        path.write_bytes(b"x")
    own = [folder / "store-0001-20260101T000000Z.db", db.path.with_name("store.damaged-0a1b2c.db")]
    own.append(db.path.with_name("store.recovered.db"))
    for path in own:
        path.write_bytes(b"x")
    assert {copy.path for copy in db.maintenance.purge().removed} == set(own)
    assert all(path.exists() for path in strangers)


def test_purge_reports_what_other_programs_keep(db: SessionDB) -> None:
    """A file that is not ours is named and left alone, and the purge is then not complete."""
    notes = db.path.parent / "sessions" / "old.jsonl"
    notes.parent.mkdir()
    notes.write_text("… zqCanary7 …")
    done = db.maintenance.purge(words=["zqcanary7"])
    assert done.found["zqcanary7"] == (notes,)
    assert not done.is_complete
    assert notes.exists()
    assert db.maintenance.purge().is_complete


def test_purge_tells_when_a_reader_keeps_the_wal(db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    """An old snapshot that another process reads from keeps deleted text alive: that is said, not hidden."""
    fill(db, 1, 5)
    monkeypatch.setattr("hermes_state.maintenance._CHECKPOINT_BUDGET_S", 0.1)
    with SessionDB.open(db.path) as reader, reader.engine.read() as connection:
        connection.exec_driver_sql("SELECT count(*) FROM messages").scalar()
        done = db.maintenance.purge()
    assert not done.wal_emptied
    assert not done.is_complete
    assert db.maintenance.purge().is_complete


def test_a_read_only_handle_purges_nothing(db: SessionDB) -> None:
    """Typed, before anything is removed."""
    with SessionDB.open(db.path, read_only=True) as reader, pytest.raises(ReadOnlyStore):
        reader.maintenance.purge()
