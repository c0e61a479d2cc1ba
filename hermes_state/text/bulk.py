"""Many texts as columns of the index at once, at a fraction of what `index_columns` costs for each.

Nearly all of what fills a store is ASCII, and nearly all pieces of that stand for themselves in lower case or for
something shorter. So these texts are laid side by side in one buffer, their pieces are found and looked up in arrays,
and only what differs is written over. A piece that needs more than that, and a text that does, is looked at alone.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from hermes_state.text.blobs import has_data_url, without_blobs
from hermes_state.text.columns import CUT, DOT_NET, ODD, index_columns, parts_of
from hermes_state.text.piece_table import APART, MAX_BYTES, OTHER, PieceTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from hermes_state.text.tokens import Special

# The arrays take thirty times the room of the texts, so a long one has its own, and a longer one takes the long way.
MAX_CHARS = 1_000_000
# Pieces remembered before starting afresh. Meeting one anew costs as much as a hundred that are known.
MAX_PIECES = 200_000
_BLANK = 0x20
_WORD = 8
# What belongs to a piece of eight bytes, of which so many are its own.
_MASKS = np.array([(1 << 8 * count) - 1 for count in range(_WORD + 1)], np.uint64)


class BulkColumns:
    """Gives columns and remembers pieces. For one thread."""

    def __init__(self) -> None:
        self._table = PieceTable()

    def of(self, texts: Sequence[str]) -> list[tuple[str, str]]:
        """What `index_columns` gives for each text, but for more blanks between tokens. Never raises."""
        are_plain = list(map(_is_plain, texts))
        words = self._words(list(compress(texts, are_plain)))
        return [
            (next(words), "") if is_plain else index_columns(text)
            for text, is_plain in zip(texts, are_plain, strict=True)
        ]

    def _words(self, texts: list[str]) -> Iterator[str]:
        """The words of texts that are plain."""
        if len(self._table.known) > MAX_PIECES:
            self._table = PieceTable()
        typed = " ".join(("", *texts, " " * MAX_BYTES)).encode().translate(CUT)
        starts, ends = _pieces_in(typed)
        places = self._places(typed, starts, ends)
        kinds = self._table.kinds[places]
        folded = self._folded(typed, starts, ends, places, np.flatnonzero(kinds == OTHER))
        apart = np.flatnonzero(kinds == APART)
        spans = list(zip(starts[apart].tolist(), ends[apart].tolist(), strict=True))
        begin, first = 1, 0
        for text in texts:
            end = begin + len(text)
            past = bisect_left(spans, (end,), first)
            if first == past:
                yield folded[begin:end].strip()
            else:
                own = [(start - begin, stop - begin) for start, stop in spans[first:past]]
                yield self._with_apart(text, folded[begin:end], own)
            begin, first = end + 1, past

    def _places(self, typed: bytes, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where the table has each piece; those it meets for the first time are learnt."""
        sizes = ends - starts
        sizes[sizes > MAX_BYTES] = 0
        eights: NDArray[np.uint64] = np.ndarray(len(typed) - _WORD + 1, "<u8", typed, strides=(1,))
        low = eights[starts] & _MASKS[np.minimum(sizes, _WORD)]
        high = np.zeros_like(low)
        longer = np.flatnonzero(sizes > _WORD)
        high[longer] = eights[starts[longer] + _WORD] & _MASKS[sizes[longer] - _WORD]
        places = self._table.places(low, high)
        new = np.flatnonzero(self._table.is_free(places))
        if new.size:
            spans = zip(starts[new].tolist(), ends[new].tolist(), strict=True)
            self._table.learn({typed[start:end].decode() for start, end in spans})
            places[new] = self._table.places(low[new], high[new])
        return places

    def _folded(
        self,
        typed: bytes,
        starts: NDArray[np.intp],
        ends: NDArray[np.intp],
        places: NDArray[np.intp],
        other: NDArray[np.intp],
    ) -> str:
        """The buffer in lower case, some pieces written over by their tokens."""
        written = np.frombuffer(bytearray(typed.lower()), np.uint8)
        starts, ends, places = starts[other], ends[other], places[other]
        for place in range(MAX_BYTES):
            own = np.flatnonzero(starts + place < ends)
            written[starts[own] + place] = self._table.tokens[places[own], place]
        return written.tobytes().decode()

    def _with_apart(self, text: str, folded: str, spans: list[tuple[int, int]]) -> str:
        """The words of a text, of which some pieces are looked at alone."""
        known = self._table.known
        words: list[str] = []
        odd: dict[str, Special] = {}
        place = 0
        for start, end in spans:
            piece = text[start:end]
            words += (folded[place:start], known[piece])
            place = end
            if piece in known.odd:
                odd |= known.odd[piece]
        if any(special.suspect for special in odd.values()) and without_blobs(text) != text:
            return index_columns(text)[0]
        joined = "".join((*words, folded[place:])).replace(ODD, "")
        return " ".join((joined, *parts_of(odd))).strip()


def _is_plain(text: str) -> bool:
    return text.isascii() and len(text) <= MAX_CHARS and not has_data_url(text) and DOT_NET not in text.lower()


def _pieces_in(typed: bytes) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each piece of a buffer that begins and ends with blanks starts and ends."""
    is_kept = np.frombuffer(typed, np.uint8) != _BLANK
    edges = np.flatnonzero(is_kept[1:] != is_kept[:-1]) + 1
    return edges[0::2], edges[1::2]
