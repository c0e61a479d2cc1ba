"""A backup of a home into a repository."""

from __future__ import annotations

import io
import platform
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC
from typing import TYPE_CHECKING, BinaryIO

from hermes_state.errors import InvalidValue
from hermes_state.portability import staging
from hermes_state.portability.backup import BackupReport, HomeReading, Wanted, refuse_unfit
from hermes_state.portability.description import user_name
from hermes_state.portability.digests import Tally, digest_of
from hermes_state.portability.format import LEVEL, MANIFEST, OWN_MODE, REPORT, Entry, Kind, Limits
from hermes_state.portability.manifest import dump
from hermes_state.portability.places import Places
from hermes_state.portability.repository import locks, parent, snapshots
from hermes_state.portability.repository.chunking import Cut, placed
from hermes_state.portability.repository.index import Index
from hermes_state.portability.repository.layout import STAGES, Repository, full_disk_told, make_repository
from hermes_state.portability.repository.members import Member, in_chunks, line_of, proof_in
from hermes_state.portability.repository.patching import Patching
from hermes_state.portability.repository.snapshots import Listing, Snapshot
from hermes_state.portability.repository.storing import ChunkStore, StoredContent
from hermes_state.portability.repository.tidying import tidy
from hermes_state.portability.steps import reached
from hermes_state.portability.writer import Written, fault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from hermes_state.errors import HermesStateError
    from hermes_state.portability.manifest import Manifest
    from hermes_state.portability.progress import Step
    from hermes_state.portability.repository.parent import Parent

# [bytes] of a listing that are kept in memory.
_SPOOL = 8 * 1024 * 1024
# An archive of it has the digests besides.
_MOST_MEMBERS = Limits().entries - 1
# [files] that are kept and wait for their turn, at most.
_KEPT = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Saved:
    """What a backup into a repository did.

    Attributes:
        backup: as for an archive; `written.path` is the snapshot's file, `written.size` what was added.
        snapshot: what was published.
        chunks, new_chunks: of the content, and those of them that were not there before.
        new_content_bytes: of the new chunks, before compression.
        unread: files that were not read, since they looked as they did the last time.
        repository_bytes: of all packs.
        is_new: whether the repository was made.
        damaged: what of the repository can't be read; it was done without.
    """

    backup: BackupReport
    snapshot: Snapshot
    chunks: int
    new_chunks: int
    new_content_bytes: int
    unread: int
    repository_bytes: int
    is_new: bool
    damaged: list[str] = field(default_factory=list)


