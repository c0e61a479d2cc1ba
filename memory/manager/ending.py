"""The end: what can be told in time is told, providers end in reverse order, and the rest is counted."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from hermes_state.errors import HermesStateError
from memory.errors import ProviderFailed
from memory.manager.status import ShutdownReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory.manager.delivery import Delivery
    from memory.manager.outbox import Outbox
    from memory.manager.slot import Slot

# Seconds that a provider's own `shutdown` gets at least, however long the draining took.
_OWN_LEAST_S = 1.0

_log = logging.getLogger(__name__)


def end(slots: Sequence[Slot], outbox: Outbox | None, *, timeout_s: float) -> ShutdownReport:
    """End all providers.

    Args:
        timeout_s: seconds for telling what waits; each provider's `shutdown` gets what is left, but at least 1 s.
    """
    started = time.monotonic()

    def left() -> float:
        return max(0.0, started + timeout_s - time.monotonic())

    untold = {slot.name: [d for d in slot.lane.close(left()) if d.is_durable] for slot in slots}
    stuck = {slot.name: busy.hook for slot in slots if (busy := slot.lane.busy or slot.caller.busy) is not None}
    failed = {}
    for slot in slots:
        if not slot.is_builtin:
            slot.book.note(slot.name, slot.health, last=True)
    for slot in reversed(slots):
        reason = _shut_down(slot, max(left(), _OWN_LEAST_S))
        if reason:
            failed[slot.name] = reason
    if outbox is not None:
        _release(outbox)
    report = ShutdownReport(
        drained=not any(untold.values()),
        in_outbox=_counted(untold, written=True),
        lost=_counted(untold, written=False),
        stuck=stuck,
        failed=failed,
        duration_s=time.monotonic() - started,
    )
    if not report.drained:
        _log.warning("memory: not told to providers: %s in the outbox, %s lost", report.in_outbox, report.lost)
    return report


def _shut_down(slot: Slot, deadline_s: float) -> str:
    """Why a provider's `shutdown` did not end well."""
    was, slot.health.state = slot.health.state, "stopped"
    try:
        if was not in ("new", "unavailable"):  # else it never began
            slot.demand("shutdown", slot.adapted.shutdown, deadline_s=deadline_s)
    except ProviderFailed as error:
        return error.reason
    finally:
        slot.caller.close()
    return ""


def _release(outbox: Outbox) -> None:
    try:
        outbox.release()
    except HermesStateError as error:  # the next process sees that this one ended
        _log.warning("memory: the outbox can't be written: %s", error)
    outbox.close()


def _counted(untold: dict[str, list[Delivery]], *, written: bool) -> dict[str, int]:
    counts = {name: sum((d.pk is not None) is written for d in left) for name, left in untold.items()}
    return {name: count for name, count in counts.items() if count}
