"""A batch over both files is made wholly or not at all, whenever its process is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from builtin_harness import file_of, put

from memory.builtin import BuiltinMemory
from memory.builtin.journal import JOURNAL_NAME
from memory.errors import MemoryWriteFailed

if TYPE_CHECKING:
    from pathlib import Path

BATCH = [{"action": "add", "content": "new 家"}, {"action": "add", "target": "user", "content": "new نحن"}]

# Is killed when it has written so many of the two files.
_KILLED = """
import os, sys
from memory.builtin import BuiltinMemory
from memory.builtin.files import MemoryFile

left, write = int(sys.argv[2]), MemoryFile.write

def counted(self, data):
    global left
    if not left:
        os.kill(os.getpid(), 9)
    left -= 1
    write(self, data)

MemoryFile.write = counted
BuiltinMemory(sys.argv[1]).apply([
    {"action": "add", "content": "new \\u5bb6"},
    {"action": "add", "target": "user", "content": "new \\u0646\\u062d\\u0646"},
])
"""


def killed_after(home: Path, files: int) -> None:
    put(home, b"old \xff")
    done = subprocess.run([sys.executable, "-c", _KILLED, str(home), str(files)], check=False)
    assert done.returncode != 0
    assert (home / "memories" / JOURNAL_NAME).exists()


def texts(memory: BuiltinMemory) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return memory.read("memory").texts, memory.read("user").texts


@pytest.mark.parametrize("files", [0, 1])
def test_whoever_looks_next_finds_the_whole_batch(home: Path, files: int) -> None:
    killed_after(home, files)
    memory = BuiltinMemory(home)
    assert texts(memory) == (("old \\xff", "new 家"), ("new نحن",))
    assert file_of(home).read_bytes().startswith(b"old \xff")
    assert not (home / "memories" / JOURNAL_NAME).exists()


def test_whoever_writes_next_builds_on_the_whole_batch(home: Path) -> None:
    killed_after(home, 1)
    memory = BuiltinMemory(home)
    memory.apply([{"action": "add", "target": "user", "content": "later"}])
    assert texts(memory) == (("old \\xff", "new 家"), ("new نحن", "later"))


def test_what_an_editor_wrote_since_is_not_written_over(home: Path) -> None:
    killed_after(home, 1)
    put(home, "mine", target="user")
    assert texts(BuiltinMemory(home)) == (("old \\xff", "new 家"), ("mine",))


@pytest.mark.parametrize("junk", [b"", b"{", b"[]", b'{"memory": {}}', b'{"memory": 1}', b"\xff"])
def test_a_journal_that_is_none_is_not_followed(home: Path, junk: bytes) -> None:
    put(home, "one")
    (home / "memories" / JOURNAL_NAME).write_bytes(junk)
    memory = BuiltinMemory(home)
    assert texts(memory) == (("one",), ())
    memory.apply(BATCH)
    assert texts(memory) == (("one", "new 家"), ("new نحن",))


def test_a_batch_that_fails_leaves_no_journal(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory.builtin.files import MemoryFile

    write = MemoryFile.write

    def failing(self: MemoryFile, data: bytes) -> None:
        if self.path.name == "USER.md":
            raise MemoryWriteFailed(str(self.path), os.strerror(5))
        write(self, data)

    put(home, "one")
    memory = BuiltinMemory(home)
    with monkeypatch.context() as patch:
        patch.setattr(MemoryFile, "write", failing)
        with pytest.raises(MemoryWriteFailed):
            memory.apply(BATCH)
    assert texts(memory) == (("one",), ())
    assert not (home / "memories" / JOURNAL_NAME).exists()
