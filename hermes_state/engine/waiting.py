"""Waiting for SQLite's write lock: short pauses with jitter, so that it is fair, and an error that names the holder."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, TypeVar

from hermes_state.engine.failures import is_busy
from hermes_state.engine.holder import write_lock_holder
from hermes_state.errors import StoreBusy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Pauses between two tries, in seconds. A commit takes 0.05 to 5 ms, so the first ones are short.
_PAUSE_MIN_S, _PAUSE_MAX_S = 0.0002, 0.02

_T = TypeVar("_T")


def retry_while_busy(attempt: Callable[[], _T], deadline: float, path: Path) -> _T:
    """Do something that another process's lock may hinder, again and again until a moment of `time.monotonic`.

    Raises:
        StoreBusy: the lock was held throughout; names the process where the system can tell.
    """
    started = time.monotonic()
    pause = _PAUSE_MIN_S
    while True:
        try:
            return attempt()
        except Exception as error:
            if not is_busy(error):
                raise
            now = time.monotonic()
            if now >= deadline:
                raise StoreBusy(str(path), waited_s=now - started, holder=write_lock_holder(path)) from error
            time.sleep(random.uniform(0.5, 1.5) * pause)  # noqa: S311  jitter, not a secret
            pause = min(pause * 1.3, _PAUSE_MAX_S)
