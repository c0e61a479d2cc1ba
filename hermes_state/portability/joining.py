"""Joining a tree of files with a home: everything new comes in, nothing that is here changes.

Sessions and memories of our stores are joined by their content, with their lineage; entries of MEMORY.md and USER.md
too; files that are not here are added. What is here with other content is listed and stays.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from filelock import FileLock

from hermes_state.atomic import short_name, sync_dir, sync_file, whole_file
from hermes_state.errors import StoreBusy, StoreDamaged
from hermes_state.home import STORE_NAME
from hermes_state.portability import apart
from hermes_state.portability.databases import begins_as_database
from hermes_state.portability.elsewhere import take
from hermes_state.portability.prepare import complete_indexes
from hermes_state.portability.rows import say_the_same
from hermes_state.portability.settings import values_of
from hermes_state.store import SessionDB
from hermes_state.transfer import dump
from hermes_state.transfer.memories import dump_memories, merge_memories
from hermes_state.transfer.merging import merge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_state.engine import Engine

# Files whose entries are joined, and what stands between two entries: Hermes' format.
_MEMORIES = ("memories/MEMORY.md", "memories/USER.md")
_BETWEEN = "\n§\n"
# Settings that are compared one by one when the files differ.
_SETTINGS = ("config.yaml",)
# How long to wait for an agent that is writing its memory. [seconds]
_LOCK_S = 20.0
# Settings that are named when two files of them differ.
_NAMED = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """Something that is here with other content; it stays as it is here."""

    path: str
    what: str


@dataclass(kw_only=True, slots=True)
class Joined:
    """What joining did, or would do.

    Attributes:
        home, archive: into what, and from what.
        sessions, messages, entries, files: added; `entries` are memories.
        extended: sessions that were here and went on elsewhere.
        beside: sessions that went another way here: id, and the id they came in under.
        equal: sessions, memories and files that were here already, just so.
        differences: what was not joined.
        retitled: sessions whose title another one has here: id and the title they got.
        notices: what a person must know of the archive.
    """

    home: Path
    archive: Path
    sessions: int = 0
    messages: int = 0
    entries: int = 0
    extended: list[str] = field(default_factory=list)
    beside: list[tuple[str, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    equal: int = 0
    differences: list[Difference] = field(default_factory=list)
    retitled: list[tuple[str, str]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


class Joining:
    """A tree on its way into the home that is here.

    Args:
        new: the tree.
        result: what is done is added to it.
        dry_run: only say what would be done. Stores are then copied beside the tree and joined there.
    """

    def __init__(self, new: Path, home: Path, result: Joined, *, dry_run: bool) -> None:
        self.new, self.home, self.result, self.dry_run = new, home, result, dry_run

    def run(self) -> None:
        """All of the tree."""
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
        elif not target.exists() and not self.dry_run:
            target.mkdir(mode=0o700)

    def _file(self, source: Path) -> None:
        target = self.home / source.relative_to(self.new)
        name = str(source.relative_to(self.new))
        if source.is_symlink():
            self._link(source, target)
        elif not os.path.lexists(target):
            self._add(source, target)
            if source.name == STORE_NAME and not self.dry_run:
                with SessionDB.open(target) as db:
                    complete_indexes(db.engine)
        elif target.is_symlink() or not target.is_file():
            self._differs(source, "here it is no file")
        elif source.name == STORE_NAME:
            self._store(source, target)
        elif name.endswith(_MEMORIES):
            self._entries(source, target)
        elif apart.are_equal(source, target) or self._has_the_same_rows(source, target):
            self.result.equal += 1
        elif source.name == "state.db":
            self._differs(source, "Hermes' own store stays; `hermes-state import hermes` takes its sessions into ours")
        elif name in _SETTINGS:
            self._differs(source, _settings(source, target))
        else:
            self._differs(source, "here it has other content")

    def _has_the_same_rows(self, source: Path, target: Path) -> bool:
        if not (begins_as_database(source) and apart.is_database(str(target))):
            return False
        with tempfile.TemporaryDirectory(prefix="compare-", dir=self.new.parent) as folder:
            copy = Path(folder) / "here.db"
            try:
                apart.copied(target, copy)
            except (StoreDamaged, StoreBusy):  # what can't be read is equal to nothing
                return False
            return say_the_same(source, copy)

    def _link(self, source: Path, target: Path) -> None:
        if not os.path.lexists(target):
            if not self.dry_run:
                target.symlink_to(source.readlink())
            self.result.files.append(str(source.relative_to(self.new)))
        elif not target.is_symlink() or target.readlink() != source.readlink():
            self._differs(source, "here it is no link, or leads elsewhere")
        else:
            self.result.equal += 1

    def _add(self, source: Path, target: Path) -> None:
        """A file that is not here: whole, and never over one that appears meanwhile."""
        if self.dry_run:
            self.result.files.append(str(source.relative_to(self.new)))
            return
        descriptor, name = tempfile.mkstemp(prefix=f".{short_name(target.name)}.", suffix=".partial", dir=target.parent)
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

    def _store(self, source: Path, target: Path) -> None:
        """Everything of our store that is not here. It goes through files: two stores never wait for each other."""
        name = str(source.relative_to(self.new))
        with _lines(self.new.parent) as sessions, _lines(self.new.parent) as memories:
            with SessionDB.open(source) as there:
                dump(there.engine, sessions)
                dump_memories(there.engine, memories)
            for lines in (sessions, memories):
                lines.flush()
                lines.seek(0)
            self.store(name, target, cast("BinaryIO", sessions.buffer), cast("BinaryIO", memories.buffer))

    def store(self, name: str, target: Path | str, sessions: BinaryIO | None, memories: BinaryIO | None) -> None:
        """Join what two exports hold with the store that is here, or make one.

        Args:
            name: what the differences are told under.
            target: a file, or the URL of a store on a server.
        """
        with self._opened(target) as engine:
            if sessions is not None:
                self._sessions(engine, name, sessions)
            if memories is not None:
                self._memories(engine, name, memories)
            if not self.dry_run:
                complete_indexes(engine)

    @contextmanager
    def _opened(self, target: Path | str) -> Iterator[Engine]:
        """The store that is here; for a dry run a copy of it, or an empty one."""
        with tempfile.TemporaryDirectory(prefix="dry-run-", dir=self.new.parent) as folder:
            if self.dry_run:
                copy = Path(folder) / STORE_NAME
                if isinstance(target, str):
                    take(target, copy)
                elif target.exists():
                    apart.copied(target, copy)
                target = copy
            with SessionDB.open(target) as db:
                yield db.engine

    def _sessions(self, engine: Engine, name: str, lines: BinaryIO) -> None:
        report, result = merge(engine, lines), self.result
        result.sessions += report.sessions_added
        result.messages += report.messages_added
        result.equal += report.equal
        result.extended += report.extended
        result.beside += report.beside
        result.retitled += report.retitled
        told = [(session_id, what) for session_id, what in report.differences]
        told += [(session_id, f"it went another way here; it comes in as {new}") for session_id, new in report.beside]
        told += [(problem.session_id or f"line {problem.line}", problem.what) for problem in report.problems]
        self.result.differences += [Difference(path=name, what=f"session {which}: {what}") for which, what in told]

    def _memories(self, engine: Engine, name: str, lines: BinaryIO) -> None:
        report = merge_memories(engine, lines)
        self.result.entries += report.added
        self.result.equal += report.equal
        told = [*report.differences, *((f"line {number}", what) for number, what in report.problems)]
        self.result.differences += [Difference(path=name, what=f"memory {which}: {what}") for which, what in told]

    def _entries(self, source: Path, target: Path) -> None:
        """Entries that are not here, behind those that are; what is here keeps its order."""
        fresh = _fresh(source, target.read_text(encoding="utf-8"))
        if fresh and not self.dry_run:
            with FileLock(target.with_name(f"{target.name}.lock"), timeout=_LOCK_S):
                here = target.read_text(encoding="utf-8")
                fresh = _fresh(source, here)
                with whole_file(target) as file:
                    file.write(_BETWEEN.join([*_entries_of(here), *fresh]) + ("\n" if here.endswith("\n") else ""))
        self.result.entries += len(fresh)

    def _differs(self, source: Path, what: str) -> None:
        self.result.differences.append(Difference(path=str(source.relative_to(self.new)), what=what))


def _fresh(source: Path, here: str) -> list[str]:
    """The entries of a file that are not here."""
    known = _entries_of(here)
    return [entry for entry in _entries_of(source.read_text(encoding="utf-8")) if entry not in known]


def _entries_of(text: str) -> list[str]:
    return [entry for entry in (part.strip() for part in text.split(_BETWEEN)) if entry]


def _lines(folder: Path) -> Any:
    """A file of JSON Lines that has no name."""
    return tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", dir=folder)


def _settings(source: Path, target: Path) -> str:
    """Which settings differ, without their values: some are secret."""
    theirs, ours = values_of(source), values_of(target)
    differ = sorted(key for key in {*theirs, *ours} if theirs.get(key) != ours.get(key))
    if not differ:
        return "here it has other content, with the same settings"
    return f"here it has other settings: {', '.join(differ[:_NAMED])}{', …' if len(differ) > _NAMED else ''}"
