"""Pieces of ASCII met so far, in arrays: thousands of them are looked up in a few steps, none of which is Python's."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from hermes_state.text.columns import Pieces

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

# A piece is kept as two words of eight bytes. One in some hundreds is longer.
MAX_BYTES = 16
# What a piece is in its column: its letters in lower case; other letters in their place; more than that.
SAME, OTHER, APART = range(3)

_BITS = 18
# Where a search may begin, and how far it goes. Words made to collide get no place.
_STARTS, _MAX_STEPS = 1 << _BITS, 32
# Behind all places, and always free.
_NOWHERE = _STARTS + _MAX_STEPS
# Three quarters of the places: a fuller table is slow.
_MAX_TAKEN = _STARTS // 4 * 3
# Odd, and with bits in no order: https://en.wikipedia.org/wiki/Hash_function#Fibonacci_hashing
_LOW_FACTOR, _HIGH_FACTOR = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
_SHIFT = 64 - _BITS
_64_BITS = (1 << 64) - 1
_WORDS = struct.Struct("<QQ")


class PieceTable:
    """A hash table with open addressing. A piece has a place, or is sent to a free one.

    Attributes:
        known: the tokens of every piece learnt, with a place or without.
        kinds: by place, what its piece is; of free ones APART.
        tokens: by place, the tokens of a piece that is OTHER, with blanks behind them.
    """

    def __init__(self) -> None:
        self.known = Pieces()
        self.kinds = np.full(_NOWHERE + 1, APART, np.uint8)
        self.tokens = np.zeros((_NOWHERE + 1, MAX_BYTES), np.uint8)
        self._low = np.zeros(_NOWHERE + 1, np.uint64)
        self._high = np.zeros(_NOWHERE + 1, np.uint64)
        self._taken = 0

    def places(self, low: NDArray[np.uint64], high: NDArray[np.uint64]) -> NDArray[np.intp]:
        """The place of each piece, or a free one.

        Args:
            low: the first eight bytes of each, the last of them highest; `high`: the next eight. Behind its end are
                zeros, and only zeros stand for one that is too long.
        """
        mixed = low * np.uint64(_LOW_FACTOR) ^ high * np.uint64(_HIGH_FACTOR)
        places = (mixed >> np.uint64(_SHIFT)).astype(np.intp)
        others = np.flatnonzero(self._is_others(places, low, high))
        for _ in range(_MAX_STEPS - 1):
            if not others.size:
                return places
            places[others] += 1
            others = others[self._is_others(places[others], low[others], high[others])]
        places[others] = _NOWHERE
        return places

    def is_free(self, places: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which places have no piece."""
        return np.equal(self._low[places], 0)

    def learn(self, pieces: Iterable[str]) -> None:
        """Take pieces in, and give those a place that are not too long, as far as there is room."""
        for piece in pieces:
            if piece not in self.known:
                tokens = self.known[piece]
                if len(piece) <= MAX_BYTES and self._taken < _MAX_TAKEN:
                    self._enter(piece, tokens)

    def _enter(self, piece: str, tokens: str) -> None:
        low, high = _WORDS.unpack(piece.encode().ljust(MAX_BYTES, b"\0"))
        first = ((low * _LOW_FACTOR ^ high * _HIGH_FACTOR) & _64_BITS) >> _SHIFT
        place = next((place for place in range(first, first + _MAX_STEPS) if not self._low[place]), None)
        if place is None:
            return
        self._taken += 1
        self._low[place], self._high[place] = low, high
        if piece in self.known.odd or len(tokens) > len(piece):
            return
        self.kinds[place] = SAME if tokens == piece.lower() else OTHER
        self.tokens[place] = list(tokens.encode().ljust(MAX_BYTES))

    def _is_others(
        self, places: NDArray[np.intp], low: NDArray[np.uint64], high: NDArray[np.uint64]
    ) -> NDArray[np.bool_]:
        here: NDArray[np.uint64] = self._low[places]
        is_other: NDArray[np.bool_] = (here != low) | (self._high[places] != high)
        is_other &= here != 0
        return is_other
