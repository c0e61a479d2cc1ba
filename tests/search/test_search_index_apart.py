"""An index is the same whoever segments, and the second process is help that one can lose at any moment."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hermes_state import SessionDB, index, index_build, index_worker
from hermes_state.engine.driver import newest_driver
from hermes_state.index_build import build_unshared
from hermes_state.index_worker import IndexWorker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.sqlite_only

MESSAGES = 240
TEXTS = [
    "The deploy of redis 7.2 failed: can't connect to db-01 (getHTTPResponse returned 503) 🚀",
    "请把数据库升级到 7.2,预算超支 — バックアップを設定ファイルへ",
    "서버를 재시작했습니다. שלום עולם مرحبا بالعالم",
    "",
    "C++ and .NET, v1.2.3 at 2026-01-31T10:00:00Z",
    "tool output: " + "line of log with words and numbers 12345\n" * 60,
]
_DUMP = "SELECT term, doc, col, offset FROM temp.dump ORDER BY doc, col, offset, term"


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "WORTH_MESSAGES", 50)
    monkeypatch.setattr(index_build, "WORTH_MESSAGES", 50)
    monkeypatch.setattr(index, "BATCH_MESSAGES", 20)
    monkeypatch.setattr(index_build, "BATCH_MESSAGES", 20)
    monkeypatch.setattr(index_build, "SEGMENT_CHARS", 20_000)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of which nothing is in the index."""
    return fill(tmp_path / "store.db")


def fill(path: Path, messages: int = MESSAGES) -> Path:
    with SessionDB.open(path, synchronous="NORMAL") as db:
        session = db.sessions.create(source="cli")
        calls = [{"function": {"name": "run", "arguments": '{"command": "ls"}'}}]
        rows = [
            {
                "role": "assistant",
                "content": f"{n} {TEXTS[n % len(TEXTS)]}",
                "tool_calls": calls if n % 7 == 0 else None,
            }
            for n in range(messages)
        ]
        rows.append({"role": "user", "content": None})
        began = datetime(2026, 1, 31, 10, tzinfo=UTC)
        timed = [row | {"created_at": began + timedelta(minutes=n * 7 % 100)} for n, row in enumerate(rows)]
        db.messages.append_many(session.id, timed)
    return path


def what_is_in(path: Path) -> tuple[list[Any], ...]:
    """Every place of every token, the lengths, the zones and the marks of an index."""
    connection = newest_driver().module.connect(str(path))
    try:
        connection.execute("CREATE VIRTUAL TABLE temp.dump USING fts5vocab(main, message_index, instance)")
        return tuple(
            connection.execute(query).fetchall()
            for query in (
                _DUMP,
                "SELECT id, sz FROM message_index_docsize ORDER BY id",
                "SELECT * FROM index_zones",
                "SELECT indexed_through, segmentation, rebuild_from FROM store_state",
            )
        )
    finally:
        connection.close()


def catch_up(path: Path) -> tuple[list[Any], ...]:
    with SessionDB.open(path) as db:
        assert db.index.catch_up()
    return what_is_in(path)


@pytest.fixture
def expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[list[Any], ...]]:
    """The index as one process makes it."""
    with monkeypatch.context() as patched:
        patched.setattr(index, "WORTH_MESSAGES", 10**9)
        made = catch_up(fill(tmp_path / "alone.db"))
    assert len(made[0]) > MESSAGES * 10
    return made


def test_catching_up_with_help(store: Path, expected: tuple[list[Any], ...], workers: list[IndexWorker]) -> None:
    """Two processes make the index that one makes."""
    assert catch_up(store) == expected
    assert len(workers) == 1


def test_little_work_starts_no_process(
    store: Path, monkeypatch: pytest.MonkeyPatch, workers: list[IndexWorker]
) -> None:
    """A small home pays for nothing."""
    monkeypatch.setattr(index, "WORTH_MESSAGES", MESSAGES * 2)
    monkeypatch.setattr(index_build, "WORTH_MESSAGES", MESSAGES * 2)
    catch_up(store)
    build_unshared(fill(store.with_name("other.db")))
    assert workers == []


