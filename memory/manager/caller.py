"""Calls with a deadline: what hangs costs its deadline once, and nothing after.

Python can't end a thread. So each provider has one thread that its calls run on, one after the other, and whoever
calls waits for the result only until the deadline. A call that is overdue keeps the thread; until it comes back every
other call is refused at once, so that there is never a second stuck thread. The thread is a daemon: a process ends
even while a provider hangs. It stays until the caller is closed, since providers open connections in `initialize` that
only work on that thread.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.raised import message_of

if TYPE_CHECKING:
    from collections.abc import Callable


class Overdue(Exception):
    """A call did not come back before its deadline; it may still be running."""

    def __init__(self, hook: str, deadline_s: float) -> None:
        super().__init__(f"no answer within {deadline_s:g} s")
        self.hook = hook
        self.deadline_s = deadline_s


class StillStuck(Exception):
    """A call was not started: an earlier one is overdue and still holds the thread."""

    def __init__(self, hook: str, seconds: float) -> None:
        super().__init__(f"skipped: {hook} has not come back for {seconds:.0f} s")
        self.hook = hook
        self.seconds = seconds


class Raised(Exception):
    """A provider raised what is no ordinary error (`SystemExit`, `KeyboardInterrupt`, …); it is the cause.

    It comes wrapped, so that nobody takes it for one of the process's own.
    """


def unwrapped(error: BaseException) -> BaseException:
    """What was really raised."""
    return error.__cause__ if isinstance(error, Raised) and error.__cause__ is not None else error


class Busy(NamedTuple):
    """What a thread is doing: the hook and for how many seconds."""

    hook: str
    seconds: float


class Call:
    """One call that was started; `result()` waits for it."""

    def __init__(
        self,
        hook: str,
        function: Callable[[], Any],
        deadline_s: float,
        on_late: Callable[[Any, BaseException | None], None] | None,
    ) -> None:
        self.hook = hook
        self.deadline_s = deadline_s
        self.started_at = time.monotonic()
        self._until = self.started_at + deadline_s
        self._function = function
        self._on_late = on_late
        self._context = contextvars.copy_context()
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._value: Any = None
        self._error: BaseException | None = None
        self.given_up = False

    def result(self) -> Any:
        """What the call gives.

        Raises:
            Overdue: it did not come back in time; what comes later goes to `on_late`.
            Raised: it raised what is no ordinary error.
            Exception: what the call raised.
        """
        try:
            self._done.wait(max(0.0, self._until - time.monotonic()))
        finally:  # also when a Ctrl-C ends the waiting
            with self._lock:
                self.given_up = not self._done.is_set()
        if self.given_up:
            raise Overdue(self.hook, self.deadline_s)
        if self._error is None:
            return self._value
        if isinstance(self._error, Exception):
            raise self._error
        raise Raised(message_of(self._error)) from self._error

    def run(self) -> None:
        """Run it, on the provider's thread."""
        value, error = None, None
        function, self._function = self._function, _nothing  # the thread keeps the call until the next one comes
        try:
            value = self._context.run(function)
        except BaseException as raised:  # noqa: BLE001  a plug-in may raise anything; whoever waits gets it
            error = raised
        with self._lock:
            self._value, self._error = value, error
            late = self.given_up
            self._done.set()
        on_late, self._on_late = self._on_late, None
        del function
        if late and on_late is not None:
            on_late(value, error)


def _nothing() -> None:
    """What is left of a call that was made."""


class BoundedCaller:
    """The thread that the calls of one provider run on.

    Args:
        name: of the thread, for whoever looks at a process.
        idle_s: seconds without work after which it ends, and the next call starts another; None: when closed.
    """

    def __init__(self, name: str, *, idle_s: float | None = None) -> None:
        self._name = name
        self._idle_s = idle_s
        self._changed = threading.Condition()
        self._waiting: deque[Call] = deque()
        self._current: Call | None = None
        self._is_running = False

    @property
    def busy(self) -> Busy | None:
        """What is running now."""
        with self._changed:
            current = self._current
        return None if current is None else Busy(current.hook, time.monotonic() - current.started_at)

    @property
    def is_stuck(self) -> bool:
        """Whether the running call is overdue."""
        with self._changed:
            return self._current is not None and self._current.given_up

    def start(
        self,
        hook: str,
        function: Callable[[], Any],
        *,
        deadline_s: float,
        on_late: Callable[[Any, BaseException | None], None] | None = None,
    ) -> Call:
        """Start a call; it waits for those before it, as long as they are in time.

        Args:
            deadline_s: seconds from now until whoever waits is told `Overdue`.
            on_late: gets the value or the error of a call that came back after that.

        Raises:
            StillStuck: an earlier call is overdue.
        """
        call = Call(hook, function, deadline_s, on_late)
        with self._changed:
            current = self._current
            if current is not None and current.given_up:
                raise StillStuck(current.hook, time.monotonic() - current.started_at)
            self._waiting.append(call)
            self._changed.notify()
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
        return call

    def call(self, hook: str, function: Callable[[], Any], *, deadline_s: float) -> Any:
        """Start a call and wait for it; see `start` and `Call.result`."""
        return self.start(hook, function, deadline_s=deadline_s).result()

    def close(self) -> None:
        """No more calls: the thread ends as soon as it is free."""
        with self._changed:
            self._idle_s = 0.0
            self._changed.notify()

    def _run(self) -> None:
        while (call := self._next()) is not None:
            call.run()
            with self._changed:
                self._current = None

    def _next(self) -> Call | None:
        with self._changed:
            while True:
                while self._waiting:
                    call = self._waiting.popleft()
                    if not call.given_up:
                        self._current = call
                        return call
                if not self._changed.wait(self._idle_s) and not self._waiting:
                    self._is_running = False
                    return None
