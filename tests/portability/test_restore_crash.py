"""A restore that is cut off at any point leaves, after at most one further command, wholly the old home or the new."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from homes import look, make_home

from hermes_state.portability.backup import backup
from hermes_state.portability.interrupted import stages_of
from hermes_state.portability.recover import recover
from hermes_state.portability.restore import Asked, restore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Forks a process for each line on stdin, which restores and ends itself at the n-th step. Forking a process that has
# everything imported takes a tenth of the time of starting one.
_SERVER = """
import json, os, signal, sys
from pathlib import Path
import hermes_state.store, hermes_state.portability.backup
from hermes_state.portability import recover, steps, swap
from hermes_state.portability.restore import Asked, restore

def child(archive, home, only, exchange, last, mode, reports):
    count = 0
    def on_step(name):
        nonlocal count
        count += 1
        os.write(reports, name.encode("utf-8", "surrogateescape") + bytes(1))
        if count == last:
            if mode == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(28, "No space left on device")
    steps.on_step = on_step
    if not exchange:
        swap.exchange = lambda first, second: False
    if mode == "recover":
        mode = "kill"
        recover.recover(Path(home))
    else:
        restore(Path(archive), Path(home), Asked(force=True, only=tuple(only)))

for line in sys.stdin:
    arguments = json.loads(line)
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(here)
        try:
            child(*arguments, there)
        except BaseException as error:
            os.write(there, repr(error).encode() + bytes(1))
        os._exit(0)
    os.close(there)
    with os.fdopen(here, "rb") as pipe:
        names = pipe.read().decode("utf-8", "surrogateescape").split(chr(0))[:-1]
    os.waitpid(pid, 0)
    print(json.dumps(names), flush=True)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[str]]:
    """A process that restores in children of its own."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", _SERVER], text=True, env=env, **pipes) as process:
        yield process


class Case:
    """An archive, and a home it is to replace."""

    def __init__(
        self, folder: Path, server: subprocess.Popen[str], *, only: str = "", exchange: bool = True, old: bool = True
    ) -> None:
        self.server = server
        self.folder, self.only, self.exchange, self.with_old = folder, only, exchange, old
        self.archive = folder / "new.tar.zst"
        make_home(folder / "made/.hermes", "postgres")
        backup(folder / "made/.hermes", self.archive)
        self.template = make_home(folder / "template/.hermes", "redis")
        (self.template / "skills/deploy/.venv").mkdir()
        (self.template / "skills/deploy/.venv/x").touch()
        (self.template / "backups").mkdir()
        (self.template / "backups/old.zip").write_text("an old backup")
        self.home = folder / "target/.hermes"
        self.reset()
        self.old = look(self.home)
        restore(self.archive, self.home, Asked(force=True, keep=False, only=tuple(filter(None, only.split(",")))))
        self.new = look(self.home)
        assert self.new != self.old

    def reset(self) -> None:
        shutil.rmtree(self.folder / "target", ignore_errors=True)
        if self.with_old:
            shutil.copytree(self.template, self.home, symlinks=True)
        else:
            self.home.parent.mkdir()

    def run(self, last: int, mode: str = "kill") -> list[str]:
        """Restore until a step; returns the steps that were reached."""
        only = [part for part in self.only.split(",") if part]
        line = json.dumps([str(self.archive), str(self.home), only, self.exchange, last, mode])
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        print(line, file=self.server.stdin, flush=True)
        return [str(name) for name in json.loads(self.server.stdout.readline())]


@pytest.mark.parametrize(
    ("only", "exchange", "old"),
    [("", True, True), ("", False, True), ("skills,memory", True, True), ("", True, False)],
    ids=["whole", "without-exchange", "parts", "no-home-yet"],
)
def test_killed_at_every_step(
    tmp_path: Path, server: subprocess.Popen[str], only: str, exchange: bool, old: bool
) -> None:
    """Kill -9 at each step: the next command finds it and makes the home one of both, with no stage left."""
    case = Case(tmp_path, server, only=only, exchange=exchange, old=old)
    steps = case.run(10_000)
    assert len(steps) >= 6
    ends = set()
    for last in range(1, len(steps) + 1):
        case.reset()
        case.run(last)
        without = look(case.home) if case.home.exists() else {}
        if only == "" and exchange and not is_carrying(without, case):
            assert without in (case.old, case.new), f"before any further command, at {steps[last - 1]}"
        recover(case.home)
        assert stages_of(case.home) == []
        found = look(case.home) if case.home.exists() else {}
        assert found in (case.old, case.new), f"killed at {steps[last - 1]}"
        ends.add(found == case.new)
    assert ends == {False, True}


def is_carrying(found: dict[str, object], case: Case) -> bool:
    """Whether it is the new home but for what belongs to the machine, which is moved over at last."""
    carried = {"skills/deploy/.venv", "skills/deploy/.venv/x", "backups", "backups/old.zip"}
    return {k: v for k, v in found.items() if k not in carried} == {
        k: v for k, v in case.new.items() if k not in carried
    }


def test_an_error_at_every_step(tmp_path: Path, server: subprocess.Popen[str]) -> None:
    """A full disk at any step before the swap, and any other error there, leaves the old home and no stage."""
    case = Case(tmp_path, server)
    steps = case.run(10_000)
    for last in range(1, steps.index("swapped") + 1):
        case.reset()
        case.run(last, "full")
        found = look(case.home)
        assert found in (case.old, case.new), steps[last - 1]
        assert found == case.old, steps[last - 1]
        recover(case.home)
        assert stages_of(case.home) == []


def test_killed_at_random_times(tmp_path: Path, server: subprocess.Popen[str]) -> None:
    """Kill -9 at times that are no steps of ours."""
    case = Case(tmp_path, server)
    script = "import sys; from pathlib import Path; from hermes_state.portability.restore import Asked, restore;"
    script += "print('begun', flush=True); restore(Path(sys.argv[1]), Path(sys.argv[2]), Asked(force=True))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for number in range(6):
        case.reset()
        arguments = [sys.executable, "-c", script, str(case.archive), str(case.home)]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, env=env) as child:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(0.04 * number)
            child.send_signal(signal.SIGKILL)
        recover(case.home)
        assert look(case.home) in (case.old, case.new)
        assert stages_of(case.home) == []


def test_recovering_is_cut_off_too(tmp_path: Path, server: subprocess.Popen[str]) -> None:
    """The further command may be killed as well; the one after it ends the work."""
    case = Case(tmp_path, server, exchange=False)
    steps = case.run(10_000)
    for last in range(1, 6):
        case.reset()
        case.run(steps.index("moved away ") + 1)
        case.run(last, "recover")
        for recovered in recover(case.home):
            assert recovered.is_new
        assert look(case.home) == case.new
        assert stages_of(case.home) == []


def test_somebody_begins_anew_after_the_crash(tmp_path: Path, server: subprocess.Popen[str]) -> None:
    """A home that an agent made between the crash and the recovery is kept beside, not lost and not in the way."""
    case = Case(tmp_path, server, exchange=False)
    steps = case.run(10_000)
    case.reset()
    case.run(steps.index("moved away ") + 1)
    assert not case.home.exists()
    case.home.mkdir()
    (case.home / "config.yaml").write_text("fresh")
    recover(case.home)
    assert look(case.home) == case.new
    kept = [path for path in case.home.parent.iterdir() if "replaced" in path.name]
    assert sorted((path / "config.yaml").read_text() == "fresh" for path in kept) == [False, True]