def back_up(
    home: Path,
    root: Path,
    wanted: Wanted | None = None,
    *,
    level: int = LEVEL,
    threads: int | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Saved:
    """Back up a home into a repository, which is made when it is not there. The home is only read.

    Args:
        root: the repository's folder.
        level: of zstd.
        threads: that compress; None: one per core, within bounds.

    Raises:
        InvalidValue: there is no home, or something else is where the repository should be.
        HomeInUse: a restore into the home was cut off.
        ArchiveForeign, ArchiveDamaged, ArchiveUnsupported: the repository can't be used.
        StoreBusy: it is being pruned.
        DiskFull, OSError: all snapshots are as they were; a later backup uses what is there already.
    """
    started = time.monotonic()
    refuse_unfit(home)
    wanted = wanted or Wanted()
    with ExitStack() as stack:
        stack.enter_context(full_disk_told(root))
        repository = make_repository(root)
        tidy(repository)
        stack.enter_context(locks.shared(repository))
        stage = stack.enter_context(staging.staging(repository.root.resolve(), STAGES[0]))
        index = stack.enter_context(Index.of(repository.packs))
        found, failures = snapshots.readable(repository)
        is_new = not found and not failures
        before = parent.choose(found, platform.node(), str(home.resolve()))
        known, more = parent.read(before, index, wanted)
        store = stack.enter_context(ChunkStore(repository, index, stage, level=level, threads=threads))
        reading = HomeReading(home, stage, wanted, progress, repository.root, kept=known)
        saving = _Saving(repository, index, stage, store, known, reading)
        return saving.run(started, is_new=is_new, failures=[*failures, *more])


class _Saving:
    """One backup in the making."""

    def __init__(
        self,
        repository: Repository,
        index: Index,
        stage: Path,
        store: ChunkStore,
        known: Parent,
        reading: HomeReading,
    ) -> None:
        self.repository, self.index, self.stage = repository, index, stage
        self.store, self.known, self.reading = store, known, reading
        self.stack = ExitStack()
        self.listing = tempfile.SpooledTemporaryFile(_SPOOL, dir=str(stage))  # noqa: SIM115  `run` closes it
        self.tally = Tally()
        self.taken: dict[str, StoredContent] = {}
        self.chunks = self.unread = 0
        self.kept: list[bytes] = []
        self.places = Places(())

    def run(self, started: float, *, is_new: bool, failures: list[HermesStateError]) -> Saved:
        """All of it."""
        with self.listing, self.stack:
            self.reading.databases.take, self.reading.databases.take_part = self._take, self._take_part
            self.reading.look()
            manifest = self.reading.manifest()
            self._content(manifest)
            listing = self._list()
        self.store.finish()
        reached("stored")
        snapshot = self._snapshot(manifest, listing)
        path = snapshots.publish(self.repository, snapshot, self.stage)
        reached("published")
        written = Written(
            path=path,
            size=self.store.added_bytes,
            members=self.tally.entries,
            content_bytes=self.tally.content_bytes,
            whole=self.tally.whole,
            report=self.reading.report,
        )
        report = BackupReport(
            written=written,
            manifest=manifest,
            unsound=self.reading.databases.unsound,
            seconds=time.monotonic() - started,
        )
        return Saved(
            backup=report,
            snapshot=snapshots.read(path),
            chunks=self.chunks,
            new_chunks=self.store.added_chunks,
            new_content_bytes=self.store.new_content_bytes,
            unread=self.unread,
            repository_bytes=self.index.stored_bytes() + self.store.added_bytes,
            is_new=is_new,
            damaged=[*(finding.message for finding in self.index.damaged), *(failure.message for failure in failures)],
        )

    # --- members ------------------------------------------------------------------------------------------------

    def _take(self, name: str, copy: Path) -> None:
        """A database's content, before its turn comes: SQLite is checking it, and needs only one core."""
        with copy.open("rb") as file:
            content = _Bounded(Entry(name=name, size=copy.stat().st_size), file, self.reading)
            chunks = self.known.chunks(name)
            stored = self.store.put(content.read, chunks, is_hashed_whole=not self._is_numbered(name))
        if not content.fault:  # else it is read again when its turn comes, and told
            self.taken[name] = stored

    def _take_part(self, name: str, copy: Path, page_size: int, pages: Sequence[int]) -> Callable[[], bool]:
        """The same, of a copy that holds only what changed; what it returns waits, and says whether all is stored."""
        chunks = self.known.chunks(name)
        patching = Patching(self.store, self.index, copy, previous=chunks, page_size=page_size, pages=pages)
        until_stored = self.stack.enter_context(ExitStack())  # there may be many databases
        until_stored.callback(patching.close)
        patching.begin()

        def is_stored() -> bool:
            with until_stored:
                stored = patching.result()
            if stored is not None:
                self.taken[name] = stored
            return stored is not None

        return is_stored

    def _is_numbered(self, name: str) -> bool:
        """Whether a copy of a database was made such that the next one needs only what changed."""
        path = self.reading.databases.numberings.get(name)
        return path is not None and path.stat().st_size > 0

    def _content(self, manifest: Manifest) -> None:
        now = int(time.time()) * 10**9
        self.places = Places(manifest.roots)
        self._own(MANIFEST, dump(manifest.as_json()), now)
        for entry in self.reading.entries(self._kept):
            wrong = fault(entry, self.places)
            if wrong is not None:
                self.reading.report.omit(entry.name, f"no archive can hold it: it {wrong}")
                continue
            self._add(self._member(entry))
            self.places.add(entry)
        self._own(REPORT, self.reading.report.dump(), now)

    def _own(self, name: str, content: bytes, mtime_ns: int) -> None:
        stored = self.store.put(io.BytesIO(content).read, self.known.chunks(name))
        self._add(_member(Entry(name=name, mode=OWN_MODE, mtime_ns=mtime_ns), stored))

    def _member(self, entry: Entry) -> Member:
        if entry.kind is not Kind.FILE:
            return Member(entry=entry, digest=digest_of(entry))
        assert entry.opener is not None  # `_kept` takes the others
        seen = self.known.seen(entry.name)
        if entry.name in self.taken and entry.name in self.reading.databases.made:  # else the copy came to nothing
            return replace(_member(entry, self.taken[entry.name], seen), numbering=self._numbering(entry.name))
        content = _Bounded(entry, entry.opener(), self.reading)
        chunks = self.known.chunks(entry.name)
        stored = self.store.put(content.read, chunks, is_hashed_whole=not self._is_numbered(entry.name))
        if content.fault:
            self.reading.report.cut_short(entry.name, content.fault)
        is_proof = not content.fault and entry.name not in self.reading.redacted
        return replace(_member(entry, stored, seen if is_proof else ()), numbering=self._numbering(entry.name))

    def _numbering(self, name: str) -> tuple[bytes, ...]:
        """The chunks of what a copy of a database left for the next one."""
        if not self._is_numbered(name):
            return ()
        path = self.reading.databases.numberings[name]
        with path.open("rb") as file:
            return self.store.put_chunks(placed(file.read), self.known.numbering_chunks(name)).chunks

    def _kept(self, name: str) -> None:
        """A file as it was before: nothing of it changed, or its time of change would be another."""
        self.kept.append(self.known.line(name))
        if len(self.kept) >= _KEPT:
            self._add_kept()

    def _add_kept(self) -> None:
        """Files that are one after the other go in together, since there may be very many."""
        proofs, sizes, chunks = zip(*map(proof_in, self.kept), strict=True)
        self.listing.write(b"\n".join([*self.kept, b""]))
        self.tally.add_records(b"".join(proofs), len(proofs), sum(sizes))
        self.chunks += sum(chunks)
        self.unread += len(proofs)
        self.kept.clear()
        self._refuse_too_many()

    def _add(self, member: Member) -> None:
        if self.kept:
            self._add_kept()
        self.listing.write(line_of(member))
        self.tally.add(member.entry, member.digest)
        self.chunks += len(member.chunks)
        self._refuse_too_many()

    def _refuse_too_many(self) -> None:
        if self.tally.entries > _MOST_MEMBERS:
            hint = "leave out folders that can be made again: --exclude"
            raise InvalidValue(f"a snapshot holds at most {_MOST_MEMBERS:,} members", hint=hint)

    # --- the snapshot -------------------------------------------------------------------------------------------

    def _list(self) -> Listing:
        self.listing.seek(0)
        stored = self.store.put_chunks(Cut(in_chunks(self.listing), is_placed=False), self.known.listing)
        return Listing(digest=stored.digest, size=stored.size, chunks=stored.chunks)

    def _snapshot(self, manifest: Manifest, listing: Listing) -> Snapshot:
        return Snapshot(
            created_at=manifest.created_at.astimezone(UTC),
            home=str(self.reading.home),
            host=platform.node(),
            user=user_name(),
            members=self.tally.entries,
            content_bytes=self.tally.content_bytes,
            added_bytes=self.store.added_bytes,
            partial=self.reading.report.is_partial or bool(self.reading.databases.unsound),
            whole=self.tally.whole,
            listing=listing,
        )


def _member(entry: Entry, stored: StoredContent, seen: tuple[int, ...] = ()) -> Member:
    sized = replace(entry, size=stored.size, opener=None)
    return Member(entry=sized, digest=stored.digest, chunks=stored.chunks, seen=seen)


class _Bounded:
    """The content of a file up to the size it had when it was opened; what is wrong with it is noted, not raised.

    Attributes:
        fault: why it is not all there; "": it is.
    """

    def __init__(self, entry: Entry, stream: BinaryIO, reading: HomeReading) -> None:
        self._entry, self._stream, self._reading = entry, stream, reading
        self._left = entry.length
        self.fault = ""

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        if not self._left:
            return b""
        at = f"at byte {self._entry.length - self._left} of {self._entry.length}"
        try:
            piece = self._stream.read(min(size, self._left))
        except OSError as error:
            self.fault, self._left = f"{error.strerror or error}, {at}", 0
            return b""
        if not piece:
            self.fault, self._left = f"it shrank while it was read: it ended {at}", 0
        self._left -= len(piece)
        self._reading.tell(self._entry, len(piece))
        return piece
