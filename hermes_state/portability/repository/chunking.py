"""Cutting content into chunks by what it holds, so that an insertion leaves all chunks after it as they are.

A database is cut at fixed places: its pages stay where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# With a possible cut every 256 KiB (`cuts.MEAN_LOG`), chunks have 320 KiB on average: large enough to compress well and
# to be few, small enough that a difference to an older chunk is found quickly.
MIN_BYTES, MAX_BYTES = 64 * 1024, 1024 * 1024
# [bytes] of a chunk of a database: a multiple of all sizes of pages. Its pages don't move, so no cut needs to.
DATABASE_BYTES = 256 * 1024
# [bytes] looked at together; at least MAX_BYTES, so that the first cut in it never depends on how much was read.
_BUFFER_BYTES = 4 * 1024 * 1024
_DATABASE = b"SQLite format 3\0"


class Cut(NamedTuple):
    """Content in chunks.

    Attributes:
        chunks: all of it in order; none for no content.
        is_placed: what did not change lies where it did before.
    """

    chunks: Iterator[bytes]
    is_placed: bool


def cut(read: Callable[[int], bytes]) -> Cut:
    """Cut content into chunks.

    Args:
        read: gives at most so many bytes of it, and none at its end.

    Returns:
        Chunks of `MIN_BYTES` to `MAX_BYTES`, of a database all of `DATABASE_BYTES`; the last may be smaller.
    """
    first = _filled(read, b"", DATABASE_BYTES)
    if first.startswith(_DATABASE):
        return placed(read, first)
    return Cut(_by_content(read, first), is_placed=False)


def placed(read: Callable[[int], bytes], first: bytes = b"") -> Cut:
    """Cut content in which what does not change stays where it is.

    Args:
        first: what was read of it already.
    """
    return Cut(_placed(read, first or _filled(read, b"", DATABASE_BYTES)), is_placed=True)


def _placed(read: Callable[[int], bytes], piece: bytes) -> Iterator[bytes]:
    while piece:
        yield piece
        piece = _filled(read, b"", DATABASE_BYTES)


def _by_content(read: Callable[[int], bytes], first: bytes) -> Iterator[bytes]:
    rest = _filled(read, first, _BUFFER_BYTES)
    while rest:
        is_last = len(rest) < _BUFFER_BYTES
        start = 0
        for end in _ends(rest, is_last=is_last):
            yield rest[start:end]
            start = end
        rest = b"" if is_last else _filled(read, rest[start:], _BUFFER_BYTES)


def _filled(read: Callable[[int], bytes], rest: bytes, wanted: int) -> bytes:
    """What is left, with as much more behind it as fits."""
    if not rest and len(rest := read(wanted)) == wanted:
        return rest
    pieces, size = [rest], len(rest)
    while size < wanted and (piece := read(wanted - size)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _ends(data: bytes, *, is_last: bool) -> Iterator[int]:
    """Ends of chunks in a buffer. What comes after the last of them needs more content, unless none follows."""
    if is_last and len(data) <= MIN_BYTES:
        yield len(data)
        return
    from hermes_state.portability.repository import cuts  # numpy takes 80 ms, which small changes need not pay

    candidates = cuts.anywhere(data)
    start = 0
    while len(data) - start > (0 if is_last else MAX_BYTES):
        limit = min(start + MAX_BYTES, len(data))
        start = min(cuts.first_from(candidates, start + MIN_BYTES) or limit, limit)
        yield start
