"""What the target of a backup has already, so that a home need not be read again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hermes_state.portability.collect import Found


class Kept(Protocol):
    """What the target of a backup has already.

    Attributes:
        facts: of the manifest that was written with it.
    """

    facts: Mapping[str, Any]

    def is_plain(self, name: str, seen: tuple[int, ...]) -> bool:
        """Whether it has a file that looked so (`Found.seen`) and was no database."""

    def keeps(self, name: str, base: Path, found: Found) -> bool:
        """Whether it has the content of a member, and the file is as it was then. Asked before the file is read."""

    def refreshable(self) -> list[str]:
        """The databases of the home of which only what changed since need be copied."""

    def has_changed(self, name: str, path: Path) -> bool:
        """Whether one of these looks another than it did. Asked before it is read, in the place of `keeps`.

        Raises:
            OSError: it can't be looked at.
        """

    def is_whole(self, name: str) -> bool:
        """Whether it has all of a sound database, which need not be read again."""

    def numbering(self, name: str) -> bytes:
        """What a copy of a database left for the next one; see `databases.copy`."""
