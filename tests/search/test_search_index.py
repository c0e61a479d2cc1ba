"""The index is derived: it follows the messages, survives kills and damage, and never makes a search wrong."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import textwrap
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from search_world import texts
from sqlalchemy import update

from hermes_state import SessionDB, index
from hermes_state.engine import fts, sqlite_index
from hermes_state.engine.driver import newest_driver
from hermes_state.index import MessageIndex
from hermes_state.schema import store_state
from hermes_state.search import search as search_module
from hermes_state.search import sources

if TYPE_CHECKING:
    from pathlib import Path

    from search_world import Say


def indexed(db: SessionDB) -> int:
    with db.engine.read() as connection:
        return fts.tokens_in(connection).totals(connection).documents


def test_a_search_finds_what_was_appended_just_before(db: SessionDB) -> None:
    """Read your writes: an append moves no index, the next search does."""
    session = db.sessions.create(source="cli").id
    for n in range(5):
        db.messages.append(session, role="user", content=f"lambda {n}")
        assert db.search.index.pending() == 1
        assert len(texts(db, "lambda")) == n + 1
    assert db.search.index.pending() == 0


@pytest.mark.sqlite_only
def test_a_full_disk_hinders_no_search(db: SessionDB, say: Say) -> None:
    """The index can't grow then, so what is not in it is read message by message (B031)."""
    say("rho before")
    with db.engine.write() as connection:
        used = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count={used}")
    found = db.search.messages("rho")
    assert texts(db, "rho") == ["rho before"]
    assert any("not in the index" in reason or "no usable index" in reason for reason in found.degraded)


def test_batches_add_each_message_once(db: SessionDB, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small batches, of several threads at once, give the same index as one."""
    monkeypatch.setattr(index, "BATCH_MESSAGES", 7)
    say(*(f"theta {n} text" for n in range(100)))
    handles = [MessageIndex(db.engine) for _ in range(3)]
    threads = [threading.Thread(target=handle.catch_up) for handle in handles]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert indexed(db) == 100
    assert len(db.search.messages("theta", limit=200)) == 100
    with db.engine.write() as connection:
        fts.tokens_in(connection).check_structure(connection)


def test_deleted_messages_leave_the_index(db: SessionDB, say: Say) -> None:
    """Deleting a session takes its words out; what was never indexed is not taken out either."""
    gone, stays = say("mu gone", "mu 桂林 gone"), say("mu stays")
    assert len(texts(db, "mu")) == 3
    db.messages.append(gone, role="user", content="mu not indexed yet")
    db.sessions.delete(gone)
    assert texts(db, "mu") == ["mu stays"]
    assert texts(db, "桂林") == []
    assert indexed(db) == 1
    with db.engine.write() as connection:
        fts.tokens_in(connection).check_structure(connection)
    assert db.search.messages("mu")[0].session_id == stays


def test_messages_without_words_have_no_entry(db: SessionDB, say: Say) -> None:
    """Empty and wordless messages are passed over and can be deleted."""
    session = say("", "!!!", {"role": "assistant", "content": None}, "nu")
    assert texts(db, "nu") == ["nu"]
    assert indexed(db) == 1
    db.sessions.delete(session)
    assert indexed(db) == 0


def test_a_rebuild_gives_the_same_answers(db: SessionDB, say: Say) -> None:
    """Nothing depends on how the index came about."""
    say(*(f"xi {n} word{n % 5}" for n in range(50)))
    before = [hit.message_id for hit in db.search.messages("xi word3")]
    seen: list[tuple[int, int]] = []
    db.search.rebuild(progress=lambda done, of: seen.append((done, of)))
    assert [hit.message_id for hit in db.search.messages("xi word3")] == before
    assert seen[-1][0] == seen[-1][1]
    assert db.search.messages("xi").degraded == ()


def test_an_interrupted_rebuild_is_reported_and_goes_on(
    db: SessionDB, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B016: a rebuild that fails half-way raises, searches stay right and say so, and the rest follows."""
    monkeypatch.setattr(index, "BATCH_MESSAGES", 10)
    say(*(f"pi {n}" for n in range(40)))
    assert len(db.search.messages("pi", limit=100)) == 40

    batches = iter(range(2))

    def fail(_done: int, _of: int) -> None:
        if next(batches):
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        db.search.rebuild(progress=fail)
    assert db.search.index.pending() == 20
    monkeypatch.setattr(search_module, "CATCH_UP_S", 0.0)
    monkeypatch.setattr(MessageIndex, "try_catch_up", lambda *_args, **_options: False)
    hits = db.search.messages("pi 35", limit=100)
    assert texts(db, "pi 35")[0] == "pi 35"
    assert len(hits) == 40
    assert any("being built anew" in reason for reason in hits.degraded)
    assert any("20 messages are not in the index" in reason for reason in hits.degraded)
    monkeypatch.undo()
    assert db.search.messages("pi", limit=100).degraded == ()
    assert db.search.index.pending() == 0


def test_kill_during_catch_up_and_rebuild(db: SessionDB, say: Say, store_at: str) -> None:
    """A process killed at any moment leaves an index that says truly how far it goes."""
    for _ in range(10):
        say(*(f"rho {n} " + "filler words here " * 20 for n in range(100)))
    program = """
        import sys
        from hermes_state import SessionDB, index
        index.BATCH_MESSAGES = 20
        with SessionDB.open(sys.argv[1]) as db:
            print("ready", flush=True)
            while True:
                db.search.rebuild()
    """
    for delay in (0.02, 0.1, 0.25):
        child = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program), store_at],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        assert len(db.search.messages("rho", limit=1000, context=0)) == 1000
        assert indexed(db) == 1000
        with db.engine.write() as connection:
            fts.tokens_in(connection).check_structure(connection)