@pytest.mark.parametrize("helped", [True, False])
def test_building_what_nobody_sees(
    store: Path,
    expected: tuple[list[Any], ...],
    monkeypatch: pytest.MonkeyPatch,
    workers: list[IndexWorker],
    helped: bool,
) -> None:
    """A build in large segments without a journal holds the same, alone and with help; then it is a store like any."""
    if not helped:
        monkeypatch.setattr(index_build, "WORTH_MESSAGES", 10**9)
    build_unshared(store)
    assert what_is_in(store) == expected
    assert len(workers) == helped
    with SessionDB.open(store) as db:
        assert db.index.mark().is_current
        session = db.sessions.list()[0].id
        db.messages.append(session, role="user", content="appended zeta")
        assert len(db.search.messages("zeta")) == 1
        assert len(db.search.messages("数据库", limit=100)) == MESSAGES // len(TEXTS)
    assert sorted(path.name for path in store.parent.glob("store.db*")) in (["store.db"], ["store.db", "store.db.lock"])


@pytest.mark.parametrize(("many", "is_merged"), [(1, True), (100, False)])
def test_many_segments_become_few(
    store: Path, expected: tuple[list[Any], ...], monkeypatch: pytest.MonkeyPatch, many: int, is_merged: bool
) -> None:
    """A build that wrote more segments than a search should look into merges them; the index holds the same."""
    monkeypatch.setattr(index_build, "MANY_SEGMENTS", many)
    monkeypatch.setattr(index_build, "SEGMENT_CHARS", 5_000)
    build_unshared(store)
    connection = newest_driver().module.connect(str(store))
    segments = connection.execute("SELECT count(DISTINCT segid) FROM message_index_idx").fetchone()[0]
    connection.close()
    assert (segments == 1) == is_merged
    assert what_is_in(store) == expected


def test_a_build_goes_on_where_the_index_ended(store: Path, expected: tuple[list[Any], ...]) -> None:
    """Of an archive with an index that was not up to date, only the rest is added."""
    with SessionDB.open(store) as db:
        db.index._step(db.index._next_batch(), None, None)  # makes the index
        db.index._step(db.index._next_batch(), None, None)
        assert 0 < db.index.mark().indexed_through < MESSAGES
    build_unshared(store)
    assert what_is_in(store) == expected
    build_unshared(store)
    assert what_is_in(store) == expected


@pytest.mark.parametrize("batches", [0, 1, 3])
def test_a_killed_worker(
    store: Path,
    expected: tuple[list[Any], ...],
    kill_worker_after: Callable[[int], None],
    caplog: pytest.LogCaptureFixture,
    batches: int,
) -> None:
    """kill -9 of the second process before, between and within batches costs time and nothing else, and is told."""
    kill_worker_after(batches)
    with caplog.at_level(logging.WARNING):
        assert catch_up(store) == expected
    assert "second one is lost" in caplog.text
    other = fill(store.with_name("other.db"))
    kill_worker_after(batches)
    build_unshared(other)
    assert what_is_in(other) == expected


