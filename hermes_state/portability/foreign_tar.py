"""Reads the tar.gz files that `hermes profile export` makes.

They hold a checksum of the stream and no digest, so they can be readable, never proven. Nothing is extracted by
`tarfile`: it only finds the members.
"""

from __future__ import annotations

import gzip
import tarfile
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from hermes_state.errors import ArchiveDamaged, ArchiveForeign
from hermes_state.portability import names
from hermes_state.portability.foreign_content import ForeignContent
from hermes_state.portability.foreign_names import ForeignNames
from hermes_state.portability.format import MAX_PAX_BYTES, Kind, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_state.portability.format import Entry

NOTICE = "a profile export of Hermes: it carries one checksum and no digests, so nothing proves that it is unchanged"
# [bytes] read at a time.
_PIECE = 1024 * 1024
_ERRORS = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError, OverflowError)


class _Bounded:
    """The decompressed stream. `tarfile` reads long names whole, however long they say they are."""

    def __init__(self, stream: gzip.GzipFile, most: int) -> None:
        self._stream = stream
        self._most = most

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= max(_PIECE, MAX_PAX_BYTES):
            raise ArchiveDamaged("a tar header is larger than any name", code="header")
        if self._stream.tell() + size > self._most:
            raise ArchiveDamaged("it would become larger than it may", code="bomb")
        return self._stream.read(size)

    def seek(self, position: int) -> int:
        if position > self._most:
            raise ArchiveDamaged("it would become larger than it may", code="bomb")
        return self._stream.seek(position)

    def tell(self) -> int:
        return self._stream.tell()


class ForeignTar:
    """An open profile export.

    Attributes:
        notices: what whoever restores it must know.
    """

    kind = "hermes-profile"

    def __init__(self, path: Path, stream: gzip.GzipFile, limits: Limits, size: int) -> None:
        self.path = path
        self.size = size
        self.notices = [NOTICE]
        self._stream = stream
        self._limits = limits

    def members(self) -> Iterator[tuple[Entry, BinaryIO | None]]:
        """As `reader.Archive.members`.

        Raises:
            ArchiveDamaged: a name is refused, a member is no file or folder, or it does not decompress.
            ArchiveForeign: it is no profile.
        """
        # Headers come on top of the content: twice a block for each of the entries that may be.
        most = self._limits.content_bytes(self.size) + self._limits.entries * 4 * tarfile.BLOCKSIZE
        bounded = _Bounded(self._stream, most)
        with self._opened(bounded) as tar:
            yield from self._all(tar)
        with _translated(str(self.path)):
            while bounded.read(_PIECE):  # the checksum stands at the end
                pass

    @contextmanager
    def _opened(self, bounded: _Bounded) -> Iterator[tarfile.TarFile]:
        try:
            tar = tarfile.open(fileobj=cast("BinaryIO", bounded), mode="r:")  # noqa: SIM115  closed below
        except _ERRORS as error:
            raise ArchiveForeign(str(self.path), f"a gzip file, and no tar in it: {error}") from error
        with tar:
            yield tar

    def _all(self, tar: tarfile.TarFile) -> Iterator[tuple[Entry, BinaryIO | None]]:
        found: ForeignNames | None = None
        while (info := self._next(tar)) is not None:
            if found is None:
                found = ForeignNames(_top(info), self._limits, self.size)
            for entry in _entries(info, found):
                if entry.kind is Kind.DIR:
                    yield entry, None
                    continue
                extracted = tar.extractfile(info)
                assert extracted is not None  # it is a file
                content = ForeignContent(extracted, entry, _ERRORS)
                yield entry, cast("BinaryIO", content)
                content.skip()
        if found is None:
            raise ArchiveForeign(str(self.path), "an empty tar file")

    @staticmethod
    def _next(tar: tarfile.TarFile) -> tarfile.TarInfo | None:
        with _translated("the next member"):
            info = tar.next()
        tar.members = []  # type: ignore[attr-defined]  # it would keep all of them
        return info


@contextmanager
def open_tar(path: Path, limits: Limits | None = None) -> Iterator[ForeignTar]:
    """Open a profile export of the peer."""
    with gzip.open(path, "rb") as stream:
        yield ForeignTar(path, stream, limits or Limits(), path.stat().st_size)


def _entries(info: tarfile.TarInfo, found: ForeignNames) -> Iterator[Entry]:
    if info.issparse() or not (info.isreg() or info.isdir()) or info.size < 0:
        raise ArchiveDamaged("a member is no file or folder", code="type", member=info.name)
    with _translated(info.name):
        mtime_ns = int(info.mtime * 10**9)  # a pax header can say `nan`
    size = 0 if info.isdir() else info.size
    return found.entries(info.name, is_folder=info.isdir(), mode=info.mode, mtime_ns=mtime_ns, size=size)


def _top(info: tarfile.TarInfo) -> str:
    """The folder that is the profile: all members lie in it."""
    top, slash, _ = info.name.partition("/")
    if not slash and not info.isdir():
        raise ArchiveForeign(info.name, "a tar file that is not one folder, as a profile is")
    wrong = names.fault(top)
    if wrong is not None:
        raise ArchiveDamaged(f"a name is refused: it {wrong}", code="name", member=info.name)
    return top


@contextmanager
def _translated(member: str) -> Iterator[None]:
    try:
        yield
    except _ERRORS as error:
        raise ArchiveDamaged(f"the tar file is damaged: {error}", code="tar", member=member) from error