def meddle(path: Path, statement: str) -> Any:
    """Run a statement behind the store's back, with the same SQLite: two in one process would not see locks."""
    connection = newest_driver().module.connect(str(path), isolation_level=None)
    connection.execute(statement)
    return connection


DAMAGE = "UPDATE message_index_data SET block = x'deadbeefdeadbeef' WHERE id > 10"


@pytest.mark.sqlite_only
def test_a_damaged_index_is_built_anew(db: SessionDB, say: Say, tmp_path: Path) -> None:
    """B032: damage to the index costs no message and no answer; the first search after it says what happened."""
    session = say(*(f"sigma {n}" for n in range(30)))
    assert len(db.search.messages("sigma", limit=100)) == 30
    meddle(tmp_path / "store.db", DAMAGE).close()
    db.messages.append(session, role="user", content="sigma appended")
    assert len(db.search.messages("sigma", limit=100)) == 31
    assert db.search.index.damage
    assert indexed(db) == 31
    assert db.search.messages("sigma").degraded == ()


def test_an_index_that_cannot_even_be_dropped_is_forsaken(tmp_path: Path) -> None:
    """A garbage page stops SQLite from freeing a table; the store goes on without it."""
    path = tmp_path / "store.db"
    with SessionDB.open(path) as db:
        session = db.sessions.create(source="cli").id
        db.messages.append_many(session, [{"role": "user", "content": f"beth {n}"} for n in range(500)])
        assert len(db.search.messages("beth", limit=500)) == 500
    found = meddle(path, "PRAGMA page_size")
    size = found.execute("PRAGMA page_size").fetchone()[0]
    pages = [row[0] for row in found.execute("SELECT rootpage FROM sqlite_master WHERE name = 'message_index_data'")]
    found.close()
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * size)
            file.write(os.urandom(size))
    with SessionDB.open(path) as db:
        assert len(db.search.messages("beth", limit=500)) == 500
        assert len(db.messages.list(session)) == 500
        assert indexed(db) == 500


@pytest.mark.sqlite_only
def test_a_damaged_index_hinders_no_deletion(db: SessionDB, say: Say, tmp_path: Path) -> None:
    """Deleting works on messages; the index is started anew when it cannot follow."""
    gone = say(*(f"tau {n}" for n in range(30)))
    say("tau stays")
    assert len(db.search.messages("tau", limit=100)) == 31
    meddle(tmp_path / "store.db", DAMAGE).close()
    db.sessions.delete(gone)
    assert texts(db, "tau") == ["tau stays"]


