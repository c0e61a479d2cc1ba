"""Which number each page of a database gets in a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_state.portability.pages.trace import Trace

# New copies leave so many pages, or up to twice as many, for what SQLite writes first: the schema and small tables.
_ROOM = 64
# Above this part of pages that hold nothing, the numbers are given anew.
_MOST_FREE = 1 / 4


def first_number(made: int) -> int:
    """The first page of a new copy that is numbered here, where SQLite made so many."""
    return (made // _ROOM + 2) * _ROOM + 1


def is_usable(trace: Trace, made: int, page_size: int) -> bool:
    """Whether pages may keep the numbers that they had, where SQLite now made so many before them."""
    is_fit = trace.page_size == page_size and made < trace.first <= 2 * made + 4 * _ROOM
    return is_fit and bool(trace.sources) and trace.sources.count(0) <= len(trace.sources) * _MOST_FREE


class Numbering:
    """Numbers of the pages of one copy, those that an earlier one had where it had the page.

    Args:
        first: the first page that is numbered here; those before it are SQLite's.
        locked: the page that SQLite never uses.
        sources: the database's pages in the earlier copy, from `first` on; 0 for a page that held nothing.
    """

    def __init__(self, first: int, locked: int, sources: Sequence[int] = ()) -> None:
        self._locked = locked
        self._before = dict(zip(sources, range(first, first + len(sources)), strict=True))
        self._free = (n for n, source in enumerate(sources, first) if not source and n != locked)
        self._numbers: dict[int, int] = {}
        self._end = first + len(sources)

    def give(self, source: int, number: int) -> None:
        """Say which number a page has, that SQLite gave to it."""
        self._numbers[source] = number

    def of(self, source: int) -> int:
        """The number of a page."""
        number = self._numbers.get(source)
        if number is None:
            number = self._before.get(source) or next(self._free, 0) or self._next()
            self._numbers[source] = number
        return number

    def _next(self) -> int:
        number = self._end + (self._end == self._locked)
        self._end = number + 1
        return number
