"""How one provider is doing: its state, what failed, and when the user has to hear of it."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from hermes_state.clock import from_us, now_us
from memory.manager.latency import Latencies
from memory.raised import message_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from memory.manager.status import ProviderState

# Characters of an error that are shown.
_ERROR_MAX = 300

_log = logging.getLogger(__name__)


class Health:
    """The record of one provider.

    Args:
        label: its name for people.
        notice_after: failures of one hook in a row after which `notify` is called, once until that hook succeeds.
        notify: gets a sentence for the user.
    """

    def __init__(self, label: str, *, notice_after: int, notify: Callable[[str], None]) -> None:
        self._label = label
        self._notice_after = notice_after
        self._notify = notify
        self._lock = threading.Lock()
        self._in_row: dict[str, int] = {}
        self.state: ProviderState = "new"
        self.reason = ""
        self.latencies = Latencies()
        self.calls = 0
        self.failures = 0
        self.last_error = ""
        self.last_error_at: datetime | None = None
        self.last_success_at: datetime | None = None

    @property
    def failures_in_row(self) -> int:
        """The longest run of failures of a hook that goes on."""
        with self._lock:
            return max(self._in_row.values(), default=0)

    def enter(self, state: ProviderState, reason: str = "") -> None:
        """The provider is in a new state; one in which it does not work is told to the user."""
        self.state, self.reason = state, shortened(reason)
        if state in ("unavailable", "failed"):
            self._notify(f"memory: {self._label} is not used: {self.reason}. See `hermes-state memory status`.")

    def succeeded(self, hook: str, seconds: float) -> None:
        """A call came back."""
        self.latencies.record(hook, seconds)
        with self._lock:
            self.calls += 1
            self._in_row.pop(hook, None)
            self.last_success_at = from_us(now_us())

    def failed(self, hook: str, error: BaseException, seconds: float) -> None:
        """A call raised, was overdue or gave junk."""
        self.latencies.record(hook, seconds)
        said = shortened(f"{hook}: {describe(error)}")
        with self._lock:
            self.calls += 1
            self.failures += 1
            in_row = self._in_row[hook] = self._in_row.get(hook, 0) + 1
            self.last_error, self.last_error_at = said, from_us(now_us())
        _log.warning("memory provider %s: %s", self._label, said)
        if in_row == self._notice_after:
            self._notify(
                f"memory: {self._label} failed {in_row} times in a row ({said}); the conversation goes on without it. "
                "See `hermes-state memory status`."
            )


def describe(error: BaseException) -> str:
    """An error in words, with its type where the words alone say too little."""
    text = message_of(error)
    return text if type(error).__module__.startswith("memory.") and text else f"{type(error).__name__}: {text}"


def shortened(text: str) -> str:
    """One line that a terminal can show."""
    line = " ".join(text.split())
    return line if len(line) <= _ERROR_MAX else f"{line[: _ERROR_MAX - 1]}…"
