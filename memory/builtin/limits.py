"""How much a memory file may hold, and how full it is. All sizes are in characters (code points)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.errors import InvalidValue
from memory.builtin.entries import size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memory.builtin.entries import Entry

# The peer's limits.
MEMORY_CHARS, USER_CHARS = 2200, 1375
# From so many percent on a write warns.
WARN_PERCENT = 90


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Characters that each file may hold, delimiters included."""

    memory: int = MEMORY_CHARS
    user: int = USER_CHARS

    def __post_init__(self) -> None:
        if min(self.memory, self.user) < 1:
            raise InvalidValue("a memory limit is at least 1 character")

    def of(self, target: str) -> int:
        """The limit of one target."""
        return self.user if target == "user" else self.memory


class Usage(NamedTuple):
    """How full a file is."""

    used: int
    limit: int

    @classmethod
    def of(cls, entries: Iterable[Entry], limit: int) -> Usage:
        """The usage of a file with these entries."""
        return cls(size(entries), limit)

    @property
    def percent(self) -> int:
        """Whole percent, at most 100."""
        return min(100, int(self.used / self.limit * 100))

    @property
    def is_nearly_full(self) -> bool:
        """Whether a write should warn."""
        return self.used * 100 >= WARN_PERCENT * self.limit

    def __str__(self) -> str:
        return f"{self.percent}% — {self.used:,}/{self.limit:,} chars"
