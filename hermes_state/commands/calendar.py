"""A calendar of activity: a column per week, a row per weekday, darker where more was said."""

from __future__ import annotations

import math
from datetime import date, timedelta
from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
# From nothing to the busiest: the characters alone tell it too, where there is no colour.
SHADES = ("·", "░", "▒", "▓", "█")
ASCII_SHADES = (".", ":", "+", "*", "#")
_STYLES = ("bright_black", "green", "green", "bright_green", "bold bright_green")
_LABEL = 5  # cells before the first week
_WEEK = 2  # cells per week


def weeks_that_fit(width: int) -> int:
    """How many weeks a line of `width` cells can show, at most a year."""
    return max(4, min(53, (width - _LABEL) // _WEEK))


def calendar(messages: Mapping[date, int], *, last: date, weeks: int, shades: Sequence[str] = SHADES) -> Iterator[Text]:
    """The lines of the calendar of `weeks` weeks up to the one of `last`: months, seven weekdays, the key."""
    first = last - timedelta(days=last.weekday(), weeks=weeks - 1)
    mondays = [first + timedelta(weeks=n) for n in range(weeks)]
    most = max((number for day, number in messages.items() if first <= day <= last), default=0)
    yield _months(mondays)
    for weekday, name in enumerate(DAYS):
        line = Text(f"{name:<{_LABEL}}", style="dim")
        for monday in mondays:
            day = monday + timedelta(days=weekday)
            level = shade(messages.get(day, 0), most)
            line.append(f"{shades[level]} ", _STYLES[level]) if day <= last else line.append("  ")
        line.rstrip()
        yield line
    key = Text(" " * _LABEL + "less ", style="dim")
    for mark, style in zip(shades, _STYLES, strict=True):
        key.append(f"{mark} ", style)
    yield key.append(f"more, up to {most:,} messages a day", "dim")


def shade(number: int, most: int) -> int:
    """0 for nothing, 1 to 4 for a quarter each, by the square root: one wild day does not pale all others."""
    if not number or not most:
        return 0
    return max(1, min(4, round(4 * math.sqrt(number / most))))


def _months(mondays: list[date]) -> Text:
    """The months' names above the weeks in which they begin; one that has no room gives way to the next."""
    starts = [n for n, monday in enumerate(mondays) if n == 0 or monday.month != mondays[n - 1].month]
    line = ""
    for n, following in zip(starts, [*starts[1:], len(mondays) + 2], strict=True):
        if following - n >= 2:
            line = f"{line:<{_LABEL + n * _WEEK}}{mondays[n]:%b}"
    return Text(line, style="dim")
