"""A copy that is killed at any moment goes on when it is run again, and nothing comes twice."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import whole_store

from hermes_state.copying.copy import copy_store
from hermes_state.copying.mark import MARK
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Callable

# Copies, and kills itself when so many messages are done; batches are made small, so that there are several.
_CHILD = """
import os, signal, sys
from hermes_state.copying import conversations, copy, rows
from hermes_state.store import SessionDB
conversations._BATCH = 7
stop, source, target = int(sys.argv[1]), *sys.argv[2:]
seen = 0
def tell(done, total):
    if done >= stop:
        os.kill(os.getpid(), signal.SIGKILL)
link = conversations.Conversations.link
def killed(self):
    link(self)
    os.kill(os.getpid(), signal.SIGKILL)
if stop < 0:
    conversations.Conversations.link = killed
    stop = 10 ** 9
with SessionDB.open(source) as there, SessionDB.open(target) as here:
    copy.copy_store(there.engine, here.engine, progress=tell)
"""


def killed_at(stop: int, source: str, target: str) -> None:
    ran = subprocess.run([sys.executable, "-c", _CHILD, str(stop), source, target], check=False, capture_output=True)
    assert ran.returncode == -signal.SIGKILL, ran.stderr.decode()


def test_a_killed_copy_goes_on(fresh: Callable[[], str], other_fresh: Callable[[], str]) -> None:
    source, target = fresh(), other_fresh()
    with SessionDB.open(source) as db:
        whole_store.fill(db)
        for n in range(4):
            whole_store.add_conversation(db, f"s{n}", *(f"文 {n} {i}" for i in range(6)))
    for stop in (12, -1):  # among the messages, and when all are there
        killed_at(stop, source, target)
    with SessionDB.open(source, read_only=True) as there, SessionDB.open(target) as here:
        assert here.meta.get(MARK)
        report = copy_store(there.engine, here.engine)
        assert report.resumed
        report.raise_for_problems()
        assert report.is_equal
        assert here.meta.get(MARK) is None
        assert report.counts["messages"].source == report.counts["messages"].target
        assert report.counts["messages"].added < report.counts["messages"].source
        assert report.counts["memory_events"].target == report.counts["memory_events"].source


@pytest.mark.parametrize("fresh", ["sqlite"], indirect=True)
def test_what_is_new_in_the_source_since_comes_too(fresh: Callable[[], str], other_fresh: Callable[[], str]) -> None:
    source, target = fresh(), other_fresh()
    with SessionDB.open(source) as db:
        for n in range(4):
            whole_store.add_conversation(db, f"s{n}", *(f"{n} {i}" for i in range(6)))
        killed_at(12, source, target)
        db.messages.append("s0", role="user", content="later")
        db.sessions.rename("s1", "another title")
        whole_store.add_conversation(db, "s9", "new")
        with SessionDB.open(target) as here:
            copy_store(db.engine, here.engine).raise_for_problems()
            assert here.sessions.get("s1").title == "another title"
            assert here.messages.count("s0") == 7
