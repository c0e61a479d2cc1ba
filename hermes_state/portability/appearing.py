"""A file that appears under its name whole, or not at all; what a killed process left is cleared away by the next."""

from __future__ import annotations

import glob
import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from hermes_state.atomic import sync_dir
from hermes_state.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Iterator

_SUFFIX = ".partial"
# [characters] of the target's name in the temporary one, so that both fit 255 bytes in any script.
_NAME_PART = 50
# [bytes] gathered before the system is called.
_BUFFER = 1024 * 1024


@contextmanager
def appearing(target: Path, *, replace: bool) -> Iterator[tuple[BinaryIO, Path]]:
    """A temporary file beside the target, mode 0600; it gets the name when the block ends without an error.

    Args:
        replace: whether a file of that name may be replaced; if not, one that another process makes meanwhile isn't
            either.

    Raises:
        Conflict: there is a file of that name.
        OSError: as the system says; nothing is left.
    """
    refuse_existing(target, replace=replace)
    _clear(target)
    descriptor, partial = _made(target)
    try:
        with os.fdopen(descriptor, "wb", buffering=_BUFFER) as file:
            yield file, partial
            _name(partial, target, replace=replace)
        sync_dir(target.parent)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def refuse_existing(target: Path, *, replace: bool) -> None:
    """Refuse a name that is taken, unless it may be replaced.

    Raises:
        Conflict: it is taken.
    """
    if not replace and os.path.lexists(target):
        raise Conflict(f"{target} is there already", hint="choose another name; --force replaces it")


def _name(partial: Path, target: Path, *, replace: bool) -> None:
    if replace:
        partial.replace(target)
        return
    try:
        os.link(partial, target)  # unlike a rename, never over a file that is there
    except FileExistsError:
        refuse_existing(target, replace=False)
    except OSError:  # a file system without hard links: what is left is to look once more
        refuse_existing(target, replace=False)
        partial.replace(target)
    else:
        partial.unlink()


def _prefix(target: Path) -> str:
    return f".{target.name[:_NAME_PART]}."


def _made(target: Path) -> tuple[int, Path]:
    """A new file that is locked, so that nobody takes it for one that was left behind."""
    while True:
        descriptor, name = tempfile.mkstemp(prefix=_prefix(target), suffix=_SUFFIX, dir=target.parent)
        _is_locked_by_us(descriptor)
        if os.path.lexists(name):
            return descriptor, Path(name)
        os.close(descriptor)  # another process cleared it away before it was locked


def _clear(target: Path) -> None:
    """Delete what killed processes left behind under such a name: gigabytes, on a full disk."""
    for left in target.parent.glob(f"{glob.escape(_prefix(target))}*{_SUFFIX}"):
        if left.is_symlink() or not left.is_file():
            continue
        try:
            descriptor = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:  # gone already, or another user's
            continue
        try:
            if _is_locked_by_us(descriptor):
                left.unlink(missing_ok=True)
        finally:
            os.close(descriptor)


def _is_locked_by_us(descriptor: int) -> bool:
    """Lock a file until it is closed; false where another process has it, or the system knows no such locks."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
