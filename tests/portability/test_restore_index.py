"""A restored store is searchable at once: its index is built by two processes, of which either may be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hermes_state import SessionDB, index_build
from hermes_state.check import check
from hermes_state.portability import prepare
from hermes_state.portability.backup import Wanted, backup
from hermes_state.portability.interrupted import stages_of
from hermes_state.portability.recover import recover
from hermes_state.portability.restore import Asked, plan, restore

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_state.index_worker import IndexWorker

MESSAGES = 200
_PATCHES = ((prepare, "WORTH_MESSAGES", 50), (index_build, "WORTH_MESSAGES", 50), (index_build, "BATCH_MESSAGES", 10))


@pytest.fixture(autouse=True)
def _much(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in _PATCHES:
        monkeypatch.setattr(module, name, value)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A home with two stores of some messages."""
    home = tmp_path / "made/.hermes"
    for folder in (home, home / "profiles/work"):
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_text("model: {}\n")
        with SessionDB.open(folder / "hermes_state.db", synchronous="NORMAL") as db:
            session = db.sessions.create(source="cli", title=folder.name)
            rows = [{"role": "user", "content": f"redis 升级 number{n} שלום"} for n in range(MESSAGES)]
            db.messages.append_many(session.id, rows)
            assert db.index.catch_up()
    made = tmp_path / "home.tar.zst"
    backup(home, made)
    return made


def is_searchable(home: Path) -> bool:
    """Whether both stores are sound, and have all in the index without anybody building it now."""
    for folder in (home, home / "profiles/work"):
        with SessionDB.open(folder / "hermes_state.db") as db:
            assert db.index.mark().is_current
            assert check(db.engine, full=True).is_sound
            assert len(db.search.messages("升级", limit=1000)) == MESSAGES
            assert len(db.search.messages("number17")) == 1
    return True


def test_one_helper_for_all_stores(archive: Path, tmp_path: Path, workers: list[IndexWorker]) -> None:
    """It starts while the archive is read and ends with the restore."""
    restore(archive, tmp_path / "home")
    assert is_searchable(tmp_path / "home")
    assert len(workers) == 1
    assert not workers[0].is_usable
    assert workers[0].pid == 0


def test_without_a_helper(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: list[IndexWorker]
) -> None:
    """Small stores, indexes that came along, a plan, and parts without a store start none."""
    plan(archive, tmp_path / "none")
    restore(archive, tmp_path / "parts", Asked(only=("config.yaml",)))
    full = tmp_path / "full.tar.zst"
    backup(tmp_path / "made/.hermes", full, Wanted(keep_indexes=True))
    restore(full, tmp_path / "full")
    monkeypatch.setattr(prepare, "WORTH_MESSAGES", 5_000)
    monkeypatch.setattr(index_build, "WORTH_MESSAGES", 5_000)
    restore(archive, tmp_path / "home")
    assert workers == []
    assert is_searchable(tmp_path / "home")
    assert is_searchable(tmp_path / "full")


@pytest.mark.parametrize("batches", [0, 1, 25])
def test_the_helper_is_killed(
    archive: Path,
    tmp_path: Path,
    kill_worker_after: Callable[[int], None],
    caplog: pytest.LogCaptureFixture,
    batches: int,
) -> None:
    """kill -9 of it in the middle of the first or of the second store: the restore goes on alone, and says so."""
    kill_worker_after(batches)
    restore(archive, tmp_path / "home")
    assert is_searchable(tmp_path / "home")
    assert "second one is lost" in caplog.text


_HOST = """
    import sys
    from pathlib import Path
    from hermes_state import index_build, index_worker
    from hermes_state.portability import prepare
    from hermes_state.portability.restore import restore
    prepare.WORTH_MESSAGES, index_build.WORTH_MESSAGES, index_build.BATCH_MESSAGES = 50, 50, 10
    start, receive = index_worker.IndexWorker.start, index_worker._receive
    def told():
        worker = start()
        print(worker.pid, flush=True)
        return worker
    def held(pipe):
        batch = receive(pipe)
        print("batch", flush=True)
        sys.stdin.readline()
        return batch
    index_worker.IndexWorker.start, index_worker._receive = told, held
    restore(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_restore_is_ended_while_it_builds(archive: Path, tmp_path: Path, number: int) -> None:
    """kill -9 or Ctrl-C in the middle of the index: no home, no stage after one command, no process."""
    home = tmp_path / "home"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-c", textwrap.dedent(_HOST), str(archive), str(home)]
    with subprocess.Popen(command, text=True, env=environment, start_new_session=True, **pipes) as host:
        assert host.stdin is not None
        assert host.stdout is not None
        worker = int(host.stdout.readline())
        for _ in range(3):
            assert host.stdout.readline() == "batch\n"
            if _ < 2:
                print(file=host.stdin, flush=True)
        os.killpg(host.pid, number) if number == signal.SIGINT else host.kill()
    wait_for_end(worker)
    assert not home.exists()
    recover(home)
    assert stages_of(home) == []
    restore(archive, home)
    assert is_searchable(home)


def wait_for_end(pid: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except (FileNotFoundError, ProcessLookupError):
            return
        time.sleep(0.02)
    pytest.fail("the worker lives on")


@pytest.mark.parametrize(
    "about",
    [
        {},
        {"kind": "hermes-state"},
        {"kind": "hermes-state", "indexes": "left-out", "rows": 7},
        {"kind": "hermes-state", "indexes": "left-out", "rows": {"messages": "9" * 9}},
        {"kind": "hermes", "indexes": "left-out", "rows": {"messages": 10**9}},
        {"kind": ["x"], "indexes": None, "rows": {"messages": 10**9}},
    ],
)
def test_what_a_manifest_may_say(about: dict[str, Any]) -> None:
    """An archive that says odd things of its databases starts nothing and hurts nobody."""
    assert not prepare.has_much_to_index({"hermes_state.db": about})
    assert prepare.has_much_to_index(
        {"a": about, "b": {"kind": "hermes-state", "indexes": "left-out", "rows": {"messages": 60}}}
    )
