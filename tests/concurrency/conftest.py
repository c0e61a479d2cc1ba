"""Other processes, started from a few lines of code."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PREAMBLE = """
import os, sys, time, random
from hermes_state.store import SessionDB
from hermes_state.errors import HermesStateError, StoreBusy
def say(*words):
    print(*words, flush=True)
def wait():
    sys.stdin.readline()
"""


class Child:
    """A process that was started; its lines come out one by one."""

    def __init__(self, code: str, *arguments: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PREAMBLE + code, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self.process.pid

    def line(self) -> str:
        """The next line it says; "" when it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def go(self) -> None:
        """Let it leave `wait()`."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> list[str]:
        """Wait for it; the lines that were left. It must have ended well."""
        assert self.process.stdout is not None
        lines = self.process.stdout.read().splitlines()
        assert self.process.wait(60) == 0, lines
        return lines

    def kill(self) -> None:
        """SIGKILL, and the pipes with it."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def start() -> Iterator[Callable[..., Child]]:
    """Start processes; those that are left are killed after the test."""
    children: list[Child] = []

    def make(code: str, *arguments: object) -> Child:
        children.append(Child(code, *arguments))
        return children[-1]

    yield make
    for child in children:
        child.kill()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store of a test is to be, in a home that does not exist yet."""
    return tmp_path / "home" / "hermes_state.db"
