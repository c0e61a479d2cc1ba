"""Tests about files that may not be read or written, also where the tests run as root, whom nothing stops."""

from __future__ import annotations

import ctypes
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# https://man7.org/linux/man-pages/man2/capget.2.html; the two capabilities that let root pass by the modes of files.
_VERSION_3 = 0x20080522
_DAC_OVERRIDE, _DAC_READ_SEARCH = 1 << 1, 1 << 2
_EFFECTIVE = 0  # of (effective, permitted, inheritable), for the lower and then for the upper 32 capabilities


@contextmanager
def modes_count() -> Iterator[None]:
    """Within the block the modes of files bind this thread, whoever runs it."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, held = (ctypes.c_uint32 * 2)(_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    _call(libc.capget, header, held)
    fewer = (ctypes.c_uint32 * 6)(*held)
    fewer[_EFFECTIVE] &= ~(_DAC_OVERRIDE | _DAC_READ_SEARCH)
    _call(libc.capset, header, fewer)
    try:
        yield
    finally:
        _call(libc.capset, header, held)


def _call(function: ctypes._FuncPointer, *arguments: object) -> None:
    if function(*arguments):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
