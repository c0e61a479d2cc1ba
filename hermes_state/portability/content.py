"""The content of the member that is being read."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_state.portability.digests import Lane
    from hermes_state.portability.frames import Pieces


class Content(io.RawIOBase):
    """Exactly so many bytes of the archive, hashed as they pass; never more, and never fewer without an error.

    Args:
        pieces: where they come from.
        size: how many.
        lane: hashes them; None: nobody asks.
    """

    def __init__(self, pieces: Pieces, size: int, lane: Lane | None = None) -> None:
        super().__init__()
        self._pieces = pieces
        self._left = size
        self._lane = lane

    def chunks(self) -> Iterator[memoryview]:
        """All that is left, without copying. The chunks stay valid."""
        while self._left:
            yield self._some(self._left)

    def skip(self) -> None:
        """Read to the end."""
        for _ in self.chunks():
            pass

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._left or not len(buffer):
            return 0
        found = self._some(min(self._left, len(buffer)))
        buffer[: len(found)] = found
        return len(found)

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, fewer as they come; none only at the end. Quicker than going through `readinto`."""
        if size < 0:
            return self.readall()
        most = min(self._left, size)
        return bytes(self._some(most)) if most else b""

    def readall(self) -> bytes:
        return b"".join(self.chunks())

    def _some(self, most: int) -> memoryview:
        found = self._pieces.some(most)
        self._left -= len(found)
        if self._lane is not None:
            self._lane.update(found)
        return found
