"""Taking turns at the write lock, so that a process that writes at full speed leaves room for others.

SQLite's lock goes to whoever tries first after it is free, and that is nearly always the process that just gave it up,
since it does not sleep. So a process that waits says so with a shared lock on a file beside the store, and one that has
been writing for a while looks there and pauses for a moment. Locks vanish with their process; the file stays.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

if sys.platform != "win32":  # no turns are taken there
    import fcntl

    _SHARED, _EXCLUSIVE, _NONE = fcntl.LOCK_SH | fcntl.LOCK_NB, fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_UN
else:
    _SHARED = _EXCLUSIVE = _NONE = 0

# How long a process may write while others wait, in seconds: some commits to a slow disk, hundreds to a fast one.
_SLICE_S = 0.01
# How long it then leaves the lock alone: longer than the longest pause of one that waits.
_YIELD_S = 0.003
# After such a pause between two of its writes a process is not "at full speed" and begins a new slice.
_IDLE_S = 0.05


class Turns:
    """The turns of one store in this process."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}.lock")
        self._file: int | None = None
        self._since = 0.0
        self._last = 0.0

    def before_write(self, now: float) -> None:
        """Pause for a moment when this process has had its slice and others wait. `now` is of `time.monotonic`."""
        if now - self._last > _IDLE_S:
            self._since = now
        elif now - self._since > _SLICE_S:
            if self._others_wait():
                time.sleep(_YIELD_S)
            now = self._since = time.monotonic()
        self._last = now

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Say that this process waits, for as long as the block runs."""
        said = self._lock(_SHARED, os.O_CREAT)
        try:
            yield
        finally:
            if said:
                self._lock(_NONE)

    def _others_wait(self) -> bool:
        """Whether another process holds the shared lock, so that an exclusive one can't be had."""
        if self._lock(_EXCLUSIVE):
            self._lock(_NONE)
            return False
        return self._file is not None

    def _lock(self, kind: int, flags: int = 0) -> bool:
        """Try to set or clear this process's lock. False when it can't be, which costs fairness and nothing else."""
        if sys.platform == "win32":
            return False
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | flags, 0o600)
            fcntl.lockf(self._file, kind, 1)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Close the file; the locks on it go too."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
