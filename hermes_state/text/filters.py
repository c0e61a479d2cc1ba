"""Filters of the query language: `role:user`, `-source:cron`, `after:2026-01`."""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

NAMES = ("role", "source", "session", "tool", "model", "cwd", "title", "after", "before", "is")
DATE_NAMES = frozenset({"after", "before"})
# A message has one of each, so that `role:user role:tool` can only mean either.
SINGLE_NAMES = frozenset({"role", "source", "session", "tool", "model"})
IS_VALUES = frozenset({"archived", "active", "compacted", "tool", "open", "ended", "child"})

# Four digits reach back two centuries in weeks and stay within the calendar.
_AGE = re.compile(r"(\d{1,4})([mhdw])")
_AGE_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_MONTH = re.compile(r"\d{4}-\d{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """One condition on where a message stands.

    Attributes:
        name: One of NAMES.
        values: Any of these satisfies it; more than one from `role:user,tool`. The case is as typed.
        negated: The condition must not hold.
    """

    name: str
    values: tuple[str, ...]
    negated: bool = False

    def instant(self, now: datetime) -> datetime:
        """The moment that an `after` (at it or later) or `before` (earlier) filter names, in now's time zone.

        Raises:
            ValueError: The filter is no date, which the parser never gives.
        """
        return instant(self.values[0], now)


def make_filter(name: str, value: str, *, quoted: bool) -> Filter | None:
    """The filter, or None when the value is none that the filter can have."""
    name = name.lower()
    values = (value,) if quoted or name in DATE_NAMES else tuple(part for part in value.split(",") if part)
    if not values or not value.strip():
        return None
    if name == "is":
        values = tuple(part.lower() for part in values)
        if not IS_VALUES.issuperset(values):
            return None
    if name in DATE_NAMES and not _is_date(value):
        return None
    return Filter(name=name, values=values)


def merge_filters(found: list[Filter]) -> tuple[Filter, ...]:
    """The filters with those of one name that could not hold together made into alternatives."""
    merged: dict[object, Filter] = {}
    for each in found:
        alternative = each.name in SINGLE_NAMES and not each.negated
        key = each.name if alternative else each
        if key in merged:
            each = replace(each, values=tuple(dict.fromkeys(merged[key].values + each.values)))
        merged[key] = each
    return tuple(merged.values())


def _is_date(value: str) -> bool:
    try:
        instant(value, datetime(2026, 1, 1).astimezone())
    except (ValueError, OverflowError):
        return False
    return True


def instant(value: str, now: datetime) -> datetime:
    """The moment a date value means: 2026-01-31, 2026-01, an ISO time, 30m/5h/2d/1w ago, today, yesterday.

    Raises:
        ValueError: It is none of these.
    """
    value = value.strip().lower()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if value in {"today", "yesterday"}:
        return midnight - timedelta(days=value == "yesterday")
    if age := _AGE.fullmatch(value):
        return now - timedelta(**{_AGE_UNITS[age.group(2)]: int(age.group(1))})
    if not value.isascii():
        raise ValueError(f"not a date: {value!r}")
    moment = datetime.fromisoformat(f"{value}-01" if _MONTH.fullmatch(value) else value.upper())
    return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)
