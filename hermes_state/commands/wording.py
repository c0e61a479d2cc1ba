"""How numbers, sizes and times are said to people. Machines get JSON."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hermes_state.commands.plain import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hermes_state.records import Session

_STEPS = ((7 * 86400, "w"), (86400, "d"), (3600, "h"), (60, "m"), (1, "s"))
# From this age on a date says more than a count of weeks.
_RECENT = timedelta(days=14)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 message`, `1,204 messages`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size(number_of_bytes: float) -> str:
    """`812 B`, `1.4 MB`: in steps of 1,000, as disks are sold and `ls -h --si` shows."""
    for unit in ("B", "kB", "MB", "GB"):
        if number_of_bytes < 1000:
            return f"{number_of_bytes:.0f} {unit}" if unit == "B" else f"{number_of_bytes:.1f} {unit}"
        number_of_bytes /= 1000
    return f"{number_of_bytes:.1f} TB"


def short_number(number: float) -> str:
    """`812`, `14.2k`, `3.1M`."""
    for limit, divisor, unit in ((10_000, 1, ""), (1_000_000, 1000, "k"), (10**9, 10**6, "M")):
        if abs(number) < limit:
            return f"{number:,.0f}" if not unit else f"{number / divisor:.1f}{unit}"
    return f"{number / 10**9:.1f}G"


def money(dollars: float | None) -> str:
    """`$0.42`; cents get more digits where two would say nothing."""
    if dollars is None:
        return "–"
    return f"${dollars:,.2f}" if dollars >= 0.1 or dollars == 0 else f"${dollars:.4f}"


def duration(span: timedelta) -> str:
    """`45s`, `5m`, `3h`, `2d`, `6w`: the largest unit that fits."""
    seconds = max(0, round(span.total_seconds()))
    for length, unit in _STEPS:
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return "0s"


def local(instant: datetime) -> str:
    """Date and time to the minute, where the reader is."""
    return f"{instant.astimezone():%Y-%m-%d %H:%M}"


def name_of(session: Session, previews: Mapping[str, str]) -> str:
    """What a person knows a conversation by: its title, else how it began."""
    return one_line(session.title or previews.get(session.id) or "(untitled)")


def span(start: datetime, end: datetime) -> str:
    """`2026-07-20 10:11 – 11:40`: the second date only where it is another day."""
    first, last = start.astimezone(), end.astimezone()
    if f"{first:%Y%m%d%H%M}" == f"{last:%Y%m%d%H%M}":
        return local(start)
    return f"{local(start)} – {last:%H:%M}" if first.date() == last.date() else f"{local(start)} – {local(end)}"


def ago(instant: datetime, now: datetime | None = None) -> str:
    """`3h ago` for the last two weeks, else the local date."""
    age = (now or datetime.now(UTC)) - instant
    if timedelta(0) <= age < timedelta(minutes=1):
        return "just now"
    if timedelta(0) <= age < _RECENT:
        return f"{duration(age)} ago"
    return f"{instant.astimezone():%Y-%m-%d}"


def listed(words: Iterable[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    *head, tail = list(words) or [""]
    return f"{', '.join(head)} {last} {tail}" if head else tail
