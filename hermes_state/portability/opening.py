"""Any archive that can be restored, in one shape: ours, and the two kinds that the peer makes."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from hermes_state.errors import ArchiveForeign
from hermes_state.portability import foreign
from hermes_state.portability.foreign_tar import open_tar
from hermes_state.portability.foreign_zip import open_zip
from hermes_state.portability.format import FORMAT, HOME_ROOT, Limits
from hermes_state.portability.reader import Archive, open_archive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_state.portability.content import Content
    from hermes_state.portability.crypt import Keys
    from hermes_state.portability.foreign_tar import ForeignTar
    from hermes_state.portability.foreign_zip import ForeignZip
    from hermes_state.portability.format import Entry


class Source:
    """An archive that is being restored.

    Attributes:
        path, size: the file and its bytes.
        kind: `hermes-state`, `hermes-zip` or `hermes-profile`.
        is_proven: it carries digests; they have been compared when its members were read to the end.
        notices: what a person must know of it.
        facts: of the manifest; empty for archives of others.
        roots: name to the folder it was read from.
    """

    def __init__(self, archive: Archive | ForeignZip | ForeignTar) -> None:
        self._archive = archive
        self.path, self.size = archive.path, archive.size
        self.is_proven = isinstance(archive, Archive)
        if isinstance(archive, Archive):
            if archive.manifest.format != FORMAT:
                raise ArchiveForeign(str(archive.path), "a pack", hint="`hermes-state unpack` brings in what it holds")
            archive.manifest.check_restorable()
            self.kind, self.notices = "hermes-state", []
            self.facts, self.roots = dict(archive.manifest.facts), dict(archive.manifest.roots)
        else:
            self.kind, self.notices = archive.kind, list(archive.notices)
            self.facts, self.roots = {}, {}

    def members(self) -> Iterator[tuple[Entry, Content | BinaryIO | None]]:
        """Every member, in order. When the loop has ended, everything was proven that can be."""
        yield from self._archive.members()

    def position(self) -> int:
        """Bytes of the file that were read, about; 0 where that can't be told."""
        return self._archive.position() if isinstance(self._archive, Archive) else 0

    @property
    def is_partial(self) -> bool:
        """Whether the backup says that something is missing in it."""
        report = self._archive.report if isinstance(self._archive, Archive) else None
        return report is not None and report.is_partial

    @property
    def databases(self) -> dict[str, Any]:
        """What the manifest says of databases in the home, by path in the home."""
        found = self.facts.get("databases")
        pairs = found.items() if isinstance(found, dict) else ()
        prefix = f"{HOME_ROOT}/"
        return {
            name.removeprefix(prefix): about
            for name, about in pairs
            if name.startswith(prefix) and isinstance(about, dict)
        }

    @property
    def secrets(self) -> dict[str, list[str]]:
        """What was taken out because it was secret: settings by file, and whole files under their names."""
        found = self.facts.get("secrets")
        if not isinstance(found, dict):
            return {}
        result = {}
        redacted = found.get("redacted")
        for name, keys in redacted.items() if isinstance(redacted, dict) else ():
            result[str(name)] = [str(key) for key in keys] if isinstance(keys, list) else []
        for name in found.get("left_out") or ():
            result[str(name)] = []
        return result


@contextmanager
def open_any(path: Path, *, keys: Keys | None = None, limits: Limits | None = None) -> Iterator[Source]:
    """Open an archive of any kind that can be restored.

    Raises:
        ArchiveForeign, ArchiveDamaged, ArchiveUnsupported, WrongKey, OSError: as the readers say.
    """
    with ExitStack() as stack:
        archive: Archive | ForeignZip | ForeignTar
        head = _head(path)
        if foreign.is_zip(head):
            archive = stack.enter_context(open_zip(path, limits))
        elif foreign.is_gzip(head):
            archive = stack.enter_context(open_tar(path, limits))
        else:
            archive = stack.enter_context(open_archive(path, keys=keys, limits=limits))
        yield Source(archive)


def _head(path: Path) -> bytes:
    if not path.is_file():  # the reader says what is wrong, and opening a FIFO would wait for ever
        return b""
    with path.open("rb") as file:
        return file.read(foreign.HEAD_BYTES)
