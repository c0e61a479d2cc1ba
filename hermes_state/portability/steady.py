"""A home's files as they are when they are read: never half of a change where that can be avoided."""

from __future__ import annotations

import io
import os
import stat
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

# Files up to this size are read as a whole and, when they change meanwhile, read again: settings, skills, memories.
# Larger ones are streamed; most of them are logs, whose beginning stays as it is. [bytes]
WHOLE_BYTES = 4 * 1024 * 1024
_TRIES = 5


class Steady(NamedTuple):
    """An open file and its size; `is_steady` is false for one that changed each time it was read."""

    stream: BinaryIO
    size: int
    is_steady: bool


def open_steady(path: Path) -> Steady:
    """Open a file for a backup.

    Raises:
        OSError: it went away, or can't be read, or is no file any more.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    file = os.fdopen(descriptor, "rb", buffering=0)
    try:
        status = os.fstat(descriptor)
        _refuse_other(path, status)
        if status.st_size > WHOLE_BYTES:
            return Steady(io.BufferedReader(file, 1024 * 1024), status.st_size, is_steady=True)
        content, is_steady = _read(file)
    except BaseException:
        file.close()
        raise
    file.close()
    return Steady(io.BytesIO(content), len(content), is_steady=is_steady)


def _refuse_other(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise FileNotFoundError(0, "it is no file any more", str(path))


def _read(file: io.FileIO) -> tuple[bytes, bool]:
    content = b""
    for _ in range(_TRIES):
        before = os.fstat(file.fileno())
        file.seek(0)
        content = file.read(before.st_size + 1)
        after = os.fstat(file.fileno())
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size) and len(content) == after.st_size:
            return content, True
    return content, False
