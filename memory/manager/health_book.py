"""How providers were doing, kept in the store: `memory status` in another process has to see a two-day outage."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hermes_state.errors import HermesStateError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_state.meta import Meta
    from memory.manager.health import Health

PREFIX = "memory.health:"
# Seconds between two notes that say nothing but that it still works.
_STILL_WELL_S = 30.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """What the last process that used a provider wrote of it.

    Attributes:
        failures_in_row: the longest run of failures of a hook that had not ended.
        last_error, last_error_at, last_success_at: the newest of each.
        latency_ms: by hook, the 50th and the 95th percentile in milliseconds.
    """

    failures_in_row: int = 0
    last_error: str = ""
    last_error_at: datetime | None = None
    last_success_at: datetime | None = None
    latency_ms: Mapping[str, tuple[float, float]] = field(default_factory=dict)


class HealthBook:
    """Notes of how providers are doing.

    Args:
        meta: the store's small values; None: nothing is kept.
    """

    def __init__(self, meta: Meta | None) -> None:
        self._meta = meta
        self._noted: dict[str, tuple[float, int]] = {}  # when, and how many failures in a row that was

    def note(self, provider: str, health: Health, *, last: bool = False) -> None:
        """Keep how a provider is doing, if that is news; never raises. Not for the thread of a turn: it writes.

        Args:
            last: the manager ends.
        """
        at, in_row = self._noted.get(provider, (0.0, 0))
        if self._meta is None or not health.calls:
            return
        if not last and health.failures_in_row == in_row and time.monotonic() - at < _STILL_WELL_S:
            return
        self._noted[provider] = (time.monotonic(), health.failures_in_row)
        try:
            self._meta.set(PREFIX + provider, json.dumps(_plain(health)))
        except HermesStateError as error:
            _log.warning("memory: how %s is doing can't be noted: %s", provider, error)


def read(meta: Meta) -> dict[str, Written]:
    """What was noted, by provider; a note that can't be read is none."""
    found = {}
    for key, text in meta.items(PREFIX).items():
        try:
            values = json.loads(text)
            found[key.removeprefix(PREFIX)] = Written(
                failures_in_row=int(values["failures_in_row"]),
                last_error=str(values["last_error"]),
                last_error_at=_instant(values["last_error_at"]),
                last_success_at=_instant(values["last_success_at"]),
                latency_ms={hook: (float(p50), float(p95)) for hook, (p50, p95) in values["latency_ms"].items()},
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            _log.warning("memory: the note %s can't be read", key)
    return found


def _plain(health: Health) -> dict[str, Any]:
    latency = health.latencies.summary()
    return {
        "failures_in_row": health.failures_in_row,
        "last_error": health.last_error,
        "last_error_at": health.last_error_at.isoformat() if health.last_error_at else None,
        "last_success_at": health.last_success_at.isoformat() if health.last_success_at else None,
        "latency_ms": {hook: [round(found.p50_ms, 3), round(found.p95_ms, 3)] for hook, found in latency.items()},
    }


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
