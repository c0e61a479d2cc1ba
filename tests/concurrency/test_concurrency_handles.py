"""Handles: forks, threads, files that vanish, and the locks that must not be dropped by accident."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hermes_state.check import check
from hermes_state.errors import HandleUnusable
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Callable

Start = Any


def in_fork(work: Any) -> str:
    """What a forked child says about `work()`: its result, or the error."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = str(work())
        except BaseException as error:
            said = type(error).__name__
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_refuses_the_inherited_handle(path: Path) -> None:
    """B040: it raises at once, even when the parent's lock was held; a fresh open works; the parent goes on."""
    with SessionDB.open(path) as db:
        db.sessions.create("s", source="cli")
        held, release = threading.Event(), threading.Event()

        def hold() -> None:
            with db.engine.write():
                held.set()
                release.wait()

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        assert in_fork(lambda: db.messages.append("s", role="user", content="x")) == "HandleUnusable"
        assert in_fork(lambda: db.sessions.list()) == "HandleUnusable"
        assert in_fork(lambda: db.close()) == "None"
        release.set()
        thread.join()

        def anew() -> str:
            with SessionDB.open(path) as fresh:
                return fresh.messages.append("s", role="user", content="child").role

        assert in_fork(anew) == "user"
        db.messages.append("s", role="user", content="parent")
        assert [m.content for m in db.messages.list("s")] == ["child", "parent"]
        assert check(db.engine, full=True).is_sound


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_that_ends_leaves_the_parents_wal(path: Path) -> None:
    """Interpreter shutdown in a multiprocessing child closes no copied handle and takes no lock away."""
    with SessionDB.open(path) as db:
        db.sessions.create("s", source="cli")
        worker = multiprocessing.get_context("fork").Process(target=db.path.exists)
        worker.start()
        worker.join()
        for n in range(50):
            db.messages.append("s", role="user", content=str(n))
        with SessionDB.open(path) as other:
            assert other.messages.count("s") == 50
        assert path.with_name(f"{path.name}-wal").exists()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_locks_of_its_own(path: Path) -> None:
    """What it commits is in the file after the parent closed, which by the parent's locks would remove the WAL."""
    ready, closed = os.pipe(), os.pipe()
    db = SessionDB.open(path)
    db.sessions.create("s", source="cli")
    child = os.fork()
    if child == 0:
        try:
            fresh = SessionDB.open(path)
            fresh.messages.append("s", role="user", content="before")
            os.write(ready[1], b"1")
            os.read(closed[0], 1)
            fresh.messages.append("s", role="user", content="after")
        finally:
            os._exit(0)
    os.read(ready[0], 1)
    db.close()
    os.write(closed[1], b"1")
    os.waitpid(child, 0)
    with SessionDB.open(path) as again:
        assert [m.content for m in again.messages.list("s")] == ["before", "after"]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_forked_amid_appends_and_reads_can_write(path: Path) -> None:
    """B040: it inherits no transaction of another thread, so it never waits for itself."""
    with SessionDB.open(path, synchronous="NORMAL") as db:
        db.sessions.create("s", source="cli")
        stop = threading.Event()

        def keep(work: Callable[[], object]) -> None:
            while not stop.is_set():
                work()

        busy = (lambda: db.messages.append("s", role="user", content="x"), lambda: db.messages.list("s", limit=50))
        threads = [threading.Thread(target=keep, args=(work,)) for work in busy]
        for thread in threads:
            thread.start()

        def anew() -> str:
            with SessionDB.open(path, busy_budget_s=5) as fresh:
                return fresh.messages.append("s", role="tool", content="child").role

        try:
            assert [in_fork(anew) for _ in range(8)] == ["tool"] * 8
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert db.messages.count("s") == db.sessions.get("s").message_count
        assert len(db.messages.list("s", roles=["tool"])) == 8
        assert check(db.engine, full=True).is_sound


