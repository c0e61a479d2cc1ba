"""A backup or a prune that is killed anywhere leaves whole snapshots, and the next run clears away what is left."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from repositories import all_snapshots, assert_sound, checked, contents, small_home

from hermes_state.portability.repository import snapshots
from hermes_state.portability.repository.backup import back_up
from hermes_state.portability.repository.layout import is_repository, open_repository
from hermes_state.portability.repository.pruning import prune
from hermes_state.portability.retention import Keep

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Forks a process for each line on stdin, which works on a repository and ends itself before the n-th time that it
# makes, names or deletes something there. Python tells an audit hook of each. A full disk lets go of what is deleted.
_SERVER = """
import json, os, signal, sys
from pathlib import Path
import hermes_state.store
from hermes_state.portability.repository import backup, locks, pruning, storing
from hermes_state.portability.repository.layout import is_repository, open_repository
from hermes_state.portability.retention import Keep

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate"}

def child(do, home, root, last, mode, reports):
    count = 0
    def hook(event, args):
        nonlocal count
        if event == "open":
            if not args[2] & WRITES:
                return
        elif event not in CHANGES:
            return
        if not os.fspath(args[0] if not isinstance(args[0], int) else "").startswith(root):
            return
        count += 1
        os.write(reports, (event + chr(0)).encode())
        if count == last:
            if mode == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if event not in ("os.remove", "os.rmdir"):
                raise OSError(28, "No space left on device")
    sys.addaudithook(hook)
    storing.FULL_BYTES = pruning.FULL_BYTES = 100_000
    pruning._SMALL_BYTES, pruning._MANY_SMALL = 1_000_000, 2
    if do == "backup":
        backup.back_up(Path(home), Path(root))
    else:
        pruning.prune(open_repository(Path(root)), Keep(last=1))

for line in sys.stdin:
    do, home, root, last, mode = json.loads(line)
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(here)
        try:
            child(do, home, root, last, mode, there)
        except BaseException as error:
            os.write(there, repr(error).encode() + bytes(1))
        os._exit(0)
    os.close(there)
    with os.fdopen(here, "rb") as pipe:
        names = pipe.read().decode().split(chr(0))[:-1]
    os.waitpid(pid, 0)
    print(json.dumps(names), flush=True)
"""


_LOCKER = """
import sys, time
from pathlib import Path
from hermes_state.portability.repository import layout, locks
with locks.exclusive(layout.open_repository(Path(sys.argv[1]))):
    print("locked", flush=True)
    time.sleep(600)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[str]]:
    """A process that works in children of its own."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", _SERVER], text=True, env=env, **pipes) as process:
        yield process


class Case:
    """A home, and a repository with two snapshots of it as it was."""

    def __init__(self, folder: Path, server: subprocess.Popen[str]) -> None:
        self.server, self.root, self.template = server, folder / "repo", folder / "template"
        self.home = small_home(folder / "home")
        (self.home / "facts.db").unlink()  # it is read the same way wherever the repository is
        (self.home / "logs/agent.log").write_bytes(os.urandom(200_000))
        for text in ("one", "two"):
            (self.home / "config.yaml").write_text(text)
            (self.home / f"{text}.bin").write_bytes(os.urandom(150_000))
            back_up(self.home, self.template)
            (self.home / f"{text}.bin").unlink()
        (self.home / "three.bin").write_bytes(os.urandom(300_000))
        self.reset()
        self.before = {path.name: contents(path) for path in self.files()}

    def reset(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.template, self.root)

    def files(self) -> list[Path]:
        return sorted((self.root / "snapshots").iterdir())

    def run(self, do: str, last: int, mode: str = "kill") -> list[str]:
        """Work until the n-th change; returns the changes."""
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        print(json.dumps([do, str(self.home), str(self.root), last, mode]), file=self.server.stdin, flush=True)
        return [str(name) for name in json.loads(self.server.stdout.readline())]

    def assert_whole(self, names: set[str]) -> None:
        """The snapshots from before that are to be there are, as they were; all there are can be given back."""
        assert checked(self.root).findings.listed == []
        found = {path.name: contents(path) for path in self.files()}
        assert {name: found.get(name) for name in names} == {name: self.before[name] for name in names}

    def assert_tidy(self) -> None:
        """Nothing is left that nobody needs to know of."""
        assert {path.name for path in self.root.iterdir()} <= {"lock", "packs", "repository.json", "snapshots"}


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory, server: subprocess.Popen[str]) -> Case:
    return Case(tmp_path_factory.mktemp("crash"), server)


@pytest.mark.parametrize("mode", ["kill", "full"])
def test_a_backup_cut_off_anywhere(case: Case, mode: str) -> None:
    """All snapshots from before are whole, the next backup goes through, and uses what is there already."""
    case.reset()
    changes = case.run("backup", 0)
    assert len(changes) > 10
    assert len(case.files()) == 3
    for last in range(1, len(changes) + 1, 1 if mode == "kill" else 2):
        case.reset()
        reached = case.run("backup", last, mode)
        assert len(reached) >= last
        case.assert_whole(set(case.before))
        back_up(case.home, case.root)
        case.assert_tidy()
    assert_sound(case.root)
    assert contents(case.root / "latest")["home/three.bin"][3] == 300_000


@pytest.mark.parametrize("mode", ["kill", "full"])
def test_a_prune_cut_off_anywhere(case: Case, mode: str) -> None:
    """What is to stay is whole; a second prune does the rest."""
    kept = {snapshots.path_of(open_repository(case.template), all_snapshots(case.template)[-1]).name}
    case.reset()
    changes = case.run("prune", 0)
    assert len(changes) > 5
    for last in range(1, len(changes) + 1, 1 if mode == "kill" else 2):
        case.reset()
        case.run("prune", last, mode)
        case.assert_whole(kept)
        prune(open_repository(case.root), Keep(last=1))
        case.assert_whole(kept)
        case.assert_tidy()
        assert [path.name for path in case.files()] == list(kept)
    assert checked(case.root).unneeded_bytes < 10_000


def test_making_a_repository_cut_off_anywhere(case: Case) -> None:
    shutil.rmtree(case.root)
    last = 0
    while not is_repository(case.root):  # what comes after is the same for any backup
        last += 1
        shutil.rmtree(case.root, ignore_errors=True)
        case.run("backup", last)
        if is_repository(case.root):
            break
        back_up(case.home, case.root)
        case.assert_tidy()
        assert_sound(case.root)
        shutil.rmtree(case.root)
    assert last > 4


def test_a_killed_process_keeps_no_lock(case: Case) -> None:
    """The system drops it, so nothing has to be removed by hand."""
    case.reset()
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            _LOCKER,
            str(case.root),
        ],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    back_up(case.home, case.root)
