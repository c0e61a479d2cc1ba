"""The snapshot before: what of it a home still has unchanged, so that it need not be read again."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Self

from hermes_state.errors import ArchiveDamaged, HermesStateError
from hermes_state.portability import manifest
from hermes_state.portability.format import HOME_ROOT, MANIFEST
from hermes_state.portability.policy import Policy
from hermes_state.portability.repository import snapshots
from hermes_state.portability.repository.members import chunks_in, name_in, parsed, seen_end

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from hermes_state.portability.backup import Wanted
    from hermes_state.portability.collect import Found
    from hermes_state.portability.repository.index import Index
    from hermes_state.portability.repository.members import Member
    from hermes_state.portability.repository.snapshots import Snapshot

# A file that was changed so shortly before it was looked at may be changed again without another time. [ns]
_SETTLED_NS = 2 * 10**9
_NO_LOG = (0, 0, 0)


class Parent:
    """What is known of a home from an earlier snapshot; it may be none.

    Args:
        wanted: what the backup that is being made takes.
        index: of the repository.
        lines: of its listing, by the name of the file.
        facts: of its manifest.
        listing: the chunks of its listing.
    """

    def __init__(
        self,
        wanted: Wanted,
        index: Index,
        lines: Mapping[str, bytes],
        facts: Mapping[str, Any],
        listing: tuple[bytes, ...] = (),
    ) -> None:
        self._wanted, self._index, self._lines = wanted, index, lines
        self._known: Mapping[str, bytes] = {} if wanted.reread else lines
        self._last: tuple[str, Member] | None = None
        self._settled_ns = time.time_ns() - _SETTLED_NS
        self.facts = facts
        self.listing = listing
        # Of files that are to be read: what they look like, as text, since there may be very many of them.
        self._seen: dict[str, bytes] = {}

    @classmethod
    def of(cls, snapshot: Snapshot | None, index: Index, wanted: Wanted) -> Self:
        """Read what is known.

        Raises:
            ArchiveDamaged: the snapshot's listing or manifest can't be read.
        """
        if snapshot is None:
            return cls(wanted, index, {}, {})
        lines = {name: line for line in snapshots.listing_lines(snapshot, index) if (name := name_in(line))}
        facts = _facts(parsed(lines[MANIFEST]), index) if MANIFEST in lines else {}
        return cls(wanted, index, lines, facts, snapshot.listing.chunks)

    # --- as `kept.Kept` -----------------------------------------------------------------------------------------

    def is_plain(self, name: str, seen: tuple[int, ...]) -> bool:
        """Whether the snapshot has a file that looked so and was no database: what a database looks like is longer."""
        return self._known.get(name, b"").endswith(seen_end(seen))

    def keeps(self, name: str, base: Path, found: Found) -> bool:
        """Whether the repository has a file's content, and it looks as it did then."""
        if found.is_database:
            return self._keeps_database(name, base / found.path, found)
        if self._has(name, found.seen, found, is_known=found.is_known):
            return True
        self._note(name, found.seen, max(found.seen[1], found.seen[2]))
        return False

    def _keeps_database(self, name: str, path: Path, found: Found) -> bool:
        if self._wanted.secrets is not Policy.INCLUDE:
            return False  # what is stored is then not what the file holds
        try:
            seen = self._look(path)
        except OSError:  # whoever reads it will say so
            return False
        if self._has(name, seen, found) and self._is_sound(name):
            return True
        self._note(name, seen, max(seen[1], seen[2], seen[5]))
        return False

    def has_changed(self, name: str, path: Path) -> bool:
        """Whether a database looks another than it did."""
        seen = self._look(path)
        if self._lines[name].endswith(seen_end(seen)):
            return False
        self._note(name, seen, max(seen[1], seen[2], seen[5]))
        return True

    def _has(self, name: str, seen: tuple[int, ...], found: Found, *, is_known: bool = False) -> bool:
        line = self._known.get(name)
        if line is None or not (is_known or line.endswith(seen_end(seen))):
            return False
        return not found.size or self._index.has_all(chunks_in(line))

    def _note(self, name: str, seen: tuple[int, ...], changed_ns: int) -> None:
        """What a file looks like that is to be read, where that will prove something."""
        if changed_ns < self._settled_ns:
            self._seen[name] = " ".join(map(str, seen)).encode()
        else:  # it may have been asked for before
            self._seen.pop(name, None)

    # --- for whoever stores -------------------------------------------------------------------------------------

    def member(self, name: str) -> Member:
        """The file as it is in the snapshot."""
        if self._last is None or self._last[0] != name:
            self._last = name, parsed(self._lines[name])
        return self._last[1]

    def line(self, name: str) -> bytes:
        """The same, as the listing has it."""
        return self._lines[name]

    def chunks(self, name: str) -> tuple[bytes, ...]:
        """The chunks of a file's content in the snapshot; none: it had no such file."""
        return self.member(name).chunks if name in self._lines else ()

    def refreshable(self) -> list[str]:
        """The databases of the home that were copied such that only what changed since need be."""
        databases = self.facts.get("databases")
        names = [*databases] if isinstance(databases, dict) else []
        in_home = (name for name in names if name.startswith(f"{HOME_ROOT}/") and self.is_whole(name))
        return [name for name in in_home if self.member(name).numbering]

    def is_whole(self, name: str) -> bool:
        """Whether the repository has all of a sound database, and nobody asked for it to be read again."""
        return (
            not self._wanted.reread
            and name in self._lines
            and self._is_sound(name)
            and self._index.has_all(self.member(name).chunks)
        )

    def numbering(self, name: str) -> bytes:
        """Where the pages of a database's copy lay; b"": that is not known."""
        chunks = self.member(name).numbering if name in self._lines else ()
        try:
            return b"".join(map(self._index.read, chunks))
        except ArchiveDamaged:  # another numbering will do
            return b""

    def numbering_chunks(self, name: str) -> tuple[bytes, ...]:
        """The chunks of that."""
        return self.member(name).numbering if name in self._lines else ()

    def seen(self, name: str) -> tuple[int, ...]:
        """What a file that is not kept looked like when it was asked for; empty where that proves nothing."""
        return tuple(map(int, self._seen.get(name, b"").split()))

    def _look(self, path: Path) -> tuple[int, ...]:
        """What a database looks like."""
        seen = _status(path)
        try:
            size, modified, _, inode = _status(path.with_name(f"{path.name}-wal"))
        except FileNotFoundError:
            size, modified, inode = _NO_LOG
        # SQLite makes and deletes an empty log as it pleases, and touches the owner of any that it opens as root.
        return (*seen, *((size, modified, inode) if size else _NO_LOG), int(self._wanted.keep_indexes))

    def _is_sound(self, name: str) -> bool:
        databases = self.facts.get("databases")
        about = databases.get(name) if isinstance(databases, dict) else None
        return isinstance(about, dict) and not about.get("damage")


def choose(found: Iterable[Snapshot], host: str, home: str) -> Snapshot | None:
    """The snapshot that most likely has the same content: the newest of this home, else of this path, else of any."""
    return max(found, key=lambda one: (one.source == (host, home), one.home == home, one.created_at), default=None)


def read(snapshot: Snapshot | None, index: Index, wanted: Wanted) -> tuple[Parent, list[HermesStateError]]:
    """As `Parent.of`; where the snapshot can't be read, nothing is known, and the error is told."""
    try:
        return Parent.of(snapshot, index, wanted), []
    except ArchiveDamaged as error:
        return Parent.of(None, index, wanted), [error]


def _status(path: Path) -> tuple[int, int, int, int]:
    status = os.stat(path, follow_symlinks=False)  # noqa: PTH116  quicker, and there are thousands
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _facts(member: Member, index: Index) -> Mapping[str, Any]:
    return manifest.parse(b"".join(index.read(chunk) for chunk in member.chunks), MANIFEST).facts
