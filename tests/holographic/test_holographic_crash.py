"""Killed processes and several at once: a fact is there whole or not at all, and nobody is shut out."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from hermes_state.schema import fact_entities, fact_vectors, facts
from hermes_state.store import SessionDB
from hermes_state.text import parse
from memory.providers.holographic import rebuilding, state
from memory.providers.holographic.records import NewFact
from memory.providers.holographic.retrieval import Retrieval
from memory.providers.holographic.store import FactStore

if TYPE_CHECKING:
    from pathlib import Path

_OPEN = """
import sys
from hermes_state.store import SessionDB
from memory.providers.holographic.records import NewFact
from memory.providers.holographic.rebuilding import rebuild_all_vectors
from memory.providers.holographic.store import FactStore
db = SessionDB.open(sys.argv[1], synchronous="NORMAL")
store = FactStore(db.engine)
store.index.ensure()
"""
_ADD_FOR_EVER = (
    _OPEN
    + """
number = 0
while True:
    store.add(NewFact(content=f"Dana Okafor closed ticket {number} of the redis cluster"))
    number += 1
    print(number, flush=True)
"""
)
_ADD_SOME = (
    _OPEN
    + """
for number in range(25):
    store.add(NewFact(content=f"{sys.argv[2]} closed ticket {number} of the redis cluster"))
    store.add(NewFact(content=f"Everybody knows fact {number}"))
"""
)
_REBUILD_FOR_EVER = (
    _OPEN
    + """
dims = (512, 1024)
while True:
    for dim in dims:
        rebuild_all_vectors(store, dim, progress=lambda done, of: print(done, flush=True))
"""
)


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def kill_after(process: subprocess.Popen[str], lines: int) -> None:
    """Let it report so often, then kill -9 it in whatever it is doing."""
    assert process.stdout is not None
    for _ in range(lines):
        assert process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


def assert_whole(store: FactStore) -> int:
    """Every fact has its vector and its links, and is found. Returns how many there are."""
    with store.engine.read() as connection:
        pks = set(connection.execute(select(facts.c.pk)).scalars())
        assert set(connection.execute(select(fact_vectors.c.fact_pk)).scalars()) == pks
        linked = select(func.count(fact_entities.c.fact_pk.distinct()))
        assert connection.execute(linked).scalar_one() == len(pks)
        found = store.index.matches(connection, parse("ticket").node, limit=10_000)
    assert set(found) == pks
    return len(pks)


def test_a_killed_writer_leaves_whole_facts_only(home: Path) -> None:
    path = home / "x.db"
    for lines in (1, 9):
        kill_after(start(_ADD_FOR_EVER, path), lines)
        with SessionDB.open(path) as db:
            store = FactStore(db.engine)
            store.index.ensure()
            assert assert_whole(store) >= lines
            store.add(NewFact(content="Dana Okafor closed ticket x of the redis cluster"))


def test_two_processes_write_at_once_and_the_same_fact_is_kept_once(home: Path) -> None:
    path = home / "x.db"
    workers = [start(_ADD_SOME, path, name) for name in ("Dana Okafor", "Wei Chen")]
    assert [worker.wait() for worker in workers] == [0, 0]
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.close()
    with SessionDB.open(path) as db:
        store = FactStore(db.engine)
        assert store.count() == 75
        hits = Retrieval(store).search("which ticket did Wei Chen close?", limit=100, beside=0.0)
        assert {hit.fact.content.split(" closed")[0] for hit in hits[:25]} == {"Wei Chen"}


def test_threads_share_a_store(store: FactStore, retrieval: Retrieval) -> None:
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for number in range(20):
                store.add(NewFact(content=f"{name} waters plant {number}"))
                assert retrieval.search(f"who waters plant {number}?")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("Ana", "Ben", "Chi")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert store.count() == 60


def test_b119_a_rebuild_that_is_killed_again_and_again_hides_nothing(home: Path) -> None:
    """Another process goes on searching through one handle; no file but the store's own is ever made."""
    path = home / "x.db"
    with SessionDB.open(path, synchronous="NORMAL") as db:
        store, retrieval = FactStore(db.engine), Retrieval(FactStore(db.engine))
        store.index.ensure()
        store.add_many(NewFact(content=f"Dana Okafor closed ticket {n} of the redis cluster") for n in range(250))
        for lines in (1, 2):
            kill_after(start(_REBUILD_FOR_EVER, path), lines)
            hits = retrieval.search("who closed ticket 249?")
            assert hits[0].fact.content == "Dana Okafor closed ticket 249 of the redis cluster"
            assert hits[0].signals[2] > 0.3
            assert assert_whole(store) == 250
        assert {file.name for file in home.iterdir()} <= {"x.db", "x.db-wal", "x.db-shm", "x.db.lock"}
        rebuilding.rebuild_all_vectors(store, 1024)
        assert not rebuilding.is_due(store)


def test_an_interrupted_rebuild_goes_on_where_it_stopped(store: FactStore) -> None:
    store.add_many(NewFact(content=f"Dana Okafor closed ticket {n} of the redis cluster") for n in range(250))

    class Stopped(Exception):
        pass

    def stop(done: int, of: int) -> None:
        assert 0 < done <= of
        raise Stopped

    with suppress(Stopped):
        rebuilding.rebuild_all_vectors(store, 512, progress=stop)
    with store.engine.read() as connection:
        reached = state.read(connection).encoded_through
    assert reached == rebuilding.BATCH
    assert rebuilding.is_due(store)
    assert rebuilding.rebuild_all_vectors(store, 512) == 250 - reached
    assert not rebuilding.is_due(store)
