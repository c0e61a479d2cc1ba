"""What becomes of open engines when the process forks.

SQLite keeps in its own memory which locks a process holds, per file. A child that inherits this believes that it holds
them as well: it waits for a write lock that nobody of its process will ever give back, and it never takes the lock that
keeps the last one to close from removing the WAL it writes to. So all connections are closed before a fork and opened
again when the parent needs them. In the child the engines refuse all work; it opens its own, on a clean slate.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

# How long a fork waits for transactions of other threads, in seconds. One that takes longer is inherited unfinished,
# and so is one of the forking thread itself: then the child may wait for its own shadow when it writes.
WAIT_S = 1.0


class _Forkable(Protocol):
    def stop(self, timeout_s: float) -> bool: ...
    def go_on(self, stopped: bool) -> None: ...
    def abandon(self) -> None: ...


_live: weakref.WeakSet[_Forkable] = weakref.WeakSet()
# Kept alive for ever: closing a copied SQLite handle in the child could drop the parent's WAL.
_inherited: list[object] = []


class _Forking(threading.local):
    """The engines that this thread stopped for a fork, and whether their writers were."""

    def __init__(self) -> None:
        self.stopped: list[tuple[_Forkable, bool]] = []


_forking = _Forking()


class Gate:
    """Lets anybody in until it is shut; who shuts it can wait until the others inside are out."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._inside = 0
        self._shut = 0
        self._mine = _Depth()

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Be inside for a block."""
        self.enter()
        try:
            yield
        finally:
            self.leave()

    def enter(self) -> None:
        """Go inside, until `leave`. Who is inside already is let in again."""
        with self._lock:
            if self._shut and not self._mine.depth:
                self._changed.wait_for(lambda: not self._shut)
            self._inside += 1
        self._mine.depth += 1

    def leave(self) -> None:
        """Undo one `enter`."""
        self._mine.depth -= 1
        with self._lock:
            self._inside -= 1
            if self._shut:
                self._changed.notify_all()

    def wait(self) -> None:
        """Come no further while it is shut, unless already inside."""
        if self._shut and not self._mine.depth:
            with self._changed:
                self._changed.wait_for(lambda: not self._shut)

    def shut(self) -> None:
        """Let nobody in any more."""
        with self._changed:
            self._shut += 1

    def drain(self, timeout_s: float) -> None:
        """Wait so long for the others inside."""
        with self._changed:
            self._changed.wait_for(lambda: self._inside == self._mine.depth, max(timeout_s, 0.0))

    def reopen(self) -> None:
        """Undo one `shut`."""
        with self._changed:
            self._shut -= 1
            self._changed.notify_all()


class _Depth(threading.local):
    """How often this thread is inside."""

    depth = 0


def watch(engine: _Forkable) -> None:
    """Stop an engine before every fork while it is open, and abandon it in the child."""
    _live.add(engine)


def forget(engine: _Forkable) -> None:
    """The engine was closed."""
    _live.discard(engine)


def _stop_before() -> None:
    _forking.stopped = [(engine, engine.stop(WAIT_S)) for engine in list(_live)]


def _go_on_in_parent() -> None:
    stopped, _forking.stopped = _forking.stopped, []
    for engine, is_stopped in stopped:
        engine.go_on(is_stopped)


def _abandon_in_child() -> None:
    _forking.stopped = []
    for engine in list(_live):
        engine.abandon()
        _inherited.append(engine)


os.register_at_fork(before=_stop_before, after_in_parent=_go_on_in_parent, after_in_child=_abandon_in_child)
