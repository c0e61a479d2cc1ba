"""How often facts were recalled: counted in memory, written after some searches, before a list, and at the end."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from typing import TYPE_CHECKING

from sqlalchemy import update

from hermes_state.errors import HermesStateError
from hermes_state.schema import facts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from hermes_state.engine import Engine

# Searches after which counts are written by themselves, and seconds that this may wait for other writers.
FLUSH_AFTER = 20
FLUSH_BUDGET_S = 0.25
_f = facts.c
_log = logging.getLogger(__name__)


class RetrievalCounts:
    """The counts of one store that wait to be written. A search is never slowed by a write of each."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: Counter[int] = Counter()
        self._searches = 0
        self._lock = threading.Lock()

    def note(self, pks: Iterable[int]) -> None:
        """Count facts that one search recalled."""
        with self._lock:
            self._waiting.update(pks)
            self._searches += 1
            is_due = self._searches >= FLUSH_AFTER
        if is_due:
            self.flush(budget_s=FLUSH_BUDGET_S)

    def flush(self, *, budget_s: float | None = None) -> None:
        """Write what waits.

        Args:
            budget_s: seconds to wait for other writers. What can't be written then waits on: a count is never worth a
                failed answer. None: the engine's budget.

        Raises:
            StoreBusy, DiskFull, StoreUnavailable: only without a budget.
        """
        if self._engine.read_only or not self._waiting:
            return
        with self._lock:
            waiting, self._waiting, self._searches = self._waiting, Counter(), 0
        try:
            with self._engine.write(budget_s=budget_s) as connection:
                _add(connection, waiting)
        except BaseException as error:
            with self._lock:
                self._waiting.update(waiting)
            if budget_s is None or not isinstance(error, HermesStateError):
                raise
            _log.debug("counts of retrievals wait: %s", error.message)


def _add(connection: Connection, counts: Counter[int]) -> None:
    by_times: dict[int, list[int]] = {}
    for pk, times in counts.items():
        by_times.setdefault(times, []).append(pk)
    for times, pks in by_times.items():
        count = _f.retrieval_count + times
        connection.execute(update(facts).where(_f.pk.in_(pks)).values(retrieval_count=count))
