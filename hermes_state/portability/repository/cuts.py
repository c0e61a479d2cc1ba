"""Where content may be cut: after eight bytes that, multiplied by a constant, begin with enough zeros.

All positions of a buffer are tried at once, in eight interleaved views of it as numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# [log2 bytes] mean distance of two possible cuts.
MEAN_LOG = 18
_WORD = 8
_LITTLE = np.dtype("<u8")
# An odd constant with well mixed bits. Without the addend, zeros would be a cut everywhere.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_ADDEND = np.uint64(0x165667B19E3779F9)


def anywhere(data: bytes) -> NDArray[np.int64]:
    """Possible cuts, in rising order."""
    bound = np.uint64(1 << (64 - MEAN_LOG))
    found = []
    for shift in range(_WORD):
        number = (len(data) - shift) // _WORD
        if number > 0:
            words = np.frombuffer(data, _LITTLE, number, offset=shift)
            hits = np.flatnonzero((words + _ADDEND) * _FACTOR < bound)
            found.append((hits + 1) * _WORD + shift)
    return np.sort(np.concatenate(found)) if found else np.empty(0, np.int64)


def first_from(candidates: NDArray[np.int64], start: int) -> int | None:
    """The first possible cut at a position or after it."""
    position = int(np.searchsorted(candidates, start))
    return int(candidates[position]) if position < len(candidates) else None