def test_threads_share_one_handle(path: Path) -> None:
    """Writers and readers of sixteen threads on one handle: all rows, right counters, no error."""
    errors: list[BaseException] = []
    with SessionDB.open(path, synchronous="NORMAL") as db:
        for n in range(8):
            db.sessions.create(f"s{n}", source="cli")

        def write(name: str) -> None:
            try:
                for n in range(40):
                    db.messages.append(name, role="user", content=str(n))
                    if n % 10 == 0:
                        db.messages.append_many(name, [{"role": "user", "content": "x"}] * 3)
                        db.messages.rewind(name, last=3)
            except BaseException as error:
                errors.append(error)

        def read(name: str) -> None:
            try:
                for _ in range(30):
                    session = db.sessions.get(name)
                    assert 0 <= session.message_count <= 43
                    db.sessions.list()
                    db.messages.list(name, limit=5)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(f"s{n}",)) for n in range(8) for work in (write, read)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        for n in range(8):
            assert [m.content for m in db.messages.list(f"s{n}")] == [str(k) for k in range(40)]
        assert check(db.engine, full=True).is_sound


def test_a_file_that_was_removed_is_noticed(path: Path) -> None:
    """Nobody would ever read what goes into an unlinked file: the next write says so instead of succeeding."""
    with SessionDB.open(path) as db:
        db.sessions.create("s", source="cli")
        db.messages.append("s", role="user", content="x")
        path.rename(path.with_name("moved.db"))
        with pytest.raises(HandleUnusable, match="removed"):
            db.sessions.create("t", source="cli")
        db.engine._place.looked_at = 0.0  # type: ignore[attr-defined]  as after a tenth of a second
        with pytest.raises(HandleUnusable, match="removed"):
            db.messages.append("s", role="user", content="y")
        path.with_name("moved.db").rename(path)


def test_a_file_that_was_replaced_is_noticed(path: Path, tmp_path: Path) -> None:
    """A restore that swaps the file under an open handle leaves that handle unusable, not writing into the void."""
    with SessionDB.open(tmp_path / "new.db") as new:
        new.sessions.create("n", source="cli")
    with SessionDB.open(path) as db:
        db.sessions.create("s", source="cli")
        (tmp_path / "new.db").replace(path)
        with pytest.raises(HandleUnusable, match="replaced"):
            db.sessions.create("t", source="cli")
        path.with_name(f"{path.name}-wal").unlink()  # what the swap has to do first: it is of the old file
        path.with_name(f"{path.name}-shm").unlink()
        with SessionDB.open(path) as fresh:
            assert [s.id for s in fresh.sessions.list()] == ["n"]


def test_nothing_of_ours_opens_the_live_file_raw(path: Path, start: Start) -> None:
    """B025: whatever the handle is asked to do, no descriptor of the database is opened and closed by Python."""
    code = """
opened = []
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
        name = os.fsdecode(arguments[0])
        if name.startswith(sys.argv[1]):
            opened.append((name, arguments[2]))
with SessionDB.open(sys.argv[1]) as db:
    db.sessions.create("s", source="cli")
    sys.addaudithook(hook)
    from hermes_state.check import check
    from pathlib import Path
    with SessionDB.open(sys.argv[1]) as other:
        other.messages.append("s", role="user", content="word")
    db.search.messages("word")
    db.maintenance.status(); db.maintenance.optimize(); db.maintenance.checkpoint()
    db.engine.copy_to(Path(sys.argv[1]).with_name("copy-of.db"))
    check(db.engine, full=True)
    db.maintenance.purge(words=["word"])
    from hermes_state.recover import recover
    recover(Path(sys.argv[1]))
    db.messages.append("s", role="user", content="word")
# SQLite's own opens are no audit events; exclusive creation of a file that exists opens nothing.
for name, flags in opened:
    if name in (sys.argv[1], sys.argv[1] + "-wal", sys.argv[1] + "-shm") and not flags & os.O_EXCL:
        say(name, flags)
"""
    assert start(code, path).end() == []


def test_health_checks_beside_an_open_transaction_drop_no_lock(path: Path, start: Start) -> None:
    """B025: status, check, copy and a second handle inside a write transaction; other processes write all the while."""
    hammer = """
say("ready"); wait()
for n in range(60):
    with SessionDB.open(sys.argv[1], synchronous="NORMAL") as db:
        db.messages.append("s", role="user", content=f"{sys.argv[2]} {n}")
"""
    with SessionDB.open(path, synchronous="NORMAL") as db:
        db.sessions.create("s", source="cli")
        children = [start(hammer, path, n) for n in range(2)]
        for child in children:
            assert child.line() == "ready"
            child.go()
        for n in range(10):
            with db.engine.write() as connection:
                connection.exec_driver_sql("UPDATE store_state SET id = 1")
                db.maintenance.status()
                check(db.engine)
                SessionDB.open(path).close()
                db.engine.copy_to(path.with_name(f"copy{n}.db"))
            db.messages.append("s", role="user", content=f"mine {n}")
        for child in children:
            child.end()
        if sys.platform == "linux":
            open_files = [str(fd.readlink()) for fd in Path("/proc/self/fd").iterdir() if os.path.lexists(fd)]
            assert not [name for name in open_files if str(path) in name and "(deleted)" in name]
    with SessionDB.open(path) as fresh:
        assert fresh.messages.count("s") == 130
        assert check(fresh.engine, full=True).is_sound


