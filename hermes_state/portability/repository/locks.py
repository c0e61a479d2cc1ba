"""Who may work on a repository at once: many who read or add, or one who deletes.

The system drops the lock of a process that ends, however it ends; so there are no stale ones.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hermes_state.errors import StoreBusy
from hermes_state.portability.ownership import holders

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_state.portability.repository.layout import Repository

# [seconds] a command waits for another one.
WAIT_S = 30.0
_POLL_S = 0.05


@contextmanager
def shared(repository: Repository, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """Nobody deletes anything meanwhile.

    Raises:
        StoreBusy: somebody does, for longer than we wait.
    """
    with _locked(repository.lock, wait_s, exclusive=False):
        yield


@contextmanager
def exclusive(repository: Repository, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """Nobody else reads or adds anything meanwhile.

    Raises:
        StoreBusy: somebody does, for longer than we wait.
    """
    with _locked(repository.lock, wait_s, exclusive=True):
        yield


if sys.platform == "win32":
    from filelock import FileLock, Timeout

    @contextmanager
    def _locked(path: Path, wait_s: float, *, exclusive: bool) -> Iterator[None]:  # noqa: ARG001  no shared ones here
        try:
            with FileLock(path, timeout=wait_s):
                yield
        except Timeout as error:
            raise StoreBusy(str(path.parent), waited_s=wait_s) from error

else:
    import fcntl

    # What others put there is neither followed nor waited for.
    _FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK

    @contextmanager
    def _locked(path: Path, wait_s: float, *, exclusive: bool) -> Iterator[None]:
        descriptor = _opened(path, exclusive=exclusive)
        if descriptor is None:
            yield
            return
        try:
            _wait(descriptor, path, wait_s, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            yield
        finally:
            os.close(descriptor)

    def _opened(path: Path, *, exclusive: bool) -> int | None:
        """The file to lock; None: nothing can be written here, and nothing is to be."""
        try:
            return os.open(path, _FLAGS | os.O_CREAT, 0o600)
        except OSError:
            if exclusive or (not path.exists() and os.access(path.parent, os.W_OK)):
                raise
        return os.open(path, _FLAGS) if os.access(path, os.R_OK) else None

    def _wait(descriptor: int, path: Path, wait_s: float, kind: int) -> None:
        started = time.monotonic()
        while True:
            try:
                fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() - started >= wait_s:
                    raise StoreBusy(str(path.parent), waited_s=wait_s, holder=_holder(path)) from None
                time.sleep(_POLL_S)
            else:
                return

    def _holder(path: Path) -> str:
        found = [holder for holder in holders(path.parent) if holder.path == os.path.realpath(path)]
        others = [holder for holder in found if holder.pid != os.getpid()]
        return f"process {others[0].pid} ({others[0].command})" if others else ""
