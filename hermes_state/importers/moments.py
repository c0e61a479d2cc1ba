"""Foreign times: Unix seconds as they should be, and what else is found where they should be."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from hermes_state.clock import seconds_to_us, to_us

# Above the first a number is taken for milliseconds, above the second for microseconds: as seconds they are the years
# after 5138.
_MILLISECONDS_FROM, _MICROSECONDS_FROM = 1e11, 1e14
# Numbers below it are no time anybody wrote on purpose; 0 is what programs write for "unknown".
_LATEST_US = 253_370_764_800_000_000  # the year 9999


def instant(value: Any) -> int | None:
    """Unix seconds as microseconds; None for what is not a plain time after 1970."""
    if isinstance(value, float | int) and 0 < value < _MILLISECONDS_FROM:
        return seconds_to_us(value)
    return None


def guess(value: Any) -> int | None:
    """The microseconds that something other than plain seconds most likely means; None when nothing can be told.

    Takes milliseconds, microseconds, numbers as text and ISO 8601.
    """
    if isinstance(value, str):
        return _from_text(value.strip())
    if not isinstance(value, float | int) or not math.isfinite(value) or value <= 0:
        return None
    scale = 1 if value < _MILLISECONDS_FROM else 1e-3 if value < _MICROSECONDS_FROM else 1e-6
    found = seconds_to_us(value * scale)
    return found if found < _LATEST_US else None


def _from_text(text: str) -> int | None:
    number = _as_number(text)
    return _from_date(text) if number is None else guess(number)


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _from_date(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return to_us(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
