"""Exchanging two paths in one step, and flushing a whole tree: system calls that Python has no names for."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

from hermes_state.atomic import sync_dir, sync_file

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2  # Linux, renameat2(2)
_RENAME_SWAP = 2  # macOS, renamex_np(2)
# What systems and file systems without it say.
_CAN_NOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


@cache
def _library() -> Any:
    return ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None


def exchange(first: Path, second: Path) -> bool:
    """Exchange two paths, both of which are there. False: this system can't, and nothing happened.

    Raises:
        OSError: as the system says.
    """
    library = _library()
    one, two = os.fsencode(first), os.fsencode(second)
    if library is not None and hasattr(library, "renameat2"):
        result = library.renameat2(_AT_FDCWD, one, _AT_FDCWD, two, _RENAME_EXCHANGE)
    elif library is not None and sys.platform == "darwin":
        result = library.renamex_np(one, two, _RENAME_SWAP)
    else:
        return False
    if result == 0:
        return True
    number = ctypes.get_errno()
    if number in _CAN_NOT:
        return False
    raise OSError(number, os.strerror(number), str(first))


def sync_tree(root: Path) -> None:
    """Flush everything below a folder to the disk: in one call for its file system where there is one."""
    library = _library()
    if library is not None and hasattr(library, "syncfs"):
        descriptor = os.open(root, os.O_RDONLY)
        try:
            if library.syncfs(descriptor) == 0:
                return
            number = ctypes.get_errno()
        finally:
            os.close(descriptor)
        if number not in _CAN_NOT:
            raise OSError(number, os.strerror(number), str(root))
    for folder, _, files in os.walk(root):
        for name in files:
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                sync_file(path)
        sync_dir(Path(folder))