def test_no_interpreter_to_start(
    store: Path, expected: tuple[list[Any], ...], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A frozen program, and one whose interpreter is gone, do it alone."""
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert catch_up(store) == expected
    assert "no second one can be started" in caplog.text
    monkeypatch.setattr(sys, "executable", "")
    other = fill(store.with_name("other.db"))
    build_unshared(other)
    assert what_is_in(other) == expected


def test_an_interpreter_that_is_none(
    store: Path, expected: tuple[list[Any], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An embedding program may name as its interpreter what is none."""
    monkeypatch.setattr(sys, "executable", "/bin/true")
    assert catch_up(store) == expected


def test_other_rules(store: Path, expected: tuple[list[Any], ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that would segment otherwise, since a package was exchanged under a running program, is not heard."""
    monkeypatch.setattr(index_worker, "SEGMENTATION", "0+other")
    assert catch_up(store) == expected


def test_messages_deleted_meanwhile(store: Path) -> None:
    """What was deleted after the worker read it does not get in, and all else does."""
    with SessionDB.open(store) as db:
        other = db.sessions.create(source="cli").id
        db.messages.append_many(other, [{"role": "user", "content": f"ephemeral {n}"} for n in range(30)])
        kept = db.sessions.create(source="cli").id
        db.messages.append_many(kept, [{"role": "user", "content": f"permanent {n}"} for n in range(60)])
        seen: list[int] = []

        def delete(done: int, _of: int) -> None:
            if not seen:
                db.sessions.delete(other)
            seen.append(done)

        db.index.rebuild(progress=delete)
        assert seen[0] < MESSAGES < seen[-1]
        assert len(db.search.messages("permanent", limit=100)) == 60
        assert db.search.messages("ephemeral") == []
        with db.engine.read() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM message_index_docsize").scalar() == MESSAGES + 60


def test_a_damaged_message_is_one_without_words(store: Path, expected: tuple[list[Any], ...]) -> None:
    """A frame that can't be read back keeps no other message from being found, in either process."""
    connection = newest_driver().module.connect(str(store))
    connection.execute("UPDATE messages SET content = x'28b52ffd00' WHERE id = 6")
    connection.commit()
    connection.close()
    assert catch_up(store)[1] == [row for row in expected[1] if row[0] != 6]


# --- real processes -------------------------------------------------------------------------------------------------

_HOST = """
    import os, sys, time
    from pathlib import Path
    from hermes_state import SessionDB, index
    from hermes_state.index_worker import IndexWorker
    index.WORTH_MESSAGES, index.BATCH_MESSAGES = 50, 20
    start = IndexWorker.start
    def told():
        worker = start()
        print(worker.pid, flush=True)
        if len(sys.argv) > 2 and os.fork() == 0:  # which has the other ends of its pipes as well
            time.sleep(60)
            os._exit(0)
        return worker
    IndexWorker.start = told
    def hold(done, of):
        print("batch", flush=True)
        sys.stdin.readline()
    with SessionDB.open(Path(sys.argv[1])) as db:
        db.index.catch_up(progress=hold)
"""


def has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_for_end(pid: int) -> None:
    """When a worker lives on, the suite's own limit ends this."""
    while not has_ended(pid):
        time.sleep(0.02)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("ended_by", ["kill", "kill, forked", "Ctrl-C"])
def test_who_started_it_ends(tmp_path: Path, expected: tuple[list[Any], ...], ended_by: str) -> None:
    """kill -9 and Ctrl-C in the middle leave no process behind, and an index that goes on from there."""
    store = fill(tmp_path / "host.db")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-c", textwrap.dedent(_HOST), str(store), *ended_by.split()[1:]]
    with subprocess.Popen(command, text=True, env=environment, start_new_session=True, **pipes) as host:
        assert host.stdout is not None
        worker = int(host.stdout.readline())
        assert host.stdout.readline() == "batch\n"
        assert not has_ended(worker)
        if ended_by == "Ctrl-C":
            os.killpg(host.pid, signal.SIGINT)  # as a terminal does: all of the group get it
        else:
            host.kill()
        wait_for_end(worker)
        if "forked" in ended_by:
            os.killpg(host.pid, signal.SIGKILL)
    assert catch_up(store) == expected


def test_the_question_can_be_any_name(tmp_path: Path, expected: tuple[list[Any], ...]) -> None:
    """A store may have a name that is a URI's syntax, in any script."""
    assert catch_up(fill(tmp_path / "数据?mode=rw#%20 &.db")) == expected


def test_what_goes_through_the_pipe(store: Path) -> None:
    """All messages by rising id, in batches as large as was asked."""
    with SessionDB.open(store), closing(IndexWorker.start()) as worker:
        name = newest_driver().module.__name__
        batches = list(worker.prepared(store, name, after=100, messages=20, chars=1_000_000))
        ids = [message_id for batch in batches for message_id, _ in batch.times]
        assert ids == list(range(101, MESSAGES + 2))
        assert max(len(batch.times) for batch in batches) == 20
        small = list(worker.prepared(store, name, after=0, messages=20, chars=1))
        assert len(small) >= MESSAGES
        assert worker.is_usable
        json.dumps([batch.documents for batch in small])
    assert not worker.is_usable
    assert list(worker.prepared(store, name, after=0, messages=20, chars=1)) == []
