"""Names out of archives of other makes: the same checks, and our roots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability import names
from hermes_state.portability.format import EXTERNAL_ROOT, HOME_ROOT, Entry, Kind
from hermes_state.portability.places import Places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_state.portability.format import Limits

# Where the peer puts files that lay outside its home.
_EXTERNAL = "_external"
# [mode bits] of folders that an archive does not tell about: a home is private.
_FOLDER_MODE = 0o700


class ForeignNames:
    """Turns foreign names into entries below our roots, and refuses what must not be there.

    Args:
        prefix: a top folder that is taken off every name; empty: none.
        limits: how much to put up with.
        file_bytes: of the archive.
    """

    def __init__(self, prefix: str, limits: Limits, file_bytes: int) -> None:
        self._prefix = f"{prefix}/" if prefix else ""
        self._limits = limits
        self._left = limits.content_bytes(file_bytes)
        self._places = Places({HOME_ROOT, EXTERNAL_ROOT})
        self._folders: set[str] = set()

    def entries(self, name: str, *, is_folder: bool, mode: int, mtime_ns: int, size: int) -> Iterator[Entry]:
        """The entry for a foreign member, after those of folders above it that were not told of.

        Raises:
            ArchiveDamaged: its name is refused, or it is too much.
        """
        self._count(name, size)
        ours = self._ours(name.rstrip("/") if is_folder else name)
        if ours is None or (is_folder and ours in self._folders):
            return
        self._check(names.fault(ours), name)
        yield from self._missing_folders(names.parent(ours))
        kind = Kind.DIR if is_folder else Kind.FILE
        entry = Entry(name=ours, kind=kind, mode=mode & 0o777, mtime_ns=mtime_ns, size=size)
        self._check(self._places.fault(entry), name)
        yield self._placed(entry)

    def _ours(self, name: str) -> str | None:
        """The name under our roots; None: it is the top folder itself."""
        if name + "/" == self._prefix:
            return None
        if not name.startswith(self._prefix):
            raise ArchiveDamaged(f"a name is refused: it does not lie in {self._prefix}", code="name", member=name)
        inside = name.removeprefix(self._prefix)
        if inside == _EXTERNAL or inside.startswith(f"{_EXTERNAL}/"):
            return EXTERNAL_ROOT + inside.removeprefix(_EXTERNAL)
        return f"{HOME_ROOT}/{inside}"

    def _missing_folders(self, folder: str) -> Iterator[Entry]:
        parts = folder.split("/") if folder else []
        for end in range(1, len(parts) + 1):
            above = "/".join(parts[:end])
            if above not in self._folders:
                entry = Entry(name=above, kind=Kind.DIR, mode=_FOLDER_MODE)
                self._check(self._places.fault(entry), above)
                yield self._placed(entry)

    def _placed(self, entry: Entry) -> Entry:
        self._places.add(entry)
        if entry.kind is Kind.DIR:
            self._folders.add(entry.name)
        return entry

    def _count(self, name: str, size: int) -> None:
        self._left -= size
        if len(self._places) >= self._limits.entries or self._left < 0:
            raise ArchiveDamaged(
                "it would become larger than it may",
                code="bomb",
                member=name,
                hint="if you know that it is right: --trust-size",
            )

    @staticmethod
    def _check(wrong: str | None, name: str) -> None:
        if wrong is not None:
            raise ArchiveDamaged(f"a name is refused: it {wrong}", code="name", member=name)
