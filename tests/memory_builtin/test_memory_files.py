"""No line is ever lost: many processes, editors, faults of the disk, crashes, a store that is away."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from builtin_harness import file_of, put
from ordinary_user import modes_count

from hermes_state import SessionDB
from hermes_state.errors import DiskFull, HermesStateError, StoreBusy
from memory.builtin import BuiltinMemory, Limits, Operation
from memory.builtin.entries import parse
from memory.errors import MemoryBusy, MemoryReadFailed, MemoryWriteFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

ADDER = textwrap.dedent(
    """
    import sys
    from hermes_state import SessionDB
    from memory.builtin import BuiltinMemory, Limits, Operation

    home, name, with_store = sys.argv[1:]
    db = SessionDB.open(home=home, synchronous="NORMAL") if with_store == "yes" else None
    memory = BuiltinMemory(home, db, limits=Limits(memory=10_000))
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(20):
        memory.apply([Operation(action="add", content=f"entry {name} {n:02} {'x' * 6}")])
    """
)


def add(text: str, **more: Any) -> Operation:
    return Operation(action="add", content=text, **more)


def start(home: Path, name: str, *, with_store: bool) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", ADDER, str(home), name, "yes" if with_store else "no"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("with_store", [True, False])
def test_b074_two_processes_lose_nothing(home: Path, with_store: bool) -> None:
    """All 40 entries are there once, every state a reader sees is whole, and the history has them all."""
    if with_store:
        SessionDB.open(home=home).close()
    processes = [start(home, name, with_store=with_store) for name in "ab"]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    while any(process.poll() is None for process in processes):
        time.sleep(0.002)  # the reader looks often, and leaves the machine to the writers
        path = file_of(home)
        for entry in parse(path.read_bytes()).entries if path.exists() else ():
            assert entry.text.endswith("x" * 6)
    for process in processes:
        process.communicate(timeout=30)
        assert process.returncode == 0
    texts = [entry.text for entry in parse(file_of(home).read_bytes()).entries]
    assert sorted(texts) == sorted(f"entry {name} {n:02} xxxxxx" for name in "ab" for n in range(20))
    if with_store:
        with SessionDB.open(home=home) as db:
            memory = BuiltinMemory(home, db)
            assert len(memory.entries(statuses=["active"])) == 40
            assert [event.action for event in memory.history()] == ["add"] * 40


def test_threads_lose_nothing(home: Path, db: SessionDB) -> None:
    memory = BuiltinMemory(home, db, limits=Limits(memory=10_000))
    threads = [
        threading.Thread(target=lambda k=k: [memory.apply([add(f"thread {k} entry {n}")]) for n in range(5)])
        for k in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(memory.read("memory").entries) == 20


def test_a_writer_of_the_peers_kind_is_waited_for(home: Path) -> None:
    """The peer locks `<file>.lock` with flock; while it does, nothing is changed."""
    fcntl = pytest.importorskip("fcntl")
    put(home, "theirs")
    memory = BuiltinMemory(home, lock_s=0.05)
    with Path(f"{file_of(home)}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(MemoryBusy):
            memory.apply([add("ours")])
        assert file_of(home).read_text() == "theirs"
    memory.apply([add("ours")])
    assert file_of(home).read_text() == "theirs\n§\nours"


@pytest.fixture
def eio(monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[None]:
    """Reading the memory file fails."""
    read = Path.read_bytes

    def fail(self: Path) -> bytes:
        if self.name == "MEMORY.md":
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(self))
        return read(self)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", fail)
        yield


@pytest.mark.parametrize(
    "operation",
    [
        add("new"),
        Operation(action="remove", old_text="keep1"),
        Operation(action="replace", old_text="keep1", content="x"),
    ],
    ids=lambda each: each.action,
)
def test_a_read_error_never_erases_the_file(
    home: Path, memory: BuiltinMemory, operation: Operation, request: Any
) -> None:
    path = put(home, "keep1\n§\nkeep2")
    before = path.stat()
    request.getfixturevalue("eio")
    with pytest.raises(MemoryReadFailed):
        memory.apply([operation])
    with pytest.raises(MemoryReadFailed):
        memory.read("memory")
    assert path.stat() == before
    with path.open() as file:
        assert file.read() == "keep1\n§\nkeep2"


@pytest.mark.parametrize(("code", "error"), [(errno.ENOSPC, DiskFull), (errno.EIO, MemoryWriteFailed)])
def test_a_write_error_leaves_every_file_as_it_was(
    home: Path, memory: BuiltinMemory, monkeypatch: pytest.MonkeyPatch, code: int, error: type[HermesStateError]
) -> None:
    """Also the first file of a batch over two, when the second one fails."""
    put(home, "one")
    put(home, "me", "user")
    replace = Path.replace

    def fail(self: Path, target: Path) -> Path:
        if Path(target).name == "USER.md":
            raise OSError(code, os.strerror(code))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(error):
        memory.apply([add("two"), add("you", target="user")])
    assert (file_of(home).read_text(), file_of(home, "user").read_text()) == ("one", "me")
    assert [event for event in memory.history() if event.origin.get("write_origin") != "external edit"] == []


def test_a_read_only_folder_is_told(home: Path, memory: BuiltinMemory) -> None:
    path = put(home, "one")
    path.parent.chmod(0o500)
    try:
        with modes_count():
            assert memory.read("memory").texts == ("one",)
            with pytest.raises(MemoryWriteFailed):
                memory.apply([add("two")])
    finally:
        path.parent.chmod(0o700)


def test_bad_bytes_outlive_every_change_and_come_back(home: Path, memory: BuiltinMemory) -> None:
    put(home, b"caf\xe9\n\xc2\xa7\nplain")
    memory.apply([add("新")])
    assert file_of(home).read_bytes() == b"caf\xe9\n\xc2\xa7\nplain\n\xc2\xa7\n\xe6\x96\xb0"
    assert memory.read("memory").problems
    memory.apply([Operation(action="remove", old_text="caf\\xe9")])
    assert b"\xe9" not in file_of(home).read_bytes().replace("§".encode(), b"").replace("新".encode(), b"")
    memory.undo()
    assert file_of(home).read_bytes() == b"caf\xe9\n\xc2\xa7\nplain\n\xc2\xa7\n\xe6\x96\xb0"


def test_mode_and_link_stay(home: Path, memory: BuiltinMemory, tmp_path: Path) -> None:
    """A memory file kept among dotfiles is a link; it stays one."""
    real = tmp_path / "dotfiles.md"
    real.write_text("one")
    real.chmod(0o640)
    file_of(home).parent.mkdir(parents=True)
    file_of(home).symlink_to(real)
    memory.apply([add("two")])
    assert file_of(home).is_symlink()
    assert (real.read_text(), real.stat().st_mode & 0o777) == ("one\n§\ntwo", 0o640)


def test_a_new_file_is_for_its_owner_alone(home: Path, memory: BuiltinMemory) -> None:
    memory.apply([add("secretive")])
    assert file_of(home).stat().st_mode & 0o777 == 0o600
    assert file_of(home).parent.stat().st_mode & 0o777 == 0o700


def test_nothing_is_written_when_nothing_changes(home: Path, memory: BuiltinMemory) -> None:
    path = put(home, "\ufeffone\r\n§\r\ntwo\r\n")
    before = path.read_bytes()
    memory.apply([add("one")])
    assert path.read_bytes() == before


def test_an_editor_without_locks_is_not_overwritten(
    home: Path, memory: BuiltinMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It saves while a change is worked out; the change starts over on what it saved."""
    path = put(home, "one")
    from memory.builtin.planning import Plan

    run, edits = Plan.run, iter(["one\n§\nby hand"])

    def edited(self: Plan, operations: Any) -> None:
        run(self, operations)
        for text in edits:
            path.write_text(text)
            return

    monkeypatch.setattr(Plan, "run", edited)
    memory.apply([add("two")])
    assert path.read_text() == "one\n§\nby hand\n§\ntwo"


