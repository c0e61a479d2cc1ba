"""One file out of an archive."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from hermes_state.errors import ArchiveDamaged, InvalidValue, NotFound
from hermes_state.portability.appearing import appearing, refuse_existing
from hermes_state.portability.format import HOME_ROOT, Entry, Kind
from hermes_state.portability.reader import open_archive

if TYPE_CHECKING:
    from hermes_state.portability.content import Content
    from hermes_state.portability.crypt import Keys
    from hermes_state.portability.format import Limits

# [bytes] copied at a time.
_PIECE = 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Extracted:
    """What came out.

    Attributes:
        entry: the member.
        damage: why the archive is not sound; None: everything was proven.
    """

    entry: Entry
    damage: ArchiveDamaged | None = None


def extract(
    archive: Path,
    name: str,
    target: Path | BinaryIO,
    *,
    keys: Keys | None = None,
    limits: Limits | None = None,
    replace: bool = False,
    even_if_damaged: bool = False,
) -> Extracted:
    """Take one file out. Nothing appears under the target's name before the whole archive was proven.

    Args:
        name: as in the archive, or below `home/`.
        target: a file, or a stream that gets the content at the end.
        even_if_damaged: give what can be read of the file when something is wrong; see `Extracted.damage`.

    Raises:
        NotFound: the archive has no such file.
        InvalidValue: it is a folder or a link.
        Conflict: the target is there already.
        ArchiveDamaged, ArchiveForeign, ArchiveUnsupported, WrongKey, OSError: as the reader.
    """
    beside = target.parent if isinstance(target, Path) else archive.parent
    if isinstance(target, Path):
        refuse_existing(target, replace=replace)  # before the archive is read, not only after
    with ExitStack() as stack:
        partial = stack.enter_context(_partial(beside))
        found = _Search(name, partial)
        damage = None
        try:
            found.run(archive, keys, limits)
        except ArchiveDamaged as error:
            if not even_if_damaged or found.entry is None:
                raise
            damage = error
        entry = found.result(archive)
        _deliver(partial, entry, target, replace=replace)
    return Extracted(entry=entry, damage=damage)


def _partial(folder: Path) -> BinaryIO:
    """A file without a name where the target will be, or anywhere when nothing can be written there."""
    where = folder if os.access(folder, os.W_OK) else None
    return cast("BinaryIO", tempfile.TemporaryFile(dir=where))


class _Search:
    """Reads the whole archive, and keeps one file of it."""

    def __init__(self, name: str, partial: BinaryIO) -> None:
        self._names = (name, f"{HOME_ROOT}/{name}")
        self._partial = partial
        self.entry: Entry | None = None

    def run(self, path: Path, keys: Keys | None, limits: Limits | None) -> None:
        with open_archive(path, keys=keys, limits=limits) as archive:
            for entry, content in archive.members():
                # The exact name wins, whichever comes first.
                if entry.name == self._names[0] or (entry.name == self._names[1] and self.entry is None):
                    self._keep(entry, content)

    def _keep(self, entry: Entry, content: Content | None) -> None:
        self.entry = entry
        self._partial.seek(0)
        self._partial.truncate()
        if content is not None:
            shutil.copyfileobj(content, self._partial, _PIECE)

    def result(self, path: Path) -> Entry:
        if self.entry is None:
            hint = f"`hermes-state list {path}` shows what there is"
            raise NotFound(f"{path} has no member {self._names[0]!r}", hint=hint)
        if self.entry.kind is Kind.DIR:
            raise InvalidValue(f"{self.entry.name} is a folder", hint="`hermes-state restore --only` takes folders")
        if self.entry.kind is Kind.LINK:
            raise InvalidValue(f"{self.entry.name} is a link to {self.entry.target}")
        return self.entry


def _deliver(partial: BinaryIO, entry: Entry, target: Path | BinaryIO, *, replace: bool) -> None:
    partial.seek(0)
    if not isinstance(target, Path):
        shutil.copyfileobj(partial, target, _PIECE)
        return
    with appearing(target, replace=replace) as (file, named):
        shutil.copyfileobj(partial, file, _PIECE)
        file.flush()
        named.chmod(entry.mode & 0o777)
        os.utime(named, ns=(entry.mtime_ns, entry.mtime_ns))
        os.fsync(file.fileno())