@pytest.mark.sqlite_only
def test_a_lost_index_table_is_made_again(db: SessionDB, say: Say, tmp_path: Path) -> None:
    """An index that somebody dropped is missed and made."""
    say("upsilon")
    assert len(db.search.messages("upsilon")) == 1
    meddle(tmp_path / "store.db", "DROP TABLE message_index").close()
    assert len(db.search.messages("upsilon")) == 1


def test_older_rules_of_segmentation_mean_a_rebuild_and_newer_ones_none(db: SessionDB, say: Say) -> None:
    """An index of an older version is built anew; two versions in one home do not take turns in rebuilding."""
    say("phi")
    db.search.messages("phi")
    for stored, is_rebuilt in (("0+stem0+unicode9.0.0", True), ("9+stem99.1+unicode99.0.0", False)):
        with db.engine.write() as connection:
            connection.execute(update(store_state).values(segmentation=stored))
        assert len(db.search.messages("phi")) == 1
        assert (db.search.index.mark().segmentation != stored) == is_rebuilt


@pytest.mark.sqlite_only
def test_without_fts5_messages_are_read(db: SessionDB, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """A SQLite without FTS5 stores everything, finds everything, and every answer says how."""
    monkeypatch.setattr(sqlite_index, "is_available", lambda _connection: False)
    say("chi one", "chi two 升级", "other")
    for query, count in (("chi", 2), ("升级", 1), ("chi -two", 1), ('"chi one"', 1), ("ch*", 2), ("NOT chi", 1)):
        for sort in ("relevance", "newest"):
            hits = db.search.messages(query, sort=sort)
            assert len(hits) == count, query
            assert any("without FTS5" in reason for reason in hits.degraded)


def test_a_read_only_store_is_searched_to_its_end(db: SessionDB, say: Say, store_at: str) -> None:
    """What a read-only handle cannot index it reads, and says so."""
    session = say("psi one")
    db.search.messages("psi")
    db.messages.append(session, role="user", content="psi two")
    with SessionDB.open(store_at, read_only=True) as reader:
        hits = reader.search.messages("psi")
        assert len(hits) == 2
        assert hits.degraded == ("1 messages are not in the index yet and were read one by one.",)


def test_the_background_fills_the_index_when_appends_rest(db: SessionDB) -> None:
    """After a pause the index is up to date without anybody searching."""
    session = db.sessions.create(source="cli").id
    for n in range(20):
        db.messages.append(session, role="user", content=f"omega {n}")
        db.search.index.wake()
    while db.search.index.pending():  # else the suite's own limit ends it
        time.sleep(0.05)
    db.search.index.close()


def test_appends_never_wait_for_the_background(db: SessionDB, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a backlog is worked off, an append takes no longer than a commit."""
    monkeypatch.setattr("hermes_state.indexer.IDLE_S", 0.0)
    session = say(*("some words of a message " * 20 for _ in range(3_000)))
    db.search.index.wake(3_000)
    took = []
    for _ in range(100):
        started = time.thread_time()
        db.messages.append(session, role="user", content="more")
        took.append(time.thread_time() - started)
    assert statistics.median(took) < 0.05
    db.search.index.close()


@pytest.mark.sqlite_only
def test_a_locked_store_is_searched_without_its_newest_messages_in_the_index(
    db: SessionDB, say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that holds the lock delays a search by the lock budget and hides nothing from it."""
    monkeypatch.setattr(search_module, "LOCK_S", 0.05)
    say("alef one")
    other = meddle(tmp_path / "store.db", "BEGIN IMMEDIATE")
    hits = db.search.messages("alef")
    other.execute("ROLLBACK")
    other.close()
    assert len(hits) == 1
    assert hits.degraded


@pytest.mark.sqlite_only
def test_reading_message_by_message_has_an_end(db: SessionDB, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an index only so many messages are read, the newest, and the answer says so."""
    monkeypatch.setattr(sqlite_index, "is_available", lambda _connection: False)
    for module in (search_module, sources):
        monkeypatch.setattr(module, "MAX_SCANNED", 5)
    say(*(f"gimel {n}" for n in range(20)))
    hits = db.search.messages("gimel")
    assert 5 <= len(hits) <= 6
    assert any("Only the newest 5" in reason for reason in hits.degraded)
