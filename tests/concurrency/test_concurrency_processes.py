"""Several processes on one store: all rows are there, nobody sees an error, and whoever blocks is named."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from hermes_state.check import check
from hermes_state.errors import StoreBusy
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Start = Any

OPENER = """
say("ready"); wait()
with SessionDB.open(sys.argv[1]) as db:
    ids = [db.sessions.create(source="cli").id for _ in range(int(sys.argv[2]))]
    for session in ids:
        db.messages.append(session, role="user", content="x")
    say(*ids)
"""

WRITER = """
say("ready"); wait()
with SessionDB.open(sys.argv[1], synchronous=sys.argv[4]) as db:
    for n in range(int(sys.argv[3])):
        db.messages.append("shared", role="user", content=f"{sys.argv[2]} {n}", tool_calls=[{"id": "c"}])
        db.messages.append_many(f"own{sys.argv[2]}", [{"role": "user", "content": f"{n} {m}"} for m in range(2)])
"""

HOLDER = """
with SessionDB.open(sys.argv[1]) as db:
    with db.engine.write() as connection:
        say("holding"); time.sleep(float(sys.argv[2]))
say("done")
"""

ACKNOWLEDGING = """
random.seed(int(sys.argv[2]))
with SessionDB.open(sys.argv[1], synchronous="NORMAL") as db:
    session = db.sessions.create(source="cli").id
    say(session)
    n = 0
    while True:
        kind = random.random()
        if kind < 0.6:
            db.messages.append(session, role="user", content=f"word{n}"); say(f"+{n}"); n += 1
        elif kind < 0.8:
            db.messages.append_many(session, [{"role": "user", "content": f"word{n + m}"} for m in range(3)])
            say(*(f"+{n + m}" for m in range(3))); n += 3
        elif kind < 0.88:
            db.search.messages("word1")
        elif kind < 0.92:
            db.maintenance.checkpoint()
        elif kind < 0.96:
            db.messages.compact(session, [{"role": "user", "content": "summary"}], keep_last=3)
        else:
            session = db.lineage.rotate(session, [{"role": "user", "content": "summary"}]).child.id
