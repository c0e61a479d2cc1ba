"""Forgetting snapshots that need not stay, and freeing the room of what no snapshot needs."""

from __future__ import annotations

import uuid
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_state.atomic import sync_dir
from hermes_state.errors import ArchiveDamaged
from hermes_state.portability import staging
from hermes_state.portability.repository import locks, snapshots
from hermes_state.portability.repository.index import Index, Place, proven
from hermes_state.portability.repository.layout import STAGES, Repository, full_disk_told
from hermes_state.portability.repository.packs import FULL_BYTES, PackWriter, packs_in
from hermes_state.portability.repository.tidying import clear
from hermes_state.portability.retention import Backup, Keep, superfluous
from hermes_state.portability.steps import reached

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hermes_state.portability.repository.snapshots import Snapshot

# A pack of which less than this part is needed is written anew without the rest.
_WORTH_KEEPING = 0.75
# [bytes], and packs below them, that are put together. Each backup makes a small one.
_SMALL_BYTES, _MANY_SMALL = FULL_BYTES // 4, 8


@dataclass(kw_only=True, slots=True)
class Pruned:
    """What pruning did, or would do.

    Attributes:
        forgotten, kept: snapshots, the oldest first.
        deleted, rewritten: packs.
        freed_bytes: net; of a dry run, at least so many.
        repository_bytes: of the packs that stay.
    """

    forgotten: list[Snapshot] = field(default_factory=list)
    kept: list[Snapshot] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    rewritten: list[str] = field(default_factory=list)
    freed_bytes: int = 0
    repository_bytes: int = 0


def prune(repository: Repository, keep: Keep, *, dry_run: bool = False) -> Pruned:
    """Forget the snapshots that no number asks for, of each home for itself, and free what nobody needs.

    Args:
        keep: when it asks for everything, nothing is forgotten, and only the room of what was is freed.
        dry_run: only tell.

    Raises:
        ArchiveDamaged: it is not known what a snapshot needs; nothing was deleted.
        StoreBusy: others work on the repository.
        DiskFull, OSError: all snapshots that stay are whole.
    """
    with ExitStack() as stack:
        stack.enter_context(full_disk_told(repository.root))
        stack.enter_context(locks.exclusive(repository))
        if not dry_run:
            clear(repository)
        index = stack.enter_context(Index.of(repository.packs))
        found = _all(repository)
        gone = unneeded(found, keep)
        result = Pruned(forgotten=gone, kept=[snapshot for snapshot in found if snapshot not in gone])
        needed = needed_by(result.kept, index)
        prefer_sound_copies(index, needed)
        plan = _Plan(index, needed, list(packs_in(repository.packs)), index.unreadable)
        plan.decide(result)
        if not dry_run:
            if gone:
                snapshots.forget(repository, [snapshots.path_of(repository, snapshot) for snapshot in gone])
                reached("forgotten")
            stage = stack.enter_context(staging.staging(repository.root.resolve(), STAGES[1]))
            plan.carry_out(repository.packs, stage)
        result.repository_bytes = sum(path.stat().st_size for path in packs_in(repository.packs))
        if dry_run:
            result.repository_bytes -= result.freed_bytes
    return result


def _all(repository: Repository) -> list[Snapshot]:
    found, failures = snapshots.readable(repository)
    if failures:
        raise ArchiveDamaged(
            f"nothing was deleted, since a snapshot can't be read and it is not known what it needs: {failures[0]}",
            code="snapshot",
            hint="`hermes-state repo check` tells which; `repo forget` gives it up",
        )
    return found


def unneeded(found: Sequence[Snapshot], keep: Keep) -> list[Snapshot]:
    """The snapshots that need not stay, the oldest first.

    Each home has its own numbers. A partial snapshot is counted for none of them; it goes when a newer whole one is
    there.

    Args:
        found: the oldest first.
    """
    gone: list[Snapshot] = []
    if keep.is_everything:
        return gone
    for source in {snapshot.source for snapshot in found}:
        newest_first = [snapshot for snapshot in reversed(found) if snapshot.source == source]
        whole = [snapshot for snapshot in newest_first if not snapshot.partial]
        backups = {Path(snapshot.id): snapshot for snapshot in whole}
        named = [Backup(path=name, made_at=snapshot.created_at) for name, snapshot in backups.items()]
        gone += [backups[backup.path] for backup in superfluous(named, keep)]
        if whole:
            gone += [one for one in newest_first if one.partial and one.created_at < whole[0].created_at]
    return [snapshot for snapshot in found if snapshot in gone]


