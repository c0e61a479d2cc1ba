"""What plug-ins print. Standard output is for a command's own data, which another program may be reading."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO


class _ByThread:
    """A stream that is one thing to the thread that made it, and another to all others."""

    def __init__(self, own: TextIO, others: TextIO) -> None:
        self._own, self._others = own, others
        self._owner = threading.get_ident()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own if threading.get_ident() == self._owner else self._others, name)


@contextmanager
def plugin_output_on_stderr() -> Iterator[None]:
    """Within the block only this thread prints to stdout. Plug-ins are loaded and called on threads of their own."""
    own: Any = sys.stdout
    by_thread: Any = _ByThread(own, sys.stderr)
    sys.stdout = by_thread
    try:
        yield
    finally:
        if sys.stdout is by_thread:
            sys.stdout = own
