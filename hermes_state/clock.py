"""Instants: the store keeps whole microseconds since 1970 UTC and shows aware UTC datetimes."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from hermes_state.errors import InvalidValue

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# Until the year 2106 a float of seconds is less than a quarter of a microsecond off, so rounding gives the very
# microsecond back, at half the cost of adding a timedelta.
_EXACT_BELOW_US = 2**32 * 1_000_000
_from_timestamp = datetime.fromtimestamp
# Instants a datetime can hold, in microseconds: year 1 to year 9999.
MIN_US = (datetime.min.replace(tzinfo=UTC) - EPOCH) // _MICROSECOND
MAX_US = (datetime.max.replace(tzinfo=UTC) - EPOCH) // _MICROSECOND


def now_us() -> int:
    """The wall clock in microseconds since 1970 UTC."""
    return time.time_ns() // 1000


def to_us(instant: datetime) -> int:
    """An aware datetime as microseconds since 1970 UTC.

    Raises:
        InvalidValue: the datetime has no time zone, so it names no instant.
    """
    if instant.tzinfo is None:
        raise InvalidValue(f"{instant!r} has no time zone", hint="use an aware datetime, e.g. datetime.now(UTC)")
    return (instant - EPOCH) // _MICROSECOND


def from_us(microseconds: int) -> datetime:
    """The aware UTC datetime of an instant in microseconds since 1970 UTC."""
    if 0 <= microseconds < _EXACT_BELOW_US:
        return _from_timestamp(microseconds / 1_000_000, UTC)
    return EPOCH + timedelta(0, 0, microseconds)


def from_us_or_none(microseconds: int | None) -> datetime | None:
    """As `from_us`; None stays None."""
    return None if microseconds is None else from_us(microseconds)


def seconds_to_us(seconds: float) -> int:
    """Unix seconds (a float, as other stores keep them) to the nearest microsecond, held to the years 1 to 9999."""
    return max(MIN_US, min(MAX_US, round(seconds * 1_000_000)))
