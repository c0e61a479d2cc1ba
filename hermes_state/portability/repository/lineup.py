"""Which chunks of a file's last version lie where a new chunk lies: candidates for storing it as a difference."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# [bytes] of unknown chunks that are gathered before they are compared: the next known one shows how far they moved.
_LOOK_AHEAD_BYTES = 16 * 1024 * 1024
# An old chunk that covers less than this part of a new one is not worth reading.
_LEAST_PART = 1 / 32


class Piece(NamedTuple):
    """A chunk of the new version.

    Attributes:
        id: its name.
        size: bytes of its content.
        content: None when the repository has it, so that nothing is to be compared.
    """

    id: bytes
    size: int
    content: bytes | None


class Paired(NamedTuple):
    """A chunk that is to be stored, and the old chunks that it may be like."""

    id: bytes
    content: bytes
    old: tuple[bytes, ...]


class Places:
    """Lays a new version over an old one whose chunks lie at the same places.

    Args:
        old: the old version's chunks, in order.
    """

    def __init__(self, old: Sequence[bytes]) -> None:
        self._old = iter(old)

    def take(self, piece: Piece) -> Iterator[Paired]:
        """The next chunk."""
        old = next(self._old, None)
        if piece.content is not None:
            yield Paired(piece.id, piece.content, () if old is None else (old,))

    def end(self) -> Iterator[Paired]:
        """There are no more chunks."""
        return iter(())


class Lineup:
    """Lays a new version along an old one.

    Chunks that both have are anchors; between two of them, what lies at the same distance from the nearer one is taken
    for the same place.

    Args:
        old: names and sizes of the old version's chunks, in order.
    """

    def __init__(self, old: Sequence[tuple[bytes, int]]) -> None:
        self._ids = [chunk for chunk, _ in old]
        self._starts: list[int] = []
        self._end = 0
        for _, size in old:
            self._starts.append(self._end)
            self._end += size
        self._at = dict(zip(reversed(self._ids), reversed(self._starts), strict=True))
        self._left = 0
        self._run: list[Piece] = []
        self._run_bytes = 0

    def take(self, piece: Piece) -> Iterator[Paired]:
        """The next chunk; gives those that can be told now."""
        start = self._at.get(piece.id)
        if start is not None and start >= self._left:
            yield from self._resolve(start)
            self._left = start + piece.size
            return
        self._run.append(piece)
        self._run_bytes += piece.size
        if not self._ids or self._run_bytes > _LOOK_AHEAD_BYTES:
            yield from self._resolve(None)

    def end(self) -> Iterator[Paired]:
        """There are no more chunks."""
        yield from self._resolve(self._end)

    def _resolve(self, right: int | None) -> Iterator[Paired]:
        """Pair the gathered chunks.

        Args:
            right: where the old version has what comes next; None: that is not known.
        """
        run, length = self._run, self._run_bytes
        self._run, self._run_bytes = [], 0
        old_length = length if right is None else right - self._left
        limit = self._end if right is None else right
        start = 0
        for piece in run:
            if piece.content is not None:
                is_near_left = start + piece.size / 2 <= length / 2
                old_start = start if is_near_left else start + old_length - length
                yield Paired(piece.id, piece.content, self._covering(self._left + old_start, piece.size, limit))
            start += piece.size
        if right is None:
            self._left = min(self._left + length, self._end)

    def _covering(self, start: int, size: int, limit: int) -> tuple[bytes, ...]:
        """The old chunks that lie in a range, as far as it lies between what is known on both sides."""
        found = []
        position = max(bisect_right(self._starts, start) - 1, 0)
        while position < len(self._ids) and self._starts[position] < min(start + size, limit):
            after = self._starts[position + 1] if position + 1 < len(self._ids) else self._end
            shared = min(after, start + size) - max(self._starts[position], start)
            if shared >= size * _LEAST_PART:
                found.append(self._ids[position])
            position += 1
        return tuple(found)
