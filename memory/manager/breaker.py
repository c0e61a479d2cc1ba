"""A circuit breaker: a provider that fails again and again is left alone for a while, then tried once."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

BreakerState = Literal["closed", "open", "half_open"]


class Breaker:
    """Closed: calls pass. After `failures` failures in a row it opens; after `cooldown_s` one call may try again.

    Args:
        failures: failures in a row that open it.
        cooldown_s: seconds it stays open.
        clock: monotonic seconds.
    """

    def __init__(self, *, failures: int, cooldown_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = failures
        self._cooldown_s = cooldown_s
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._opened_at: float | None = None
        self._on_trial = False

    @property
    def state(self) -> BreakerState:
        """`half_open` from the end of the cool-down until the trial call has ended."""
        with self._lock:
            if self._opened_at is None:
                return "closed"
            return "half_open" if self._on_trial or self._left() <= 0 else "open"

    @property
    def failures(self) -> int:
        """Failures since the last success."""
        with self._lock:
            return self._failures

    @property
    def retry_in_s(self) -> float:
        """Seconds until a call may pass; 0 when one may now."""
        with self._lock:
            return 0.0 if self._opened_at is None else max(0.0, self._left())

    def allows(self) -> bool:
        """Whether a call may start now. After the cool-down only the first that asks may, until its end is told."""
        with self._lock:
            if self._opened_at is None:
                return True
            if self._on_trial or self._left() > 0:
                return False
            self._on_trial = True
            return True

    def withdrawn(self) -> None:
        """A call that was allowed was not made after all."""
        with self._lock:
            self._on_trial = False

    def succeeded(self) -> None:
        """A call came back: closed again."""
        with self._lock:
            self._failures = 0
            self._opened_at = None
            self._on_trial = False

    def failed(self) -> None:
        """A call failed, or did not come back in time."""
        with self._lock:
            self._failures += 1
            if self._failures >= self._limit:
                self._opened_at = self._clock()
            self._on_trial = False

    def _left(self) -> float:
        assert self._opened_at is not None
        return self._opened_at + self._cooldown_s - self._clock()
