"""What a copy of a database leaves for the next one: what each of its pages holds, and what that looked like.

A page keeps its number from copy to copy, so that nothing which names it changes either. A page that looks as it did
need not be copied again. Without a trace another numbering is as good, only that little of the new copy is as before.
"""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass, field
from itertools import compress
from operator import not_
from struct import Struct
from typing import Self

MAGIC = b"HSTRACE1"
# Page size, first, made, roots; seed, times of the proof and of the check. Then roots; then 16 bytes for each page.
_HEAD = Struct("<8sIIIIQQQ")
_ROOT = Struct("<II")
_RECORD_BYTES = 16
_WORD, _LONG = "I", "Q"
# In a parent's number: the page is one on which a long row goes on.
CHAINED = 1 << 31
# A page that lists free ones keeps room for eight numbers, as SQLite does for an old reader's mistake.
_LIST_ROOM = 8


@dataclass(kw_only=True, slots=True)
class Trace:
    """The pages of one copy.

    Attributes:
        page_size: bytes of a page.
        first: the first page that is numbered here; those before it are SQLite's.
        made: pages that SQLite wrote.
        seed: of the fingerprints.
        proven_at: when SQLite last checked a whole copy; 0: the copy holds something else, only numbers count. [s]
        checked_at: when it last checked such a copy, or the database itself. [s]
        roots: the numbers of the trees' roots, by the database's pages; these are among SQLite's.
        sources: the database's pages, from `first` on; 0 for a page of the copy that holds nothing.
        parents: of each, the number of the page that names it, with `CHAINED`.
        prints: of each, the fingerprint (XXH3, 64 bits) of the database's page.
    """

    page_size: int
    first: int
    made: int = 0
    seed: int = 0
    proven_at: int = 0
    checked_at: int = 0
    roots: dict[int, int] = field(default_factory=dict)
    sources: array[int] = field(default_factory=lambda: array(_WORD))
    parents: array[int] = field(default_factory=lambda: array(_WORD))
    prints: array[int] = field(default_factory=lambda: array(_LONG))

    @property
    def end(self) -> int:
        """After the last page."""
        return self.first + len(self.sources)

    @property
    def locked(self) -> int:
        """The page that SQLite never uses, since its locks lie there."""
        return (1 << 30) // self.page_size + 1

    def put(self, number: int, source: int, parent: int, fingerprint: int) -> None:
        """Say what a page holds."""
        place = number - self.first
        if place >= len(self.sources):
            more = place + 1 - len(self.sources)
            self.sources.extend([0] * more)
            self.parents.extend([0] * more)
            self.prints.extend([0] * more)
        self.sources[place], self.parents[place], self.prints[place] = source, parent, fingerprint

    def drop(self, number: int) -> None:
        """Say that a page holds nothing."""
        self.put(number, 0, 0, 0)

    def trim(self) -> None:
        """Forget pages at the end that hold nothing."""
        last = len(self.sources)
        while last and not self.sources[last - 1]:
            last -= 1
        del self.sources[last:], self.parents[last:], self.prints[last:]

    def free(self) -> list[int]:
        """Pages of the copy that hold nothing, in order."""
        held = compress(range(self.first, self.end), map(not_, self.sources))
        return [number for number in (*range(self.made + 1, self.first), *held) if number != self.locked]

    def lists(self) -> list[list[int]]:
        """The same, as SQLite lists them: each first one names the others."""
        free, length = self.free(), self.page_size // 4 - _LIST_ROOM + 1
        return [free[start : start + length] for start in range(0, len(free), length)]

    def dump(self) -> bytes:
        """What is to be remembered."""
        count = len(self.roots)
        head = _HEAD.pack(
            MAGIC, self.page_size, self.first, self.made, count, self.seed, self.proven_at, self.checked_at
        )
        roots = b"".join(_ROOT.pack(*pair) for pair in sorted(self.roots.items()))
        records = array(_WORD, bytes(len(self.sources) * _RECORD_BYTES))
        prints = array(_WORD, self.prints.tobytes())
        low, high = (0, 1) if sys.byteorder == "little" else (1, 0)
        records[0::4], records[1::4] = self.sources, self.parents
        records[2::4], records[3::4] = prints[low::2], prints[high::2]
        return head + roots + _little(records).tobytes()

    @classmethod
    def parse(cls, raw: bytes) -> Self | None:
        """What `dump` gave; None: it is anything else."""
        if len(raw) < _HEAD.size or not raw.startswith(MAGIC):
            return None
        _, page_size, first, made, count, seed, proven_at, checked_at = _HEAD.unpack_from(raw)
        begin = _HEAD.size + count * _ROOT.size
        is_size = 512 <= page_size <= 65536 and not page_size & (page_size - 1)
        if not is_size or not 0 < made < first or len(raw) < begin or (len(raw) - begin) % _RECORD_BYTES:
            return None
        records = array(_WORD, raw[begin:])
        records = _little(records)
        prints = array(_LONG, array(_WORD, _interleaved(records[2::4], records[3::4])).tobytes())
        return cls(
            page_size=page_size,
            first=first,
            made=made,
            seed=seed,
            proven_at=proven_at,
            checked_at=checked_at,
            roots=dict(_ROOT.iter_unpack(raw[_HEAD.size : begin])),
            sources=records[0::4],
            parents=records[1::4],
            prints=prints,
        )


def _interleaved(low: array[int], high: array[int]) -> array[int]:
    """The two halves of long numbers as this machine has them."""
    found = array(_WORD, bytes(2 * len(low) * low.itemsize))
    first, second = (low, high) if sys.byteorder == "little" else (high, low)
    found[0::2], found[1::2] = first, second
    return found


def _little(numbers: array[int]) -> array[int]:
    """Numbers of this machine with the lowest byte first, or back."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers
