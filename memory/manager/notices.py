"""Sentences for the user: kept until somebody shows them, each once."""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# Notices kept while nobody takes them.
_KEPT = 20

_log = logging.getLogger(__name__)


class Notices:
    """The notices of a manager.

    Args:
        listener: shows a notice at once; None: `take` is asked for them.
    """

    def __init__(self, listener: Callable[[str], None] | None) -> None:
        self._listener = listener
        self._lock = threading.Lock()
        self._waiting: deque[str] = deque(maxlen=_KEPT)

    def add(self, text: str) -> None:
        """Something the user has to know, and the log. Called on any thread; a listener that fails costs no more."""
        _log.warning("%s", text)
        if self._listener is None:
            with self._lock:
                self._waiting.append(text)
            return
        try:
            self._listener(text)
        except Exception:  # noqa: BLE001  the surface's trouble, not that of the thread that has the news
            _log.exception("a notice could not be shown: %s", text)

    def take(self) -> list[str]:
        """The notices that were not shown yet, oldest first."""
        with self._lock:
            taken = list(self._waiting)
            self._waiting.clear()
        return taken
