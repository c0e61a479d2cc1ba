"""Where content is cut into chunks: by what it holds, so that an insertion leaves all chunks after it as they are.

A cut may come after eight bytes that, multiplied by a constant, begin with enough zeros. All positions of a buffer are
tried at once, eight interleaved views of it as numbers. A database is cut only between pages: pages move as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

MIN_BYTES, MAX_BYTES = 64 * 1024, 1024 * 1024
# [log2 bytes] mean distance of two possible cuts. With the least size on top, chunks have 320 KiB on average: large
# enough to compress well and to be few, small enough that a difference to an older chunk is found quickly.
_MEAN_LOG = 18
# [bytes] looked at together; at least MAX_BYTES, so that the first cut in it never depends on how much was read.
_BUFFER_BYTES = 4 * 1024 * 1024
_WORD = 8
_LITTLE = np.dtype("<u8")
# Odd constants with well mixed bits. Without the addend, zeros would be a cut everywhere.
_FACTOR, _OTHER_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_ADDEND = np.uint64(0x165667B19E3779F9)
_DATABASE = b"SQLite format 3\0"
_PAGE_SIZES = frozenset(1 << power for power in range(9, 17))


def chunks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """Cut content into chunks.

    Args:
        read: gives at most so many bytes of it, and none at its end.

    Returns:
        All of it, in pieces of `MIN_BYTES` to `MAX_BYTES`; the last may be smaller. None for no content.
    """
    rest = _filled(read, b"")
    candidates = _candidates_of(rest)
    while rest:
        is_last = len(rest) < _BUFFER_BYTES
        start = 0
        for end in _cuts(candidates(rest), len(rest), is_last=is_last):
            yield rest[start:end]
            start = end
        rest = b"" if is_last else _filled(read, rest[start:])


def page_size_of(head: bytes) -> int:
    """Bytes of a page of the database that begins so; 0: it is none."""
    if not head.startswith(_DATABASE) or len(head) < len(_DATABASE) + 2:
        return 0
    size = int.from_bytes(head[16:18], "big")
    size = 65536 if size == 1 else size
    return size if size in _PAGE_SIZES else 0


def _filled(read: Callable[[int], bytes], rest: bytes) -> bytes:
    """What is left, with as much more behind it as fits."""
    pieces, size = [rest], len(rest)
    while size < _BUFFER_BYTES and (piece := read(_BUFFER_BYTES - size)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _candidates_of(head: bytes) -> Callable[[bytes], NDArray[np.int64]]:
    """What finds the possible cuts in content that begins so: positions in rising order."""
    page = page_size_of(head)
    if page:
        return lambda data: _between_pages(data, page)
    return _anywhere


def _between_pages(data: bytes, page: int) -> NDArray[np.int64]:
    """Cuts between pages. Bytes before the last eight of a page are part of a record; the last may be a page number."""
    whole = len(data) // page
    words = np.frombuffer(data, _LITTLE, whole * page // _WORD).reshape(whole, page // _WORD)
    mixed = (words[:, -2] + words[:, -3] * _OTHER_FACTOR + _ADDEND) * _FACTOR
    bits = _MEAN_LOG - (page.bit_length() - 1)
    return (np.flatnonzero(mixed < np.uint64(1 << (64 - bits))) + 1) * page


def _anywhere(data: bytes) -> NDArray[np.int64]:
    bound = np.uint64(1 << (64 - _MEAN_LOG))
    found = []
    for shift in range(_WORD):
        number = (len(data) - shift) // _WORD
        if number > 0:
            words = np.frombuffer(data, _LITTLE, number, offset=shift)
            hits = np.flatnonzero((words + _ADDEND) * _FACTOR < bound)
            found.append((hits + 1) * _WORD + shift)
    return np.sort(np.concatenate(found)) if found else np.empty(0, np.int64)


def _cuts(candidates: NDArray[np.int64], size: int, *, is_last: bool) -> Iterator[int]:
    """Ends of chunks in a buffer. What comes after the last of them needs more content, unless none follows."""
    start = 0
    while size - start > (0 if is_last else MAX_BYTES):
        position = int(np.searchsorted(candidates, start + MIN_BYTES))
        limit = min(start + MAX_BYTES, size)
        end = int(candidates[position]) if position < len(candidates) else limit
        start = min(end, limit)
        yield start
