"""Reads the zip files that `hermes backup` makes.

They hold a CRC-32 of each member and no digest, so they can be readable, never proven. Nothing is extracted by
`zipfile`: it only lists and decompresses.
"""

from __future__ import annotations

import io
import stat
import time
import zipfile
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from hermes_state.errors import ArchiveDamaged, ArchiveForeign
from hermes_state.portability.foreign_content import ForeignContent
from hermes_state.portability.foreign_names import ForeignNames
from hermes_state.portability.format import Kind, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_state.portability.format import Entry

NOTICE = "a zip backup of Hermes: it carries checksums (CRC-32) and no digests, so nothing proves that it is unchanged"
# One of them is in every home that was ever used.
_SIGNS = frozenset({"config.yaml", ".env", "state.db", "SOUL.md"})
_TOP_FOLDERS = (".hermes", "hermes")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what the peer writes; others cost memory that nobody bounds
_ENCRYPTED = 0x1
# [bytes] of the list of members, which `zipfile` reads at once: a million members of 100 bytes and more.
_MAX_LIST_BYTES = 128 * 1024 * 1024
# [bytes] the record at the end and the longest comment behind it.
_END_BYTES = 22 + 65535
_FILE_MODE, _FOLDER_MODE = 0o600, 0o700
_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, RuntimeError)


class ForeignZip:
    """An open zip backup.

    Attributes:
        notices: what whoever restores it must know.
    """

    kind = "hermes-zip"

    def __init__(self, path: Path, zipped: zipfile.ZipFile, limits: Limits, size: int) -> None:
        self.path = path
        self.size = size
        self.notices = [NOTICE]
        self._zipped = zipped
        self._limits = limits

    def members(self) -> Iterator[tuple[Entry, BinaryIO | None]]:
        """As `reader.Archive.members`. A content that is wrong raises when it is read to its end.

        Raises:
            ArchiveDamaged: a name is refused, a member is no file or folder, or it does not decompress.
        """
        infos = self._zipped.infolist()
        prefix = _prefix([info.filename for info in infos])
        if not any(info.filename.removeprefix(f"{prefix}/") in _SIGNS for info in infos):
            raise ArchiveForeign(str(self.path), "a zip file that holds no Hermes home")
        found = ForeignNames(prefix, self._limits, self.size)
        for info in infos:
            _check_kind(info)
            attributes = info.external_attr >> 16
            mode = stat.S_IMODE(attributes) or (_FOLDER_MODE if info.is_dir() else _FILE_MODE)
            folders_and_it = found.entries(
                info.orig_filename, is_folder=info.is_dir(), mode=mode, mtime_ns=_mtime_ns(info), size=info.file_size
            )
            for entry in folders_and_it:
                if entry.kind is Kind.DIR:
                    yield entry, None
                else:
                    yield from self._file(entry, info)

    def _file(self, entry: Entry, info: zipfile.ZipInfo) -> Iterator[tuple[Entry, BinaryIO]]:
        with _translated(info.filename):
            content = self._zipped.open(info)
        with content:
            checked = ForeignContent(content, entry, _ERRORS)
            yield entry, cast("BinaryIO", checked)
            checked.skip()


@contextmanager
def open_zip(path: Path, limits: Limits | None = None) -> Iterator[ForeignZip]:
    """Open a zip backup of the peer.

    Raises:
        ArchiveDamaged: its list of members can't be read.
        ArchiveForeign: it is no zip file.
    """
    limits = limits or Limits()
    with path.open("rb") as file, _translated(str(path)):
        _bound_list(file)
        zipped = zipfile.ZipFile(file)
        with zipped:
            if sum(info.compress_size for info in zipped.infolist()) > (size := path.stat().st_size):
                raise ArchiveDamaged("its members are larger than the file: they overlap", code="bomb")
            yield ForeignZip(path, zipped, limits, size)


def _bound_list(file: BinaryIO) -> None:
    """Refuse a list of members that would fill the memory, before `zipfile` reads it."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _END_BYTES))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    listed = int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0
    # A list of 4 GiB and more is told of elsewhere (zip64), with all bits set here.
    if listed > _MAX_LIST_BYTES:
        raise ArchiveDamaged("its list of members is larger than any home has", code="bomb")


def _prefix(all_names: list[str]) -> str:
    """The top folder that all members lie in, when it is one that the peer takes off."""
    tops = {name.partition("/")[0] for name in all_names}
    return next((top for top in _TOP_FOLDERS if tops == {top}), "")


def _check_kind(info: zipfile.ZipInfo) -> None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    wanted = stat.S_IFDIR if info.is_dir() else stat.S_IFREG
    if kind not in (0, wanted):
        raise ArchiveDamaged("a member is no file or folder", code="type", member=info.filename)
    if info.flag_bits & _ENCRYPTED:
        raise ArchiveDamaged("a member is encrypted", code="type", member=info.filename)
    if info.compress_type not in _METHODS:
        raise ArchiveDamaged("a member is compressed in a way that Hermes does not use", code="type")


def _mtime_ns(info: zipfile.ZipInfo) -> int:
    """Zip files hold local time, in steps of two seconds."""
    try:
        return int(time.mktime((*info.date_time, 0, 0, -1))) * 10**9
    except (ValueError, OverflowError):  # the 31st of February: any 32 bits can stand there
        return 0


@contextmanager
def _translated(member: str) -> Iterator[None]:
    try:
        yield
    except _ERRORS as error:
        raise ArchiveDamaged(f"the zip file is damaged: {error}", code="zip", member=member) from error
