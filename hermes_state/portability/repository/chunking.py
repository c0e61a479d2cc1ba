"""Cutting content into chunks by what it holds, so that an insertion leaves all chunks after it as they are.

A database is cut only between its pages: they move as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# With a possible cut every 256 KiB (`cuts.MEAN_LOG`), chunks have 320 KiB on average: large enough to compress well and
# to be few, small enough that a difference to an older chunk is found quickly.
MIN_BYTES, MAX_BYTES = 64 * 1024, 1024 * 1024
# [bytes] looked at together; at least MAX_BYTES, so that the first cut in it never depends on how much was read.
_BUFFER_BYTES = 4 * 1024 * 1024
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
    page = page_size_of(rest)
    while rest:
        is_last = len(rest) < _BUFFER_BYTES
        start = 0
        for end in _ends(rest, page, is_last=is_last):
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


def _ends(data: bytes, page: int, *, is_last: bool) -> Iterator[int]:
    """Ends of chunks in a buffer. What comes after the last of them needs more content, unless none follows."""
    if is_last and len(data) <= MIN_BYTES:
        yield len(data)
        return
    from hermes_state.portability.repository import cuts  # numpy takes 80 ms, which small changes need not pay

    candidates = cuts.between_pages(data, page) if page else cuts.anywhere(data)
    start = 0
    while len(data) - start > (0 if is_last else MAX_BYTES):
        limit = min(start + MAX_BYTES, len(data))
        start = min(cuts.first_from(candidates, start + MIN_BYTES) or limit, limit)
        yield start
