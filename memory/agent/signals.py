"""A SIGTERM that lets things end: it becomes `SystemExit`, so that context managers close and sessions end."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

TERMINATED = 128 + signal.SIGTERM


def _leave(_number: int, _frame: object) -> NoReturn:
    raise SystemExit(TERMINATED)


@contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """Within the block a SIGTERM (and a SIGHUP, where there is one) ends the program as `sys.exit` would.

    Outside the main thread, where Python takes no handlers, it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    wanted = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {number: signal.signal(number, _leave) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
