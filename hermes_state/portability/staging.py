"""Folders for half-done work beside its target; a later run clears away what a killed process left."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_state.atomic import short_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

SUFFIX = ".partial"
_LOCK = "lock"
# A folder without a lock is of a process that was killed before it made one, or that is just about to. [s]
_LOCKED_WITHIN_S = 60.0


@contextmanager
def staging(folder: Path, name: str) -> Iterator[Path]:
    """A folder of mode 0700 that is gone after the block, whatever happens in it."""
    name = short_name(name)
    clear(folder, name)
    made = Path(tempfile.mkdtemp(prefix=f".{name}.", suffix=SUFFIX, dir=folder))
    try:
        with _held(made / _LOCK):
            yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def clear(folder: Path, name: str) -> None:
    """Delete what killed processes left behind under such a name."""
    for left in folder.glob(f".{_plain(name)}.*{SUFFIX}"):
        if not left.is_dir() or left.is_symlink():
            continue
        if not (left / _LOCK).exists():
            _clear_unlocked(left)
            continue
        try:
            with _held(left / _LOCK) as is_held:
                if is_held:  # else its process lives
                    shutil.rmtree(left, ignore_errors=True)
        except FileNotFoundError:  # its process has just ended, and took it away
            continue


if sys.platform == "win32":

    def _held(path: Path) -> AbstractContextManager[bool]:
        return _held_anywhere(path)

else:
    import fcntl

    @contextmanager
    def _held(path: Path) -> Iterator[bool]:
        """Hold a lock file as `filelock` does, whose import alone takes 15 ms. Yields whether it could be had."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        except OSError:  # a file system without such locks
            with _held_anywhere(path) as is_held:
                yield is_held
        else:
            yield True
        finally:
            os.close(descriptor)


@contextmanager
def _held_anywhere(path: Path) -> Iterator[bool]:
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def _clear_unlocked(left: Path) -> None:
    """Delete an empty folder that nobody will fill any more."""
    try:
        if time.time() - left.stat().st_mtime > _LOCKED_WITHIN_S:
            left.rmdir()
    except OSError:  # not empty, so it is nobody's we know; or another process was faster
        return


def _plain(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def space_in(folder: Path) -> int:
    """Bytes that can still be written to a folder's file system."""
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize
