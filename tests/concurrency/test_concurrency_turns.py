"""Processes take turns at the write lock."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import hermes_state.engine.turns as module
from hermes_state.engine.turns import Turns

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_WAIT = """
import sys
from pathlib import Path
from hermes_state.engine.turns import Turns
with Turns(Path(sys.argv[1])).waiting():
    print("waiting", flush=True)
    sys.stdin.readline()
print("done", flush=True)
sys.stdin.readline()
"""


def _pauses(monkeypatch: pytest.MonkeyPatch, turns: Turns) -> list[float]:
    """The pauses of a process that writes for 20 ms without a break."""
    slept: list[float] = []
    monkeypatch.setattr(module.time, "sleep", slept.append)
    for now in (100.0, 100.005, 100.012, 100.018):
        turns.before_write(now)
    return slept


def test_a_process_at_full_speed_pauses_only_while_another_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits: no pause. A process says that it waits: one pause per slice. It is through: none again."""
    database = tmp_path / "store.db"
    turns = Turns(database)
    assert _pauses(monkeypatch, turns) == []
    with subprocess.Popen(
        [sys.executable, "-c", _WAIT, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as waiter:
        assert waiter.stdin is not None
        assert waiter.stdout is not None
        assert waiter.stdout.readline() == "waiting\n"
        assert len(_pauses(monkeypatch, Turns(database))) == 1
        waiter.stdin.write("\n")
        waiter.stdin.flush()
        assert waiter.stdout.readline() == "done\n"
        assert _pauses(monkeypatch, Turns(database)) == []
        waiter.stdin.write("\n")
    turns.close()


def test_a_process_that_writes_now_and_then_never_pauses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns are for processes at full speed; one with breaks between its writes holds nobody up."""
    monkeypatch.setattr(Turns, "_others_wait", lambda _self: True)
    slept: list[float] = []
    monkeypatch.setattr(module.time, "sleep", slept.append)
    turns = Turns(tmp_path / "store.db")
    for number in range(10):
        turns.before_write(100.0 + number)
    assert slept == []


def test_turns_that_cannot_be_taken_hinder_nobody(tmp_path: Path) -> None:
    """A lock file that can't be made costs fairness, not the write."""
    turns = Turns(tmp_path / "no such folder" / "store.db")
    with turns.waiting():
        turns.before_write(100.0)
        turns.before_write(100.02)
    turns.close()
