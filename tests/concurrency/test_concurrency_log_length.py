"""The write-ahead log of a process that appends much is made long ahead of its appends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hermes_state.check import check
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from pathlib import Path

FRAME = 24 + 4096


def pages(path: Path) -> int:
    """How many pages the log's file has room for."""
    return path.with_name(f"{path.name}-wal").stat().st_size // FRAME


def test_it_is_long_after_many_commits_and_not_after_a_few(path: Path) -> None:
    """No append waits for it: the next transaction of another kind, mostly the indexer's, makes it longer."""
    with SessionDB.open(path, synchronous="FULL") as db:
        db.sessions.create("s", source="cli")
        short = pages(path)
        for appends, lowest, highest in ((5, short, 150), (15, 256, 600), (60, 1800, 2100), (200, 1800, 2100)):
            for number in range(appends):
                db.messages.append("s", role="user", content=f"消息 {number}")
            db.meta.set("other", "transaction")
            assert lowest <= pages(path) <= highest
        assert db.messages.count("s") == 280
        assert check(db.engine, full=True).is_sound


def test_it_is_made_no_longer_than_until_it_begins_anew(path: Path) -> None:
    """Also behind what large messages have filled of it by then: else it would hold twice as much as is ever used."""
    with SessionDB.open(path, synchronous="FULL") as db:
        db.sessions.create("s", source="cli")
        for _ in range(64):
            db.messages.append("s", role="user", content=os.urandom(15_000).hex())
        filled = pages(path)
        assert filled > 300
        db.meta.set("other", "transaction")
        assert 1800 <= pages(path) < 2100


def test_nobody_waits_for_the_disk_with_normal(path: Path) -> None:
    """So nothing is to be won."""
    with SessionDB.open(path, synchronous="NORMAL") as db:
        db.sessions.create("s", source="cli")
        for number in range(70):
            db.messages.append("s", role="user", content=str(number))
        db.meta.set("other", "transaction")
        assert pages(path) < 300


_APPENDS = """
import sys
from hermes_state import SessionDB
db = SessionDB.open(sys.argv[1])
number = 0
while True:
    number = db.messages.append("s", role="user", content=f"消息 {number}").id
    db.meta.set("newest", str(number))
    print(number, flush=True)
"""


@pytest.mark.parametrize("appended", [8, 32, 150])
def test_killed_right_after_it_was_made_longer(path: Path, appended: int) -> None:
    """What is unused of the log is no message and no damage."""
    with SessionDB.open(path) as db:
        db.sessions.create("s", source="cli")
    with subprocess.Popen([sys.executable, "-c", _APPENDS, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(appended)]
        os.kill(process.pid, signal.SIGKILL)
        told += process.stdout.readlines()
    assert pages(path) >= 256
    with SessionDB.open(path) as db:
        ids = [message.id for message in db.messages.list("s")]
        assert ids[: len(told)] == [int(line) for line in told if line.endswith("\n")]
        assert check(db.engine, full=True).is_sound
        assert db.messages.append("s", role="user", content="goes on").position == len(ids)


_APPENDS_IN_LITTLE_ROOM = """
import resource, sys
from hermes_state import SessionDB
resource.setrlimit(resource.RLIMIT_FSIZE, (900_000, 900_000))
with SessionDB.open(sys.argv[1]) as db:
    print([db.messages.append("s", role="user", content=str(number)).position for number in range(40)])
    db.meta.set("other", "transaction")
"""


def test_an_append_does_not_fail_because_the_log_can_not_be_made_longer(path: Path) -> None:
    """The message is stored already, and the ones after it need less room."""
    with SessionDB.open(path) as db:
        db.sessions.create("s", source="cli")
    code = [sys.executable, "-c", _APPENDS_IN_LITTLE_ROOM, str(path)]
    said = subprocess.run(code, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str(list(range(40)))
    assert said.stderr == ""
    with SessionDB.open(path) as db:
        assert db.messages.count("s") == 40
        assert check(db.engine, full=True).is_sound
