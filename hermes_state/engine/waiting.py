"""Waiting for SQLite's write lock: short pauses with jitter, so that it is fair, and an error that names the holder."""

from __future__ import annotations

import random
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypeVar

from hermes_state.engine.failures import is_busy
from hermes_state.engine.holder import write_lock_holder
from hermes_state.errors import StoreBusy

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

# Pauses between two tries, in seconds. They don't grow at first, so that who waits longer is not the one who misses the
# moment; a lock that is held for seconds is looked at less often. Shorter than `turns` leaves the lock alone.
_PAUSE_S, _LONG_PAUSE_S, _LONG_AFTER_S = 0.001, 0.01, 1.0

_T = TypeVar("_T")


def retry_while_busy(
    attempt: Callable[[], _T],
    deadline: float,
    path: Path,
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> _T:
    """Do something that another process's lock may hinder, again and again until a moment of `time.monotonic`.

    Args:
        waiting: entered when the first try failed, for as long as it is tried again.

    Raises:
        StoreBusy: the lock was held throughout; names the process where the system can tell.
    """
    try:
        return attempt()
    except Exception as error:
        if not is_busy(error):
            raise
    with waiting():
        return _retry(attempt, deadline, path)


def _retry(attempt: Callable[[], _T], deadline: float, path: Path) -> _T:
    started = time.monotonic()
    while True:
        now = time.monotonic()
        pause = _PAUSE_S if now - started < _LONG_AFTER_S else _LONG_PAUSE_S
        time.sleep(random.uniform(0.2, 1.5) * pause)  # noqa: S311  jitter, not a secret
        try:
            return attempt()
        except Exception as error:
            if not is_busy(error):
                raise
            if now >= deadline:
                raise StoreBusy(str(path), waited_s=now - started, holder=write_lock_holder(path)) from error