def test_a_locked_store_keeps_nobody_from_writing(
    home: Path, memory: BuiltinMemory, db: SessionDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is written, the reply says that the history waits, and the next read makes up for it."""
    memory.apply([add("one")])

    def busy(*args: Any, **kwargs: Any) -> None:
        raise StoreBusy(str(db.path), waited_s=0.1)

    with monkeypatch.context() as patch:
        patch.setattr(db.engine, "write", busy)
        outcome = memory.apply([add("two")])
        assert outcome.degraded
        assert memory.read("memory").texts == ("one", "two")
    memory.read("memory")
    assert [(event.action, event.after) for event in memory.history()] == [("add", "two"), ("add", "one")]
    assert memory.search("two")[0].status == "active"


KILLED = textwrap.dedent(
    """
    import os, signal, sys
    from hermes_state import SessionDB
    from memory.builtin import BuiltinMemory, Operation, ledger

    def die(*args, **kwargs):
        os.kill(os.getpid(), signal.SIGKILL)

    home, where = sys.argv[1:]
    db = SessionDB.open(home=home)
    if where == "before the file":
        os.fsync = die
    else:
        ledger.record = die
    BuiltinMemory(home, db).apply([Operation(action="add", content="two")])
    """
)


@pytest.mark.parametrize(("where", "texts"), [("before the file", ["one"]), ("before the history", ["one", "two"])])
def test_a_kill_at_any_moment_loses_nothing(
    home: Path, memory: BuiltinMemory, db: SessionDB, where: str, texts: list[str]
) -> None:
    memory.apply([add("one")])
    ran = subprocess.run([sys.executable, "-c", KILLED, str(home), where], check=False)
    assert ran.returncode == -signal.SIGKILL
    assert list(memory.read("memory").texts) == texts
    assert [each.text for each in memory.entries(statuses=["active"])] == texts
    memory.apply([add("three")])
    assert [entry.text for entry in parse(file_of(home).read_bytes()).entries] == [*texts, "three"]