def needed_by(kept: Iterable[Snapshot], index: Index) -> set[bytes]:
    """The chunks that snapshots need, with their bases.

    Raises:
        ArchiveDamaged: a listing can't be read.
    """
    needed: set[bytes] = set()
    for snapshot in kept:
        needed.update(snapshot.listing.chunks)
        for member in snapshots.members(snapshot, index):
            needed.update(member.chunks, member.numbering)
    for chunk in list(needed):
        place = index.places.get(chunk)
        if place is not None:
            needed.update(place.stored.bases)
    return needed


def prefer_sound_copies(index: Index, needed: set[bytes]) -> None:
    """Where a chunk is there twice, see to it that the copy which stays can be read."""
    for chunk in needed & index.spare.keys():
        place = index.places.get(chunk)
        whole = [other for other in index.spare[chunk] if not other.stored.bases]
        if place is None or not whole:
            continue
        try:
            index.read_at(place)
        except ArchiveDamaged:
            index.read_at(whole[0])
            index.places[chunk] = whole[0]


class _Plan:
    """Which packs go, and which are written anew.

    Args:
        needed: chunks that must stay.
        packs: all there are.
        unreadable: packs whose table can't be read: they are left alone, since nobody knows what is in them.
    """

    def __init__(self, index: Index, needed: set[bytes], packs: list[Path], unreadable: set[Path]) -> None:
        self._index = index
        self._of_pack: dict[Path, list[Place]] = {pack: [] for pack in packs if pack not in unreadable}
        for chunk in needed:
            place = index.places.get(chunk)
            if place is not None:
                self._of_pack.setdefault(place.pack, []).append(place)
        self._useless: list[Path] = []
        self._rewritten: list[Path] = []

    def decide(self, result: Pruned) -> None:
        """Choose, and tell."""
        sizes = {pack: pack.stat().st_size for pack in self._of_pack}
        needed = {pack: sum(place.stored.stored for place in places) for pack, places in self._of_pack.items()}
        self._useless = [pack for pack, size in needed.items() if not size]
        used = [pack for pack, size in needed.items() if size]
        small = [pack for pack in used if sizes[pack] < _SMALL_BYTES]
        wasteful = [pack for pack in used if needed[pack] < sizes[pack] * _WORTH_KEEPING]
        self._rewritten = sorted({*wasteful, *(small if len(small) >= _MANY_SMALL else ())})
        result.deleted = [pack.name for pack in self._useless]
        result.rewritten = [pack.name for pack in self._rewritten]
        result.freed_bytes = sum(sizes[pack] for pack in self._useless)
        result.freed_bytes += sum(sizes[pack] - needed[pack] for pack in self._rewritten)

    def carry_out(self, folder: Path, stage: Path) -> None:
        """Delete and write anew. A chunk goes only when it is on the disk elsewhere."""
        for pack in self._useless:
            pack.unlink()
            reached("pack deleted")
        places = [place for pack in self._rewritten for place in self._of_pack[pack]]
        made = self._copied(sorted(places, key=lambda place: (place.pack, place.stored.offset)), folder, stage)
        for pack in self._rewritten:
            if pack not in made:  # what it would be written to is what it is
                pack.unlink()
                reached("old pack deleted")
        for inner in sorted(folder.iterdir()):
            if inner.is_dir() and any(pack.parent == inner for pack in (*self._useless, *self._rewritten)):
                sync_dir(inner)

    def _copied(self, places: Sequence[Place], folder: Path, stage: Path) -> set[Path]:
        """Write frames into new packs, unchanged and proven; returns the packs."""
        made: set[Path] = set()
        writer: PackWriter | None = None
        try:
            for place in places:
                writer = writer or PackWriter(stage / f"{uuid.uuid4().hex}.pack")
                frame, stored = self._index.frame(place), place.stored
                proven(place, frame, [self._index.read(base) for base in stored.bases])
                writer.add(stored.id, frame, stored.size, stored.bases)
                if writer.size >= FULL_BYTES:
                    made.add(writer.publish(folder))
                    writer = None
                    reached("new pack published")
            if writer is not None:
                made.add(writer.publish(folder))
                writer = None
                reached("new pack published")
        finally:
            if writer is not None:
                writer.discard()
        return made
