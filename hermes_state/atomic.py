"""Files that appear whole or not at all: temporary sibling, flush, rename, flush of the folder."""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def sync_file(path: Path) -> None:
    """Flush a file's content to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_dir(path: Path) -> None:
    """Flush a folder's entries to the disk, so that a rename survives power loss. Windows has no such call."""
    if os.name == "nt":
        return
    sync_file(path)


def give_name(partial: Path, target: Path) -> None:
    """Rename a finished file to a name that must be free.

    Raises:
        FileExistsError: it is not; `partial` is still there.
    """
    try:
        os.link(partial, target)  # unlike a rename, never over a file that is there
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: all that is left is to look first
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        partial.replace(target)
    else:
        partial.unlink()


def short_name(name: str, most: int = 180) -> str:
    """A name cut to so many bytes, never inside a character: room for what a temporary sibling adds, within 255."""
    raw = os.fsencode(name)
    return name if len(raw) <= most else raw[:most].decode("utf-8", "ignore")


@contextmanager
def whole_file(
    target: Path, *, mode: int = 0o600, newline: str | None = "\n", errors: str = "strict"
) -> Iterator[IO[str]]:
    """Write a UTF-8 text file that replaces `target` only when the block ends without an error.

    Args:
        target: the file; its folder must exist.
        mode: the new file's permission bits, from its first byte on.
        newline, errors: as for `open`.

    Raises:
        OSError: as the system says; `target` is then untouched and nothing is left beside it.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{short_name(target.name)}.", suffix=".partial", dir=target.parent)
    partial = Path(name)
    try:
        os.fchmod(descriptor, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline=newline, errors=errors) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
        sync_dir(target.parent)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
