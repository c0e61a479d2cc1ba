"""Packs: files of many stored chunks with a table at the end. A pack is named when it is whole, and never changed."""

from __future__ import annotations

import hashlib
import os
import struct
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.atomic import sync_dir
from hermes_state.errors import ArchiveDamaged
from hermes_state.portability.repository.frames import MAX_BASES, MAX_CHUNK_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

HEAD, TAIL = b"HSPACK1\n", b"HSTABL1\n"
SUFFIX = ".pack"
ID_BYTES = 32
# [bytes] from which on a pack is closed: few files for a large home, little to write anew for a small change.
FULL_BYTES = 32 * 1024 * 1024
# [bytes] a table may have: 900,000 chunks. A pack that is closed in time has some thousand.
_MAX_TABLE_BYTES = 64 * 1024 * 1024
_RECORD = struct.Struct("<32sIIB")
_LENGTH = struct.Struct("<I")
_END_BYTES = _LENGTH.size + hashlib.sha256().digest_size + len(TAIL)
# [bytes] read at a time when all of a pack is read.
_PIECE = 1024 * 1024


class Stored(NamedTuple):
    """A chunk in a pack.

    Attributes:
        id: SHA-256 of its content.
        offset, stored: where its frame is, and bytes of it.
        size: bytes of its content.
        bases: the chunks it is a difference to.
    """

    id: bytes
    offset: int
    stored: int
    size: int
    bases: tuple[bytes, ...] = ()


class PackWriter:
    """A pack in the making.

    Args:
        partial: the file to make; nothing may be there.
    """

    def __init__(self, partial: Path) -> None:
        self.partial = partial
        self.table: list[Stored] = []
        self._hash = hashlib.sha256()
        descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        self._file = os.fdopen(descriptor, "wb", buffering=_PIECE)
        self.size = 0
        self._put(HEAD)

    def add(self, chunk: bytes, frame: bytes, size: int, bases: Sequence[bytes] = ()) -> Stored:
        """Append a frame."""
        stored = Stored(chunk, self.size, len(frame), size, tuple(bases))
        self._put(frame)
        self.table.append(stored)
        return stored

    def publish(self, folder: Path) -> Path:
        """Close it, prove what was written, and give it its name.

        Raises:
            ArchiveDamaged: the disk does not give back what was written.
            OSError: as the system says; `discard` takes away what there is.
        """
        table = b"".join(_record(stored) for stored in self.table)
        self._put(table + _LENGTH.pack(len(table)) + hashlib.sha256(table).digest() + TAIL)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        name = self._hash.hexdigest()
        if digest_of(self.partial) != name:
            raise ArchiveDamaged(f"{self.partial} does not read back as it was written", code="pack")
        place = folder / name[:2] / f"{name}{SUFFIX}"
        if not place.parent.is_dir():
            place.parent.mkdir(mode=0o700, exist_ok=True)
            sync_dir(folder)
        self.partial.replace(place)
        sync_dir(place.parent)
        return place

    def discard(self) -> None:
        """Take away what there is."""
        try:
            self._file.close()
        finally:  # on a full disk, closing fails too
            self.partial.unlink(missing_ok=True)

    def _put(self, raw: bytes) -> None:
        self._file.write(raw)
        self._hash.update(raw)
        self.size += len(raw)


def packs_in(folder: Path) -> Iterator[Path]:
    """All packs, by name. What is no plain file there is none: a FIFO would never end to be read."""
    if not folder.is_dir():
        return
    for inner in sorted(folder.iterdir()):
        if not inner.is_dir() or inner.is_symlink():
            continue
        with os.scandir(inner) as entries:
            names = [one.name for one in entries if one.name.endswith(SUFFIX) and one.is_file(follow_symlinks=False)]
        yield from (inner / name for name in sorted(names))


def read_table(path: Path) -> list[Stored]:
    """What is in a pack, by its table.

    Raises:
        ArchiveDamaged: its start or its end is not that of a pack, or they do not fit each other.
        OSError: it can't be read.
    """
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size < len(HEAD) + _END_BYTES or _at(file.fileno(), 0, len(HEAD)) != HEAD:
            raise _damaged(path, "it is no pack, or cut off")
        end = _at(file.fileno(), size - _END_BYTES, _END_BYTES)
        length, digest = _LENGTH.unpack_from(end)[0], end[_LENGTH.size : -len(TAIL)]
        begin = size - _END_BYTES - length
        if not end.endswith(TAIL) or length > _MAX_TABLE_BYTES or begin < len(HEAD):
            raise _damaged(path, "it is cut off, or its end was changed")
        table = _at(file.fileno(), begin, length)
    if hashlib.sha256(table).digest() != digest:
        raise _damaged(path, "its table is not what was written")
    return _parsed(path, table, begin)


def read_frame(descriptor: int, stored: Stored, path: Path) -> bytes:
    """The bytes of a frame.

    Raises:
        ArchiveDamaged: the pack is shorter than it was.
    """
    frame = _at(descriptor, stored.offset, stored.stored)
    if len(frame) < stored.stored:
        raise _damaged(path, "it is cut off")
    return frame


def digest_of(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    found = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while piece := file.read(_PIECE):
            found.update(piece)
    return found.hexdigest()


def _at(descriptor: int, offset: int, size: int) -> bytes:
    pieces = []
    while size and (piece := os.pread(descriptor, size, offset)):
        pieces.append(piece)
        offset += len(piece)
        size -= len(piece)
    return b"".join(pieces)


def _record(stored: Stored) -> bytes:
    return _RECORD.pack(stored.id, stored.stored, stored.size, len(stored.bases)) + b"".join(stored.bases)


def _parsed(path: Path, table: bytes, begin: int) -> list[Stored]:
    """The records of a table; its digest fits, so what is wrong here was written so."""
    found: list[Stored] = []
    position, offset, length, head = 0, len(HEAD), len(table), _RECORD.size
    # As long as records have no bases, all are of one length; in most packs that is the whole table.
    for chunk, stored, size, number in _RECORD.iter_unpack(table[: length - length % head]):
        if number or not 0 < size <= MAX_CHUNK_BYTES:
            break
        found.append(Stored(chunk, offset, stored, size))
        offset += stored
        position += head
    while position < length:
        if position + head > length:
            raise _damaged(path, "its table ends within a record")
        chunk, stored, size, number = _RECORD.unpack_from(table, position)
        position += head
        bases: tuple[bytes, ...] = ()
        if number:
            begun, position = position, position + number * ID_BYTES
            bases = tuple([table[at : at + ID_BYTES] for at in range(begun, position, ID_BYTES)])
        if number > MAX_BASES or position > length or not 0 < size <= MAX_CHUNK_BYTES:
            raise _damaged(path, "its table lists what no pack can hold")
        found.append(Stored(chunk, offset, stored, size, bases))
        offset += stored
    if offset != begin:
        raise _damaged(path, "its table does not add up to its size")
    return found


def _damaged(path: Path, what: str) -> ArchiveDamaged:
    return ArchiveDamaged(
        f"{path} can't be used: {what}",
        code="pack",
        member=path.name,
        hint="`hermes-state repo check` tells all that is",
    )