def test_the_wal_stays_small_beside_an_idle_reader(path: Path) -> None:
    """B028: reads fetch all and close, so 5,000 appends of 2 kB keep the WAL below 10 MB and closing removes it."""
    wal = path.with_name(f"{path.name}-wal")
    largest = 0
    with SessionDB.open(path, synchronous="NORMAL") as db, SessionDB.open(path, read_only=True) as reader:
        db.sessions.create("s", source="cli")
        text = os.urandom(1024).hex()
        messages = iter(())
        for n in range(5000):
            if n % 500 == 0:
                messages = iter(reader.messages.list("s", limit=50))
                next(messages, None)  # a cursor somebody fetched one row of and forgot
                reader.sessions.list()
            db.messages.append("s", role="user", content=f"{n} {text}")
            if n % 100 == 0:
                largest = max(largest, wal.stat().st_size)
    assert 0 < largest < 10_000_000
    assert not wal.exists() or wal.stat().st_size == 0


def test_a_failed_checkpoint_loses_nothing(path: Path, start: Start) -> None:
    """B029: with a reader in the way nothing is truncated, nothing is lost, and later it works."""
    reader_code = """
with SessionDB.open(sys.argv[1], read_only=True) as db, db.engine.read() as connection:
    say(connection.exec_driver_sql("SELECT count(*) FROM messages").scalar()); wait()
"""
    with SessionDB.open(path) as db:
        db.sessions.create("s", source="cli")
        db.messages.append("s", role="user", content="a")
        reader = start(reader_code, path)
        assert reader.line() == "1"
        db.messages.append("s", role="user", content="b")
        from hermes_state.engine import upkeep

        assert not upkeep.checkpoint(db.engine, truncate=True, budget_s=0.1)
        db.messages.append("s", role="user", content="c")
        reader.go()
        reader.end()
        assert db.maintenance.checkpoint()
        assert [m.content for m in db.messages.list("s")] == ["a", "b", "c"]
    with SessionDB.open(path) as fresh:
        assert fresh.messages.count("s") == 3


def test_an_append_is_no_part_of_another_threads_transaction(path: Path) -> None:
    """It waits for that transaction and is committed on its own, however that one ends."""
    with SessionDB.open(path) as db:
        db.sessions.create("s", source="cli")
        thread = threading.Thread(target=lambda: db.messages.append("s", role="user", content="mine"))

        def fail() -> None:
            with db.engine.write():
                db.messages.append("s", role="user", content="theirs")
                thread.start()
                thread.join(0.1)
                assert thread.is_alive()
                raise RuntimeError

        with pytest.raises(RuntimeError):
            fail()
        thread.join()
        assert [m.content for m in db.messages.list("s")] == ["mine"]


def test_a_copy_made_beside_writers_is_one_moment_of_the_store(path: Path, tmp_path: Path) -> None:
    """Whole and sound, with every message committed before it began, and it needs no WAL."""
    with SessionDB.open(path, synchronous="NORMAL") as db:
        db.sessions.create("s", source="cli")
        stop = threading.Event()

        def keep_writing() -> None:
            n = 0
            while not stop.is_set():
                db.messages.append("s", role="user", content=f"{n} " + "x" * 500)
                n += 1

        thread = threading.Thread(target=keep_writing)
        thread.start()
        for n in range(5):
            before = db.messages.count("s")
            copy = tmp_path / f"copy{n}.db"
            db.engine.copy_to(copy)
            with SessionDB.open(copy, read_only=True) as copied:
                stored = copied.messages.list("s")
                assert len(stored) >= before
                assert [str(m.content).split()[0] for m in stored] == [str(k) for k in range(len(stored))]
                assert check(copied.engine).is_sound
            assert copy.stat().st_mode & 0o777 == 0o600
        stop.set()
        thread.join()
    assert not [p.name for p in tmp_path.iterdir() if "partial" in p.name]
