"""Merging an archive into a home that has content of its own: everything new comes in, nothing that is here changes.

Sessions come into our stores by their content, with their lineage; entries of MEMORY.md and USER.md are joined; files
that are not here are added. What is here with other content is listed and stays. So merging again adds nothing, and it
does not matter which of two homes is merged into which: both then have the same sessions and memories.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from filelock import FileLock

from hermes_state.atomic import sync_dir, sync_file, whole_file
from hermes_state.errors import InvalidValue
from hermes_state.home import STORE_NAME
from hermes_state.index import MessageIndex
from hermes_state.portability.recover import recover
from hermes_state.portability.restore import Asked, Restored, Restoring, full_disk_told
from hermes_state.portability.swap import throw_away
from hermes_state.store import SessionDB
from hermes_state.transfer import dump, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_state.portability.crypt import Keys
    from hermes_state.portability.format import Limits
    from hermes_state.portability.progress import Step

# Files whose entries are joined, and what stands between two entries: Hermes' format.
_MEMORIES = ("memories/MEMORY.md", "memories/USER.md")
_BETWEEN = "\n§\n"
# How long to wait for an agent that is writing its memory. [seconds]
_LOCK_S = 20.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """Something that is here with other content than in the archive; it stays as it is here."""

    path: str
    what: str


@dataclass(kw_only=True, slots=True)
class Merged:
    """What a merge did.

    Attributes:
        built: the archive, read and prepared.
        sessions, messages, entries, files: added.
        equal: sessions and files that were here already, just so.
        differences: what was not merged.
        retitled: sessions whose title another one has here: id and the title they got.
    """

    built: Restored
    sessions: int = 0
    messages: int = 0
    entries: int = 0
    files: list[str] = field(default_factory=list)
    equal: int = 0
    differences: list[Difference] = field(default_factory=list)
    retitled: list[tuple[str, str]] = field(default_factory=list)


def merge(
    archive: Path,
    home: Path,
    asked: Asked | None = None,
    *,
    keys: Keys | None = None,
    limits: Limits | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Merged:
    """Bring what an archive has, and a home has not, into the home. Its agent may go on working.

    A crash leaves some of it merged; to merge again brings in the rest.

    Raises:
        InvalidValue: there is no home to merge into.
        As `restore`, for the archive.
    """
    work = Restoring(archive, home, asked or Asked(), keys, limits, progress)
    if not work.home.is_dir():
        raise InvalidValue(f"there is no home at {work.home} to merge into", hint="restore it there instead")
    recover(work.home)
    with work.stage() as journal, full_disk_told(work.home):
        journal.write()
        result = Merged(built=work.build(journal))
        _Merge(journal.new, work.home, result).run()
        throw_away(journal.stage)
    return result


class _Merge:
    """A built home on its way into the one that is here."""

    def __init__(self, new: Path, home: Path, result: Merged) -> None:
        self.new, self.home, self.result = new, home, result

    def run(self) -> None:
        for folder, folders, names in os.walk(self.new):
            folders.sort()
            place = Path(folder)
            for name in list(folders):
                self._folder(place / name, folders)
            for name in sorted(names):
                self._file(place / name)

    def _folder(self, source: Path, folders: list[str]) -> None:
        """A folder that is not here comes as a whole, but for what is merged within."""
        path = source.relative_to(self.new)
        target = self.home / path
        if source.is_symlink():
            folders.remove(source.name)
            self._link(source, target)
        elif os.path.lexists(target) and (target.is_symlink() or not target.is_dir()):
            folders.remove(source.name)
            self._differs(source, "here it is no folder")
        elif not target.exists():
            target.mkdir(mode=0o700)

    def _file(self, source: Path) -> None:
        target = self.home / source.relative_to(self.new)
        name = str(source.relative_to(self.new))
        if source.is_symlink():
            self._link(source, target)
        elif not os.path.lexists(target):
            self._add(source, target)
        elif target.is_symlink() or not target.is_file():
            self._differs(source, "here it is no file")
        elif source.name == STORE_NAME:
            self._sessions(source, target)
        elif name.endswith(_MEMORIES):
            self._entries(source, target)
        elif filecmp.cmp(source, target, shallow=False):
            self.result.equal += 1
        elif source.name == "state.db":
            self._differs(source, "Hermes' own store stays; `hermes-state import hermes` takes its sessions into ours")
        else:
            self._differs(source, "here it has other content")

    def _link(self, source: Path, target: Path) -> None:
        if not os.path.lexists(target):
            target.symlink_to(source.readlink())
            self.result.files.append(str(source.relative_to(self.new)))
        elif not target.is_symlink() or target.readlink() != source.readlink():
            self._differs(source, "here it is no link, or leads elsewhere")
        else:
            self.result.equal += 1

    def _add(self, source: Path, target: Path) -> None:
        """A file that is not here: whole, and never over one that appears meanwhile."""
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".partial", dir=target.parent)
        os.close(descriptor)
        partial = Path(name)
        try:
            shutil.copy2(source, partial)
            sync_file(partial)
            os.link(partial, target)
            sync_dir(target.parent)
        except FileExistsError:
            self._differs(source, "it appeared here meanwhile")
        else:
            self.result.files.append(str(source.relative_to(self.new)))
        finally:
            partial.unlink()

    def _sessions(self, source: Path, target: Path) -> None:
        """Every session that is not here. The export goes through a file: the two stores never wait for each other."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", dir=self.new.parent) as lines:
            with SessionDB.open(source) as there:
                dump(there.engine, lines)
            lines.flush()
            lines.seek(0)
            with SessionDB.open(target) as here:
                report = load(here.engine, cast("BinaryIO", lines.buffer))
                index = MessageIndex(here.engine)
                if index.is_available:
                    index.catch_up()
        self.result.sessions += report.sessions_added
        self.result.messages += report.messages_added
        self.result.equal += report.sessions_equal
        self.result.retitled += report.retitled
        for problem in (*report.conflicts, *report.problems):
            self._differs(source, f"session {problem.session_id}: {problem.what}")

    def _entries(self, source: Path, target: Path) -> None:
        """Entries that are not here, behind those that are; what is here keeps its order."""
        with FileLock(target.with_name(f"{target.name}.lock"), timeout=_LOCK_S):
            here = target.read_text(encoding="utf-8")
            entries = _entries_of(here)
            fresh = [entry for entry in _entries_of(source.read_text(encoding="utf-8")) if entry not in entries]
            if fresh:
                with whole_file(target) as file:
                    file.write(_BETWEEN.join([*entries, *fresh]) + ("\n" if here.endswith("\n") else ""))
        self.result.entries += len(fresh)

    def _differs(self, source: Path, what: str) -> None:
        self.result.differences.append(Difference(path=str(source.relative_to(self.new)), what=what))


def _entries_of(text: str) -> list[str]:
    return [entry for entry in (part.strip() for part in text.split(_BETWEEN)) if entry]
