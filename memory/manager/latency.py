"""How long the hooks of a provider take: the newest durations of each, and their percentiles."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

# Newest calls of a hook that are looked at: enough for a 95th percentile, small enough to keep for ever.
KEPT = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class Latency:
    """How long the newest calls of one hook took.

    Attributes:
        calls: all calls so far, of which at most the newest 256 are measured here.
        p50_ms, p95_ms, max_ms: percentiles (nearest rank) of those, in milliseconds.
    """

    calls: int
    p50_ms: float
    p95_ms: float
    max_ms: float


class Latencies:
    """Durations by hook."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: dict[str, deque[float]] = {}
        self._calls: dict[str, int] = {}

    def record(self, hook: str, seconds: float) -> None:
        """A call of a hook ended, or was given up, after that time."""
        with self._lock:
            self._newest.setdefault(hook, deque(maxlen=KEPT)).append(seconds)
            self._calls[hook] = self._calls.get(hook, 0) + 1

    def summary(self) -> dict[str, Latency]:
        """What is known, by hook."""
        with self._lock:
            found = {hook: (self._calls[hook], sorted(values)) for hook, values in self._newest.items()}
        return {
            hook: Latency(
                calls=calls,
                p50_ms=_rank(values, 0.5) * 1000,
                p95_ms=_rank(values, 0.95) * 1000,
                max_ms=values[-1] * 1000,
            )
            for hook, (calls, values) in found.items()
        }


def _rank(values: list[float], share: float) -> float:
    """The nearest-rank percentile of sorted values."""
    return values[max(0, -int(-share * len(values) // 1) - 1)]
