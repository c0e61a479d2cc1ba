"""A SIGTERM that lets things end: it becomes `SystemExit`, so that context managers close and sessions end."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TERMINATED = 128 + signal.SIGTERM
# Seconds a signal may go unseen before it is sent again, and within which two of them count as one.
_UNSEEN_S, _SAME_S = 0.25, 0.5


@contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """Within the block a SIGTERM (and a SIGHUP, where there is one) ends the program as `sys.exit` would.

    Outside the main thread, where Python takes no handlers, it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with ExitStack() as stack:
        again = stack.enter_context(_sent_again())

        def leave(_number: int, _frame: object) -> None:
            if again.is_new():
                raise SystemExit(TERMINATED)

        def interrupt(_number: int, _frame: object) -> None:
            if again.is_new():
                raise KeyboardInterrupt

        wanted = {signal.SIGTERM: leave}
        if hasattr(signal, "SIGHUP"):
            wanted[signal.SIGHUP] = leave
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # nobody else's
            wanted[signal.SIGINT] = interrupt
        again.numbers = frozenset(wanted)
        for number, handler in wanted.items():
            stack.callback(signal.signal, number, signal.signal(number, handler))
        yield


class _Again:
    """Sends one of the signals `numbers` once more while its handler has not run.

    Python runs handlers between two instructions. A signal that comes just before a wait in C (for a key, for a byte)
    does not end that wait, and would be seen only after it: a Ctrl-C that does nothing.
    """

    def __init__(self, pipe: int) -> None:
        self.numbers: frozenset[int] = frozenset()
        self._pipe = pipe
        self._seen_at = -_SAME_S
        self._main = threading.main_thread().ident
        threading.Thread(target=self._watch, name="signals", daemon=True).start()

    def is_new(self) -> bool:
        """For a handler, which has run now: False for a signal that was sent again and had been seen meanwhile."""
        before, self._seen_at = self._seen_at, time.monotonic()
        return self._seen_at - before > _SAME_S

    def _watch(self) -> None:
        while numbers := os.read(self._pipe, 1):  # a byte for each signal, written when it comes
            time.sleep(_UNSEEN_S)
            is_unseen = time.monotonic() - self._seen_at > _UNSEEN_S + _SAME_S
            if is_unseen and numbers[0] in self.numbers and self._main is not None:
                signal.pthread_kill(self._main, numbers[0])
        os.close(self._pipe)


@contextmanager
def _sent_again() -> Iterator[_Again]:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    if before != -1:  # an event loop's, which wakes up by itself
        signal.set_wakeup_fd(before)
    try:
        yield _Again(reading)
    finally:
        if before == -1:
            signal.set_wakeup_fd(-1)
        os.close(writing)  # the watching thread reads the end and leaves
