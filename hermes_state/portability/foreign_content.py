"""The content of a member of a foreign archive."""

from __future__ import annotations

import io
from typing import IO, TYPE_CHECKING, Any

from hermes_state.errors import ArchiveDamaged

if TYPE_CHECKING:
    from hermes_state.portability.format import Entry

# [bytes] read at a time.
_PIECE = 1024 * 1024


class ForeignContent(io.RawIOBase):
    """Exactly as many bytes as the archive says; what the library below raises becomes our error.

    Args:
        content: as the library gives it.
        errors: what it raises for damaged data.
    """

    def __init__(self, content: IO[bytes], entry: Entry, errors: tuple[type[Exception], ...]) -> None:
        super().__init__()
        self._content = content
        self._name = entry.name
        self._left = entry.length
        self._errors = errors

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            found = self._content.read(len(buffer))
        except self._errors as error:
            raise ArchiveDamaged(f"{self._name} is damaged: {error}", code="content", member=self._name) from error
        self._left -= len(found)
        if self._left < 0 or (not found and len(buffer) and self._left):
            raise ArchiveDamaged(f"{self._name} is not as long as it says", code="size", member=self._name)
        buffer[: len(found)] = found
        return len(found)

    def skip(self) -> None:
        """Read to the end."""
        while self.read(_PIECE):
            pass
