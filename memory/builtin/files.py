"""A memory file on the disk: read whole, replaced whole, changed by one process at a time.

The lock is a side file, `<name>.lock`, held with `flock` as the peer does, so that both may write. Readers take none,
since a file is replaced in one step. What can't be read is never written over.
"""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from hermes_state.atomic import whole_file
from hermes_state.errors import DiskFull
from memory.errors import MemoryBusy, MemoryReadFailed, MemoryWriteFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# How long a change may wait for other processes. [seconds]
LOCK_S = 20.0
_POLL_S = 0.01
_UTF16 = (b"\xff\xfe", b"\xfe\xff")

# What tells whether a file is still the one that was read; None: there is none.
Signature = tuple[int, int, int] | None


class MemoryFile:
    """One memory file.

    Args:
        path: the file; it and its folder are made with the first change.
        lock_s: seconds a change may wait for other processes.
    """

    def __init__(self, path: Path, *, lock_s: float = LOCK_S) -> None:
        self.path = path
        self._lock_s = lock_s

    @contextmanager
    def locked(self, *, wait_s: float | None = None) -> Iterator[None]:
        """Keep other processes from changing the file.

        Args:
            wait_s: seconds to wait for them; None: as the file was made with.

        Raises:
            MemoryBusy: one of them did not let go in time.
            MemoryWriteFailed: the folder or the lock can't be made.
        """
        wait_s = self._lock_s if wait_s is None else wait_s
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = FileLock(self.path.with_name(f"{self.path.name}.lock"), mode=0o600)
            lock.acquire(timeout=wait_s, poll_interval=_POLL_S)
        except Timeout as error:
            raise MemoryBusy(str(self.path), waited_s=wait_s) from error
        except OSError as error:
            raise MemoryWriteFailed(str(self.path), error.strerror or str(error)) from error
        try:
            yield
        finally:
            lock.release()

    def signature(self) -> Signature:
        """What changes when the file does.

        Raises:
            MemoryReadFailed: it can't be looked at.
        """
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(error) from error
        return found.st_mtime_ns, found.st_size, found.st_ino

    def read(self) -> bytes:
        """The whole file; empty when there is none.

        Raises:
            MemoryReadFailed: it is there and can't be read, or is UTF-16.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise self._unreadable(error) from error
        if data.startswith(_UTF16):
            raise MemoryReadFailed(str(self.path), "it is UTF-16", hint="save it as UTF-8")
        return data

    def write(self, data: bytes) -> None:
        """Replace the file in one step; call it inside `locked`. A link stays a link.

        Raises:
            DiskFull, MemoryWriteFailed: the file is as it was.
        """
        try:
            place = self.path.resolve()
            mode = place.stat().st_mode & 0o777 if place.exists() else 0o600
            with whole_file(place, mode=mode, errors="surrogateescape") as file:
                file.write(data.decode("utf-8", "surrogateescape"))
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DiskFull(f"{self.path} was not changed: the disk is full", hint="free some space") from error
            raise MemoryWriteFailed(str(self.path), error.strerror or str(error)) from error

    def _unreadable(self, error: OSError) -> MemoryReadFailed:
        return MemoryReadFailed(str(self.path), error.strerror or str(error), hint="check its modes and the disk")
