"""Finding other memory providers."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hermes_state.errors import HermesStateError
from memory.host.plugin_source import sources

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["find_provider_dir", "load_memory_provider"]

_log = logging.getLogger(__name__)


def load_memory_provider(name: str) -> object | None:
    """A new provider; None, and a warning with the reason, if there is none or it can't be loaded."""
    try:
        return sources[-1].load(name) if sources else None
    except HermesStateError as error:
        _log.warning("%s", error.message)
        return None


def find_provider_dir(name: str) -> Path | None:
    """Where a provider's files lie; None if it lies in no directory of its own."""
    return sources[-1].directory(name) if sources else None
