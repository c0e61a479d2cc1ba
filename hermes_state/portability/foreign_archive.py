"""Archives of the peer that can be read: one way to open both kinds."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Protocol

from hermes_state.portability import foreign

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_state.portability.format import Entry, Limits


class ForeignArchive(Protocol):
    """What both kinds have.

    Attributes:
        kind: `hermes-zip` or `hermes-profile`.
        size: bytes of the file.
        notices: what whoever restores it must know.
    """

    kind: str
    size: int
    notices: list[str]

    def members(self) -> Iterator[tuple[Entry, BinaryIO | None]]:
        """As `reader.Archive.members`, with names below our roots; nothing is proven by it."""


@contextmanager
def open_foreign(path: Path, limits: Limits | None = None) -> Iterator[ForeignArchive]:
    """Open an archive that the peer made.

    Raises:
        ArchiveForeign: it is of no kind that can be read.
        ArchiveDamaged: it can't be read.
    """
    head = b""
    if path.is_file():
        with path.open("rb") as file:
            head = file.read(foreign.HEAD_BYTES)
    if foreign.is_zip(head):
        from hermes_state.portability.foreign_zip import open_zip

        with open_zip(path, limits) as zipped:
            yield zipped
    elif foreign.is_gzip(head):
        from hermes_state.portability.foreign_tar import open_tar

        with open_tar(path, limits) as tar:
            yield tar
    else:
        raise foreign.error(str(path), head)
