"""Dates that a question names: `on 13 October`, `in May 2023`, `2023-05-07`, `昨天`. They say when it was said."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import NamedTuple

_MONTH_NAMES = (
    ("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may",), ("june", "jun"),
    ("july", "jul"), ("august", "aug"), ("september", "sept", "sep"), ("october", "oct"), ("november", "nov"),
    ("december", "dec"),
)  # fmt: skip
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names}
_MONTH = "|".join(sorted((name.capitalize() for name in _MONTHS), key=len, reverse=True))
_DAY = r"(?P<{}>\d{{1,2}})(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(?P<year>(?:19|20)\d\d))?"
# Capitals only: `may` and `march` are words. A month alone needs a word before it that makes it a time.
_ENGLISH = re.compile(
    rf"\b(?:(?P<when>in|during|since|last|early|late|mid|of|until|by|this|next)\s+)?"
    rf"(?:{_DAY.format('before')}\s+(?:of\s+)?)?(?P<month>{_MONTH})\b\.?(?:\s+{_DAY.format('after')}\b)?{_YEAR}"
)
_ISO = re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d{2})(?:-(?P<day>\d{2}))?\b")
_HAN = re.compile(r"(?:(?P<year>(?:19|20)\d\d)年)?(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})[日号])?")
_YEAR_ALONE = re.compile(r"\bin (?P<year>(?:19|20)\d\d)\b|(?P<han>(?:19|20)\d\d)年(?!\d)")
_RELATIVE = {"today": 0, "yesterday": 1, "今天": 0, "昨天": 1, "前天": 2, "今日": 0, "昨日": 1}
_RELATIVE_WORD = re.compile("|".join(rf"\b{word}\b" if word.isascii() else word for word in _RELATIVE), re.IGNORECASE)

# How well a message fits a date: on the day, the day before or after (people date things roughly, and time zones
# differ), in the same month; in the year when only that is named.
_ON_THE_DAY, _NEXT_DAY, _SAME_MONTH, _SAME_YEAR = 1.0, 0.5, 0.25, 0.3


class Mention(NamedTuple):
    """A date as far as it is named."""

    year: int | None
    month: int | None
    day: int | None

    def fits(self, when: date) -> float:
        """How well a day fits, from 0 to 1."""
        if self.day is not None and self.month is not None:
            distance = self._distance(when, self.month, self.day)
            if distance <= 1:
                return _NEXT_DAY if distance else _ON_THE_DAY
        if (self.year is not None and when.year != self.year) or (self.month is not None and when.month != self.month):
            return 0.0
        if self.month is None:
            return _SAME_YEAR
        return _ON_THE_DAY if self.day is None else _SAME_MONTH

    def _distance(self, when: date, month: int, day: int) -> int:
        """Days between the date and the nearest one that is meant."""
        years = (self.year,) if self.year is not None else (when.year - 1, when.year, when.year + 1)
        days = [abs((when - found).days) for year in years if (found := _date(year, month, day))]
        return min(days, default=1000)


def may_name_dates(text: str) -> bool:
    """Whether `mentions` could find a date in a text, on whatever day it is asked."""
    if text.strip().isalnum() and text.isascii():
        return text.strip().lower() in _RELATIVE
    return True


def mentions(text: str, today: date) -> list[Mention]:
    """The dates that a text names."""
    found = [_of(match, _number(match, "before") or _number(match, "after")) for match in _english(text)]
    found += [_of(match, _number(match, "day")) for pattern in (_ISO, _HAN) for match in pattern.finditer(text)]
    for match in _RELATIVE_WORD.finditer(text):
        day = today - timedelta(days=_RELATIVE[match.group().lower()])
        found.append(Mention(day.year, day.month, day.day))
    if not found:
        found = [Mention(int(m.group("year") or m.group("han")), None, None) for m in _YEAR_ALONE.finditer(text)]
    return [each for each in found if _is_possible(each)]


def fit(found: list[Mention], created_at_us: int) -> float:
    """How well a time in microseconds fits the best of the dates, from 0 to 1, on the local calendar."""
    when = datetime.fromtimestamp(created_at_us / 1_000_000).astimezone().date()
    return max(each.fits(when) for each in found)


def _english(text: str) -> list[re.Match[str]]:
    """The matches that name a time and not a person called May."""
    return [match for match in _ENGLISH.finditer(text) if any(match.group("when", "before", "after", "year"))]


def _of(match: re.Match[str], day: int | None) -> Mention:
    month = match.group("month")
    return Mention(_number(match, "year"), int(month) if month.isdigit() else _MONTHS[month.lower()], day)


def _number(match: re.Match[str], name: str) -> int | None:
    return int(match.group(name)) if match.group(name) else None


def _is_possible(found: Mention) -> bool:
    return found.month is None or _date(found.year or 2024, found.month, found.day or 1) is not None


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
