"""Brings the index up to date in the background, between appends.

A thread segments messages while nobody appends. While somebody does, it does nothing until very many messages wait,
and then it works a tenth of the time: it shares the interpreter with the agent, and an append must not wait for it. A
search never relies on it, since it catches up by itself; it only finds less to do.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from typing import TYPE_CHECKING

from hermes_state.errors import HandleUnusable, HermesStateError

if TYPE_CHECKING:
    from hermes_state.index import MessageIndex

# Seconds without an append after which the store counts as idle.
IDLE_S = 0.3
# Messages that wait before it works although appends go on.
BACKLOG = 20_000
# Share of the time that it works then.
_DUTY = 0.1
# Seconds of one stretch of work, after which it looks whether an append came; and that it waits for a writer.
_STRETCH_S, _LOCK_S = 0.05, 0.05
# Seconds without any append after which the thread ends; the next append starts another.
_LINGER_S = 30.0
# Seconds that closing waits for the batch at hand.
_STOP_S = 5.0

_log = logging.getLogger(__name__)


class Indexer:
    """The background thread of one index. Nothing runs before the first `wake`."""

    def __init__(self, index: MessageIndex) -> None:
        self._index = weakref.ref(index)
        self._woken = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._waiting = 0
        self._last = 0.0

    def wake(self, messages: int = 1) -> None:
        """Note that messages were appended. Costs a microsecond and never waits."""
        self._last = time.monotonic()
        self._waiting += messages
        if not self._woken.is_set():
            self._woken.set()
        if self._thread is None:
            self._start()

    def stop(self) -> None:
        """End the thread after the batch at hand. It is not started again."""
        self._stopped.set()
        self._woken.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(_STOP_S)

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._stopped.is_set():
                self._thread = threading.Thread(target=self._run, name="hermes-state-indexer", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        try:
            while self._woken.wait(_LINGER_S) and not self._stopped.is_set():
                self._woken.clear()
                self._work()
        except HermesStateError as error:
            # Nothing is lost: whatever is missing is added before the next search. A closed store is how most threads
            # end, and nothing to warn of.
            level = logging.DEBUG if isinstance(error, HandleUnusable) else logging.WARNING
            _log.log(level, "indexing in the background stopped: %s", error.message)
        finally:
            self._thread = None

    def _work(self) -> None:
        """Index until all is in, whenever the store is idle."""
        while not self._stopped.is_set():
            idle = time.monotonic() - self._last
            if idle < IDLE_S and self._waiting < BACKLOG:
                self._stopped.wait(IDLE_S - idle)
                continue
            index = self._index()
            if index is None:
                return
            started = time.monotonic()
            before = self._waiting
            if index.try_catch_up(budget_s=_STRETCH_S, lock_budget_s=_LOCK_S):
                self._waiting -= before
                if idle < IDLE_S or index.try_tidy(budget_s=_STRETCH_S):
                    return
            if idle < IDLE_S:
                self._stopped.wait((time.monotonic() - started) * (1 / _DUTY - 1))
            del index
