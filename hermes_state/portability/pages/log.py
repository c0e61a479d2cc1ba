"""Which of a database's pages lie in its write-ahead log, read beside SQLite.

Formats: https://sqlite.org/fileformat2.html#the_write_ahead_log and https://sqlite.org/walformat.html.
"""

from __future__ import annotations

import os
import struct
import sys
from typing import NamedTuple, Self

from hermes_state.portability.pages.errors import Unfit

# The first 48 bytes of the log's index, which come twice: what is read below of them.
_HEADER_BYTES = 48
_VERSION = 3_007_000
_ORDER = "<" if sys.byteorder == "little" else ">"
# Version, unused, number of changes, whether it is made, order of checksums, bytes of a page, frames, pages.
_START = struct.Struct(f"{_ORDER}III??HII")
_COPIED = struct.Struct(f"{_ORDER}I")
_SALT = slice(32, 40)
# The log itself: its header, and the header before each page.
_LOG_HEADER_BYTES = 32
_FRAME = struct.Struct(">II8s8x")


class Moment(NamedTuple):
    """How far a log was written at one moment.

    Attributes:
        frames: committed, from the log's beginning.
        salt: of those frames.
        header: bytes that change with each commit.
        copied: of the frames, those that stand in the database's file too.
    """

    frames: int
    salt: bytes
    header: bytes
    copied: int

    @classmethod
    def of(cls, index: int, page_size: int) -> Self | None:
        """Read it from the log's index; None: a commit is just being written to it.

        Args:
            index: a descriptor of the `-shm` file.

        Raises:
            Unfit: the index is not as this program knows it.
        """
        raw = os.pread(index, 2 * _HEADER_BYTES + _COPIED.size, 0)
        if len(raw) < 2 * _HEADER_BYTES + _COPIED.size:
            raise Unfit("the log's index is cut off")
        header = raw[:_HEADER_BYTES]
        if header != raw[_HEADER_BYTES : 2 * _HEADER_BYTES]:
            return None
        version, _, _, is_made, _, size, frames, _ = _START.unpack_from(header)
        is_of_size = not frames or (65536 if size == 1 else size) == page_size  # an empty log has none yet
        if version != _VERSION or not is_made or not is_of_size:
            raise Unfit("the log's index is of another version")
        return cls(frames, header[_SALT], header, _COPIED.unpack_from(raw, 2 * _HEADER_BYTES)[0])

    @property
    def is_copied(self) -> bool:
        """Whether the database's file holds everything, and the log may be written anew by others."""
        return self.copied >= self.frames


def places(log: int, moment: Moment, page_size: int) -> dict[int, int]:
    """Where the log has the newest version of a page, by its number.

    Args:
        log: a descriptor of the `-wal` file, which nobody may begin anew meanwhile.

    Raises:
        Unfit: what stands there is not of this moment.
    """
    found = {}
    step = _FRAME.size + page_size
    for number in range(moment.frames):
        offset = _LOG_HEADER_BYTES + number * step
        raw = os.pread(log, _FRAME.size, offset)
        if len(raw) < _FRAME.size:
            raise Unfit("the log is shorter than its index says")
        page, _, salt = _FRAME.unpack(raw)
        if salt != moment.salt:
            raise Unfit("the log was begun anew")
        found[page] = offset + _FRAME.size
    return found
