"""Whether a repository can give back every snapshot."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_state.errors import ArchiveDamaged, HermesStateError
from hermes_state.portability.format import Finding
from hermes_state.portability.repository import locks, snapshots
from hermes_state.portability.repository.index import Index, Place, proven
from hermes_state.portability.repository.packs import SUFFIX, digest_of, packs_in
from hermes_state.portability.verify import Findings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hermes_state.portability.repository.layout import Repository
    from hermes_state.portability.repository.members import Member
    from hermes_state.portability.repository.snapshots import Snapshot


@dataclass(kw_only=True, slots=True)
class Checked:
    """What a check found.

    Attributes:
        findings: what is wrong.
        snapshots, packs, chunks: that were looked at.
        damaged_snapshots: ids of those that can't be given back whole.
        repository_bytes: of all packs.
        unneeded_bytes: of chunks that no snapshot needs.
        read_data: whether every byte was read.
    """

    findings: Findings = field(default_factory=Findings)
    snapshots: int = 0
    packs: int = 0
    chunks: int = 0
    damaged_snapshots: list[str] = field(default_factory=list)
    repository_bytes: int = 0
    unneeded_bytes: int = 0
    read_data: bool = False


def check(
    repository: Repository, *, read_data: bool = False, progress: Callable[[int, int], None] | None = None
) -> Checked:
    """Look whether everything is there; with `read_data`, read and compare all of it.

    Args:
        progress: called with bytes that were read, and all there are.

    Raises:
        StoreBusy: the repository is being pruned.
        OSError: as the system says.
    """
    with ExitStack() as stack:
        stack.enter_context(locks.shared(repository))
        index = stack.enter_context(Index.of(repository.packs))
        checking = _Checking(repository, index, Checked(read_data=read_data))
        if read_data:
            checking.read_packs(progress or _nothing)
        checking.look()
    return checking.result


def _nothing(done: int, total: int) -> None:
    """Nobody watches."""


class _Checking:
    """One check."""

    def __init__(self, repository: Repository, index: Index, result: Checked) -> None:
        self._repository, self._index, self.result = repository, index, result
        self._packs = list(packs_in(repository.packs))
        self._bad: set[bytes] = set()
        for finding in index.damaged:
            result.findings.add(finding)
        result.packs, result.chunks = len(self._packs), len(index.places)
        result.repository_bytes = sum(path.stat().st_size for path in self._packs)

    # --- every byte ---------------------------------------------------------------------------------------------

    def read_packs(self, progress: Callable[[int, int], None]) -> None:
        """Compare every pack with its name, and every chunk with its own."""
        of_pack: dict[Path, list[Place]] = {}
        for place in self._index.places.values():
            of_pack.setdefault(place.pack, []).append(place)
        done = 0
        for pack in self._packs:
            progress(done, self.result.repository_bytes)
            if f"{digest_of(pack)}{SUFFIX}" != pack.name:
                self._tell("pack", f"{pack} is not what was written", pack.name)
            for place in of_pack.get(pack, ()):
                self._prove(place)
            done += pack.stat().st_size

    def _prove(self, place: Place) -> None:
        try:
            bases = [self._index.read(base) for base in place.stored.bases]
            proven(place, self._index.frame(place), bases)
        except ArchiveDamaged as error:
            self._bad.add(place.stored.id)
            self._tell(error.code, error.message, error.member)

    # --- every snapshot -----------------------------------------------------------------------------------------

    def look(self) -> None:
        """Look at every snapshot's file and listing, and whether its chunks are there."""
        found, failures = snapshots.readable(self._repository)
        self.result.snapshots = len(found) + len(failures)
        for failure in failures:
            self._tell("snapshot", failure.message)
        needed: set[bytes] = set()
        for snapshot in found:
            if not self._is_sound(snapshot, needed):
                self.result.damaged_snapshots.append(snapshot.id)
        places = [self._index.places[chunk] for chunk in needed if chunk in self._index]
        needed.update(base for place in places for base in place.stored.bases)
        unneeded = (p.stored.stored for chunk, p in self._index.places.items() if chunk not in needed)
        self.result.unneeded_bytes = sum(unneeded)

    def _is_sound(self, snapshot: Snapshot, needed: set[bytes]) -> bool:
        needed.update(snapshot.listing.chunks)
        missing, first, members, size = 0, "", 0, 0
        try:
            for member in snapshots.members(snapshot, self._index):
                members += 1
                size += member.entry.length
                needed.update(member.chunks, member.numbering)
                if not self._is_there(member):
                    missing += 1
                    first = first or member.entry.name
        except HermesStateError as error:
            self._tell("listing", f"the listing of the snapshot {snapshot.id} can't be read: {error.message}")
            return False
        if (members, size) != (snapshot.members, snapshot.content_bytes):
            self._tell("listing", f"the snapshot {snapshot.id} has not the members that its file says")
            return False
        if missing:
            self._tell("incomplete", f"{missing} files of the snapshot {snapshot.id} can't be given back", first)
        return not missing

    def _is_there(self, member: Member) -> bool:
        """Whether all of a file can be read, and is of its size."""
        places = [self._index.places.get(chunk) for chunk in member.chunks]
        if not all(place is not None and not self._bad & {place.stored.id, *place.stored.bases} for place in places):
            return False
        return sum(place.stored.size for place in places if place is not None) == member.entry.length

    def _tell(self, code: str, message: str, member: str = "") -> None:
        self.result.findings.add(Finding(code=code, message=message, member=member))