"""


def test_twenty_processes_may_open_an_empty_home_at_once(path: Path, start: Start) -> None:
    """B038: one store comes out of it, with every session of each, all ids different, and no error."""
    children = [start(OPENER, path, 3) for _ in range(20)]
    for child in children:
        assert child.line() == "ready"
    for child in children:
        child.go()
    made = [name for child in children for line in child.end() for name in line.split()]
    assert len(set(made)) == len(made) == 60
    with SessionDB.open(path) as db:
        assert {s.id for s in db.sessions.list(limit=None)} == set(made)
        assert check(db.engine, full=True).is_sound
    assert not (path.parent / "state-snapshots").exists()


@pytest.mark.parametrize("synchronous", ["FULL", "NORMAL"])
def test_four_writers_at_full_speed_lose_nothing(path: Path, start: Start, synchronous: str) -> None:
    """All rows are there, positions have no gap, ids are unique, counters are right, and nobody starves."""
    four_writers(path, start, synchronous, appends=60)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_four_writers_for_long(path: Path, start: Start) -> None:
    """The same at length."""
    four_writers(path, start, "FULL", appends=3000)


def four_writers(path: Path, start: Start, synchronous: str, appends: int) -> None:
    with SessionDB.open(path) as db:
        for name in ("shared", *(f"own{n}" for n in range(4))):
            db.sessions.create(name, source="cli")
    children = [start(WRITER, path, n, appends, synchronous) for n in range(4)]
    for child in children:
        assert child.line() == "ready"
    for child in children:
        child.go()
    for child in children:
        child.end()
    with SessionDB.open(path) as db:
        shared = db.messages.list("shared")
        assert Counter(str(m.content).split()[0] for m in shared) == {str(n): appends for n in range(4)}
        for n in range(4):
            assert [m.content for m in shared if str(m.content).startswith(f"{n} ")] == [
                f"{n} {k}" for k in range(appends)
            ]
            own = db.messages.list(f"own{n}")
            assert [m.content for m in own] == [f"{k} {m}" for k in range(appends) for m in range(2)]
        assert [m.position for m in shared] == list(range(4 * appends))
        session = db.sessions.get("shared")
        assert (session.message_count, session.tool_call_count) == (4 * appends, 4 * appends)
        assert check(db.engine, full=True).is_sound


def test_a_lock_of_seconds_is_waited_for(path: Path, start: Start) -> None:
    """A writer that holds the store for long delays the others; none of them fails."""
    SessionDB.open(path).close()
    holder = start(HOLDER.replace("time.sleep(float(sys.argv[2]))", "wait()"), path)
    assert holder.line() == "holding"
    with SessionDB.open(path) as db:
        waiting = threading.Thread(target=lambda: db.sessions.create("s", source="cli"))
        waiting.start()
        waiting.join(1.5)
        assert waiting.is_alive()
        holder.go()
        waiting.join()
        db.messages.append("s", role="user", content="x")
    assert holder.end() == ["done"]


@pytest.mark.soak
def test_a_lock_of_five_seconds_is_waited_for(path: Path, start: Start) -> None:
    """The same with the full five seconds, by four waiting processes."""
    with SessionDB.open(path) as db:
        for name in ("shared", *(f"own{n}" for n in range(4))):
            db.sessions.create(name, source="cli")
    holder = start(HOLDER, path, 5.0)
    assert holder.line() == "holding"
    children = [start(WRITER, path, n, 1, "FULL") for n in range(4)]
    for child in children:
        assert child.line() == "ready"
        child.go()
    for child in children:
        child.end()
    holder.end()


def test_beyond_the_budget_the_holder_is_named(path: Path, start: Start) -> None:
    """B022: the error is typed, says who holds the lock, and nothing was written; then it works again."""
    SessionDB.open(path).close()
    holder = start(HOLDER, path, 30)
    assert holder.line() == "holding"
    with SessionDB.open(path, busy_budget_s=0.3) as db:
        for write in (
            lambda: db.sessions.create("s1", source="cli"),
            lambda: db.messages.append("s1", role="user", content="x"),
        ):
            started = time.monotonic()
            with pytest.raises(StoreBusy) as refused:
                write()
            assert time.monotonic() - started > 0.2
            assert holder.process.poll() is None  # it was not waited for
            assert f"process {holder.pid}" in refused.value.holder
            assert str(holder.pid) in str(refused.value)
            assert refused.value.retryable
        holder.kill()
        db.sessions.create("s1", source="cli")
        db.messages.append("s1", role="user", content="x")
        assert db.messages.count("s1") == 1


def test_readers_never_wait_for_a_writer(path: Path, start: Start) -> None:
    """While another process holds the lock, and a thread of ours waits for it, every read answers at once."""
    with SessionDB.open(path) as db:
        db.sessions.create("s", source="cli")
        db.messages.append("s", role="user", content="seen")
        db.search.messages("seen")
        holder = start(HOLDER, path, 30)
        assert holder.line() == "holding"
        waiting = threading.Thread(target=lambda: db.messages.append("s", role="user", content="late"))
        waiting.start()
        assert [s.id for s in db.sessions.list()] == ["s"]
        assert [m.content for m in db.messages.list("s")] == ["seen"]
        assert len(db.search.messages("seen")) == 1
        with SessionDB.open(path, read_only=True) as reader:
            assert reader.sessions.get("s").message_count == 1
        assert waiting.is_alive()  # so all of this was while the lock was held
        holder.kill()
        waiting.join()
        assert db.messages.count("s") == 2


def test_a_reader_sees_one_state_throughout(path: Path) -> None:
    """All statements of a read see the same moment, whatever is committed meanwhile."""
    with SessionDB.open(path) as db, SessionDB.open(path) as other:
        db.sessions.create("s", source="cli")
        with db.engine.read():
            assert db.messages.count() == 0
        with db.engine.read() as connection:
            counted = connection.exec_driver_sql("SELECT count(*) FROM messages").scalar()
            other.messages.append("s", role="user", content="x")
            assert connection.exec_driver_sql("SELECT count(*) FROM messages").scalar() == counted == 0


def test_a_killed_writer_loses_nothing_it_acknowledged(path: Path, start: Start) -> None:
    """B026: SIGKILL at random moments of appends, searches, checkpoints, compactions; then a full check."""
    kill_writers(path, start, rounds=6)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_killed_writers_for_long(path: Path, start: Start) -> None:
    """The same, a hundred times."""
    kill_writers(path, start, rounds=100)


def kill_writers(path: Path, start: Callable[..., Any], rounds: int) -> None:
    dice = random.Random(5)
    acknowledged: dict[str, set[str]] = {}
    for n in range(rounds):
        pair = [start(ACKNOWLEDGING, path, 2 * n + k) for k in range(2)]
        firsts = [child.line() for child in pair]
        time.sleep(dice.uniform(0.05, 0.5))
        for child in pair:
            os.kill(child.pid, signal.SIGKILL)
        for first, child in zip(firsts, pair, strict=True):
            words = child.process.communicate()[0].split()
            acknowledged[first] = {f"word{word[1:]}" for word in words if word.startswith("+")}
    with SessionDB.open(path) as db:
        for first, words in acknowledged.items():
            stored = {m.content for m in db.messages.history(first)}
            assert words <= stored, words - stored
        assert sum(map(len, acknowledged.values())) > 10 * rounds
        report = check(db.engine, full=True)
        assert report.is_sound, report.findings
        db.index.catch_up()
        assert check(db.engine, full=True).is_sound


def test_an_index_filled_by_many_is_filled_once(path: Path, start: Start) -> None:
    """Processes that append and search at once, all bringing the index up to date, put no message in twice."""
    code = """
with SessionDB.open(sys.argv[1], synchronous="NORMAL") as db:
    session = db.sessions.create(source="cli").id
    for n in range(40):
        db.messages.append_many(session, [{"role": "user", "content": f"word{n} 消息{n}"} for _ in range(3)])
        hits = db.search.messages(f"word{n}", limit=500)
        assert sum(hit.session_id == session for hit in hits) == 3, (n, len(hits))
"""
    SessionDB.open(path).close()
    for child in [start(code, path) for _ in range(3)]:
        child.end()
    with SessionDB.open(path) as db:
        assert len(db.search.messages("word7", limit=500)) == 9
        report = check(db.engine, full=True)
        assert report.is_sound, report.findings
