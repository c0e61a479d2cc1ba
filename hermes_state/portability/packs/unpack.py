"""Bringing in a pack: what is new comes in, nothing that is here changes, and all that was left is told."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_state.atomic import short_name
from hermes_state.errors import ArchiveForeign, InvalidValue
from hermes_state.home import STORE_NAME
from hermes_state.portability import names, target
from hermes_state.portability.build import write_file
from hermes_state.portability.format import PACK_FORMAT, SKILLS, Kind
from hermes_state.portability.interrupted import refuse_interrupted
from hermes_state.portability.joining import Difference, Joined, Joining
from hermes_state.portability.packs.files import PLACES
from hermes_state.portability.packs.pack import MEMORIES_FILE, SESSIONS_FILE
from hermes_state.portability.progress import Step
from hermes_state.portability.reader import open_archive
from hermes_state.portability.restore import full_disk_told
from hermes_state.portability.staging import staging

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from hermes_state.portability.content import Content
    from hermes_state.portability.crypt import Keys
    from hermes_state.portability.format import Entry, Limits
    from hermes_state.portability.reader import Archive

_PLACES = {name: place for places in PLACES.values() for name, place in places.items()}
_LINES = (SESSIONS_FILE, MEMORIES_FILE)
_PRIVATE = 0o600
# [mode bits] the owner's: nobody else can do anything with what came from elsewhere.
_OWNER = 0o700


def unpack(
    pack: Path,
    home: Path,
    *,
    store: Path | str | None = None,
    keys: Keys | None = None,
    limits: Limits | None = None,
    progress: Callable[[Step], None] | None = None,
    dry_run: bool = False,
) -> Joined:
    """Bring a pack into a home, which is made when it is not there. Its agent may go on working.

    A crash leaves some of it unpacked; to unpack again brings in the rest.

    Args:
        store: its file or its URL; None: the home's own.
        dry_run: only say what would be done; it takes as much room beside the home as the real thing.

    Raises:
        ArchiveForeign: it is no pack.
        ArchiveDamaged, ArchiveUnsupported, WrongKey: nothing was changed.
        HomeInUse: a restore into the home was cut off while parts were being put in place.
        InvalidValue: something else than a folder is where the home should be.
        FormatError: the lines in it are of a newer version.
        DiskFull, OSError: as the system says.
    """
    home = Path(os.path.realpath(home))
    if home.exists() and not home.is_dir():
        raise InvalidValue(f"{home} is no folder")
    refuse_interrupted(home)
    folder = target.stage_folder(home)
    with full_disk_told(home), staging(folder, f"{short_name(home.name, 150)}.unpack") as stage:
        result = Joined(home=home, archive=pack)
        work = _Unpacking(stage, result, progress)
        with open_archive(pack, keys=keys, limits=limits) as archive:
            work.read(archive)
        if not dry_run:
            home.mkdir(mode=0o700, exist_ok=True)
        joining = Joining(work.new, home, result, dry_run=dry_run)
        joining.run()
        work.join_store(joining, store or home / STORE_NAME)
    return result


class _Unpacking:
    """One pack on its way in."""

    def __init__(self, stage: Path, result: Joined, progress: Callable[[Step], None] | None) -> None:
        self.new, self.lines = stage / "new", stage / "lines"
        self.result, self.progress = result, progress
        for folder in (self.new, self.lines):
            folder.mkdir(mode=0o700)

    def read(self, archive: Archive) -> None:
        """Take all that is wanted beside the home. When this has ended, everything was proven."""
        if archive.manifest.format != PACK_FORMAT:
            raise ArchiveForeign(
                str(archive.path), "a backup, and no pack", hint="`hermes-state restore` takes it, also with --merge"
            )
        archive.manifest.check_restorable()
        for entry, content in archive.members():
            self._take(entry, content)
            if self.progress is not None:
                step = Step(what=f"reading {entry.name}", done=archive.position(), total=archive.size)
                self.progress(step)
        if archive.report is not None and archive.report.is_partial:
            self.result.notices.append("the pack itself is partial: something could not be read when it was made")

    def _take(self, entry: Entry, content: Content | None) -> None:
        if entry.name in _LINES and content is not None:
            write_file(self.lines / entry.name.rpartition("/")[2], content, mode=_PRIVATE, mtime_ns=entry.mtime_ns)
        elif entry.name in _PLACES and content is not None:
            place = self.new / _PLACES[entry.name]
            place.parent.mkdir(mode=0o700, exist_ok=True)
            write_file(place, content, mode=_PRIVATE, mtime_ns=entry.mtime_ns)
        elif entry.root == SKILLS:
            self._skill(entry, content)
        elif entry.kind is not Kind.DIR or "/" in entry.name:
            self._leave(entry, "no part of a pack that is known here")

    def _skill(self, entry: Entry, content: Content | None) -> None:
        place = self.new / entry.name
        if entry.kind is Kind.DIR:
            place.mkdir(mode=0o700)
        elif content is not None:
            write_file(place, content, mode=entry.mode & _OWNER, mtime_ns=entry.mtime_ns)
        elif names.leads_out(entry.name, entry.target):
            self._leave(entry, f"a link that leads out: {entry.target}")
        else:
            place.symlink_to(entry.target)

    def _leave(self, entry: Entry, what: str) -> None:
        self.result.differences.append(Difference(path=entry.name, what=what))

    def join_store(self, joining: Joining, store: Path | str) -> None:
        """Bring the sessions and memories into the store, which is made when it is not there."""
        with ExitStack() as stack:
            found: dict[str, BinaryIO | None] = dict.fromkeys(_LINES)
            for name in _LINES:
                place = self.lines / name.rpartition("/")[2]
                if place.exists():
                    found[name] = stack.enter_context(place.open("rb"))
            if any(found.values()):
                joining.store(STORE_NAME, store, found[SESSIONS_FILE], found[MEMORIES_FILE])
