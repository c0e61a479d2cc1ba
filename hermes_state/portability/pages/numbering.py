"""Which page of a copy holds which page of its database.

A page keeps its number from copy to copy, so that nothing which names it changes either. What a number stands for is
remembered with the copy; without that, another numbering is as good, only that little of the new copy is as before.
"""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

# New copies leave so many pages, or up to twice as many, for what SQLite writes first: the schema and small tables.
_ROOM = 64
# Above this part of pages that hold nothing, the numbers are given anew.
_MOST_FREE = 1 / 4
_ITEM = "I"


class Numbering:
    """Numbers of the pages of one copy.

    Args:
        first: the first page that is numbered here; those before it are SQLite's.
        locked: the page that SQLite never uses, since its locks lie there.
        sources: the database's pages, from `first` on; 0 for a page of the copy that holds nothing.

    Attributes:
        remembered: those sources, which is about the order in which they are asked for.
    """

    def __init__(self, first: int, locked: int, sources: array[int]) -> None:
        self.first, self.locked = first, locked
        numbered = [(number, source) for number, source in enumerate(sources, first) if number != locked]
        self._before = {source: number for number, source in numbered if source}
        self._free = [number for number, source in numbered if not source][::-1]
        self._numbers: dict[int, int] = {}
        self.remembered = sources
        self._end = first + len(sources)

    @classmethod
    def after(cls, pages: int, locked: int, remembered: bytes = b"") -> Self:
        """The numbering of a copy whose first pages SQLite wrote.

        Args:
            remembered: what `dump` gave for an earlier copy; anything else counts as nothing.
        """
        known = _parsed(remembered)
        if known and pages < known[0] <= 2 * pages + 4 * _ROOM and known[1:].count(0) <= len(known) * _MOST_FREE:
            return cls(known[0], locked, known[1:])
        return cls((pages // _ROOM + 2) * _ROOM + 1, locked, array(_ITEM))

    def give(self, source: int, number: int) -> None:
        """Say which number a page has, that SQLite gave to it."""
        self._numbers[source] = number

    def of(self, source: int) -> int:
        """The number of a page."""
        number = self._numbers.get(source)
        if number is None:
            number = self._before.get(source) or (self._free.pop() if self._free else self._next())
            self._numbers[source] = number
        return number

    def _next(self) -> int:
        number = self._end + (self._end == self.locked)
        self._end = number + 1
        return number

    @property
    def last(self) -> int:
        """The highest number that was given; 0: none was."""
        return max(self._numbers.values(), default=0)

    def dump(self) -> bytes:
        """What is to be remembered."""
        found = array(_ITEM, bytes(max(0, self.last - self.first + 1) * array(_ITEM).itemsize))
        for source, number in self._numbers.items():
            if number >= self.first:
                found[number - self.first] = source
        return _little(array(_ITEM, [self.first]) + found).tobytes()

    def free(self, begin: int, end: int) -> Iterator[int]:
        """Pages of the copy that hold nothing.

        Args:
            begin: after the pages that SQLite wrote.
            end: after the last page.
        """
        used = {*self._numbers.values()}
        return (number for number in range(begin, end) if number not in used and number != self.locked)


def _parsed(remembered: bytes) -> array[int] | None:
    found = array(_ITEM)
    if not remembered or len(remembered) % found.itemsize:
        return None
    found.frombytes(remembered)
    return _little(found)


def _little(numbers: array[int]) -> array[int]:
    """Numbers of this machine with the lowest byte first, or back."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers
