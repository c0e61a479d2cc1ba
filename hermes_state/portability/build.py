"""Building a home out of an archive's members, beside where it will be.

Files are made anew, never opened; folders before what they hold; links when everything else is there, so that nothing
is ever written through one. Modes are tight: nobody but the owner can read a restored home.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from hermes_state.portability.content import Content
from hermes_state.portability.format import EXTERNAL_ROOT, HOME_ROOT, Entry, Kind
from hermes_state.portability.relocate import Map, Moved, relocate_link
from hermes_state.portability.rules import DEFAULT_RULES
from hermes_state.portability.secrets import is_secret_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from hermes_state.portability.journal import Journal
    from hermes_state.portability.selection import Selection

_RUNTIME = tuple(rule for rule in DEFAULT_RULES if rule.is_runtime and rule.evidence is None)
_NEW_FILE = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
_PRIVATE = 0o600
# [bytes] read from archives of others at a time.
_PIECE = 1024 * 1024


@dataclass(kw_only=True, slots=True)
class Built:
    """What was made.

    Attributes:
        files, bytes: of the home.
        folders: to get their modes and times when all is in them: path, mode, time.
        links: to be made last: path, target, time.
        external: paths for the user's home folder, in the stage.
        refused: external paths that are not restored, with the reason.
        runtime: what describes processes of the machine the archive is from.
        moved: links that were changed.
    """

    files: int = 0
    bytes: int = 0
    folders: list[tuple[Path, int, int]] = field(default_factory=list)
    links: list[tuple[Path, str, int]] = field(default_factory=list)
    external: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    runtime: list[str] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)


class Builder:
    """Makes the new home in a stage.

    Args:
        refuse_external: gives the reason why a path in the user's home folder is not restored; "": it is.
        writes: whether files are really made for a path; a plan makes only the settings.
    """

    def __init__(
        self,
        journal: Journal,
        selection: Selection,
        prefixes: Map,
        *,
        refuse_external: Callable[[str], str],
        writes: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self.journal, self.selection, self.prefixes = journal, selection, prefixes
        self.refuse_external, self.writes = refuse_external, writes
        self.built = Built()
        self._made: set[str] = set()

    def take(self, entry: Entry, content: Content | BinaryIO | None) -> None:
        """One member of the archive."""
        root, _, path = entry.name.partition("/")
        if root == HOME_ROOT:
            if not path:
                self.built.folders.append((self.journal.new, entry.mode, entry.mtime_ns))
            elif self._is_wanted(path, entry):
                self._make(self.journal.new, path, entry, content)
        elif root == EXTERNAL_ROOT and path and entry.kind is not Kind.DIR:
            self._external(path, entry, content)

    def finish(self) -> None:
        """Make the links; then give the folders their modes and times, the deepest first."""
        for path, target, mtime_ns in self.built.links:
            os.symlink(target, path)  # noqa: PTH211  text, unchanged
            os.utime(path, ns=(mtime_ns, mtime_ns), follow_symlinks=False)
        for path, mode, mtime_ns in sorted(self.built.folders, key=lambda folder: -len(folder[0].parts)):
            if path.is_dir():
                path.chmod(mode & stat.S_IRWXU | 0o500)
                os.utime(path, ns=(mtime_ns, mtime_ns))

    def _is_wanted(self, path: str, entry: Entry) -> bool:
        is_dir = entry.kind is Kind.DIR
        if is_dir and not self.selection.takes(path):
            return self.selection.leads_to(path)
        if not self.selection.takes(path):
            return False
        if any(rule.pattern.fits(path, is_dir=is_dir) for rule in _RUNTIME):
            self.built.runtime.append(path)
            return False
        return True

    def _make(self, base: Path, path: str, entry: Entry, content: Content | BinaryIO | None) -> None:
        place = base / path
        if entry.kind is Kind.DIR:
            if self.selection.takes(path):
                self._folder(base, path)
                self.built.folders.append((place, entry.mode, entry.mtime_ns))
            return
        self._folder(base, path.rpartition("/")[0])
        if entry.kind is Kind.LINK:
            target = relocate_link(entry.target, self.prefixes)
            if target != entry.target:
                self.built.moved.append(Moved(path=path, key="(link)", old=entry.target, new=target))
            self.built.links.append((place, target, entry.mtime_ns))
            return
        self.built.files += 1
        self.built.bytes += entry.length
        if self.writes(path):
            assert content is not None
            write_file(place, content, mode=_mode(path, entry.mode), mtime_ns=entry.mtime_ns)

    def _folder(self, base: Path, path: str) -> None:
        """Make a folder and those above it; each is ours, so none can be a link."""
        if path and (key := f"{base.name}/{path}") not in self._made:
            self._folder(base, path.rpartition("/")[0])
            (base / path).mkdir(mode=0o700, exist_ok=True)
            self._made.add(key)

    def _external(self, path: str, entry: Entry, content: Content | BinaryIO | None) -> None:
        reason = self.refuse_external(path) or ("it is a link" if entry.kind is Kind.LINK else "")
        if reason:
            self.built.refused.append((path, reason))
            return
        self.built.external.append(path)
        if self.writes(path):
            assert content is not None
            self.journal.external.mkdir(mode=0o700, exist_ok=True)
            self._folder(self.journal.external, path.rpartition("/")[0])
            write_file(self.journal.external / path, content, mode=_PRIVATE, mtime_ns=entry.mtime_ns)


def _mode(path: str, archived: int) -> int:
    """The owner's part of a mode; secrets and databases can always be read and written by the owner, and never run."""
    name = path.rpartition("/")[2]
    if is_secret_file(path) or name.endswith((".db", ".sqlite", ".sqlite3")):
        return _PRIVATE
    return archived & stat.S_IRWXU


def write_file(place: Path, content: Content | BinaryIO, *, mode: int, mtime_ns: int) -> None:
    """Make a file that was not there."""
    descriptor = os.open(place, _NEW_FILE, _PRIVATE)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        for chunk in content.chunks() if isinstance(content, Content) else _pieces(content):
            _write_all(file.fileno(), chunk)
        os.fchmod(file.fileno(), mode)
        os.utime(file.fileno(), ns=(mtime_ns, mtime_ns))


def _pieces(content: BinaryIO) -> Iterator[memoryview]:
    while piece := content.read(_PIECE):
        yield memoryview(piece)


def _write_all(descriptor: int, chunk: memoryview) -> None:
    while chunk:
        chunk = chunk[os.write(descriptor, chunk) :]
