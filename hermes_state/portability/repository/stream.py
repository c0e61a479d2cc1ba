"""A snapshot as the tar that an archive of it would hold, so that the reader of archives reads and proves it."""

from __future__ import annotations

import hashlib
import tempfile
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability import headers, names
from hermes_state.portability.digests import Tally
from hermes_state.portability.format import DIGESTS, END_OF_TAR, OWN_MODE, Entry, Kind
from hermes_state.portability.repository import locks, snapshots
from hermes_state.portability.repository.index import Index

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from hermes_state.portability.repository.layout import Repository
    from hermes_state.portability.repository.members import Member
    from hermes_state.portability.repository.snapshots import Snapshot

# [bytes] of the digests that are kept in memory before they go to a temporary file.
_SPOOL = 8 * 1024 * 1024
_PIECE = 1024 * 1024


class SnapshotStream:
    """An open snapshot.

    Attributes:
        snapshot: what its file says.
        size: bytes of all that is stored in the repository, which bounds what may come out of it.
    """

    def __init__(self, snapshot: Snapshot, index: Index) -> None:
        self.snapshot = snapshot
        self.size = index.stored_bytes()
        self._index = index
        self._given = 0

    def position(self) -> int:
        """How far it is, as a part of `size`."""
        return min(self.size, self.size * self._given // max(self.snapshot.content_bytes, 1))

    def blocks(self) -> Iterator[bytes]:
        """The tar, in pieces.

        Raises:
            ArchiveDamaged: something of it is missing, or not what was stored.
        """
        with tempfile.SpooledTemporaryFile(_SPOOL) as digests:
            tally, listed = Tally(digests.write), Tally()
            mtime_ns = 0
            for member in snapshots.members(self.snapshot, self._index):
                mtime_ns = member.entry.mtime_ns
                digest = yield from self._member(member)
                tally.add(member.entry, digest)
                listed.add(member.entry, member.digest)
            if listed.whole != self.snapshot.whole:
                raise ArchiveDamaged(f"the listing of {self.snapshot.id} is not the one it names", code="listing")
            last = tally.last_line()
            entry = Entry(name=DIGESTS, mode=OWN_MODE, mtime_ns=mtime_ns, size=tally.text_bytes + len(last))
            yield headers.encode(entry)
            digests.seek(0)
            while piece := digests.read(_PIECE):
                yield piece
            yield last + bytes(headers.padding(entry.length)) + END_OF_TAR

    def _member(self, member: Member) -> Generator[bytes, None, str]:
        """A member as a tar has it; returns the digest of its content."""
        entry = member.entry
        wrong = _unencodable(entry)
        if wrong is not None:
            raise ArchiveDamaged(f"a member of the snapshot {wrong}", code="name", member=entry.name)
        yield headers.encode(entry)
        if entry.kind is not Kind.FILE:
            return member.digest
        left = entry.length
        whole = None if member.is_hashed_whole else hashlib.sha256()
        for chunk in member.chunks:
            content = self._index.read(chunk)
            left -= len(content)
            if left < 0:
                break
            self._given += len(content)
            if whole is not None:
                whole.update(content)
            yield content
        if left:
            raise ArchiveDamaged("its chunks do not add up to its size", code="listing", member=entry.name)
        yield bytes(headers.padding(entry.length))
        return member.digest if whole is None else whole.hexdigest()


def _unencodable(entry: Entry) -> str | None:
    """Why no tar header can be made of it; all else the reader judges."""
    return (
        names.fault(entry.name)
        or (names.target_fault(entry.target) if entry.target or entry.kind is Kind.LINK else None)
        or headers.check_numbers(entry)
    )


@contextmanager
def open_snapshot(repository: Repository, path: Path) -> Iterator[SnapshotStream]:
    """Open a snapshot; nobody prunes the repository meanwhile.

    Args:
        path: its file.

    Raises:
        ArchiveDamaged, ArchiveUnsupported: the file can't be used.
        StoreBusy: the repository is being pruned.
    """
    with ExitStack() as stack:
        stack.enter_context(locks.shared(repository))
        snapshot = snapshots.read(path)
        yield SnapshotStream(snapshot, stack.enter_context(Index.of(repository.packs)))
