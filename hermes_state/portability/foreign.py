"""What a file that is no archive of ours looks like, by its first bytes."""

from __future__ import annotations

from hermes_state.errors import ArchiveForeign
from hermes_state.portability import crypt

# [bytes] that are looked at; the mark of a tar is at 257.
HEAD_BYTES = 512
ZIP, GZIP, ZSTD = b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_EMPTY_ZIP = b"PK\x05\x06"
_MARKS = (
    (ZIP, "a zip file", "Hermes makes such backups; `hermes-state restore` reads them"),
    (_EMPTY_ZIP, "an empty zip file", ""),
    (GZIP, "a gzip file", "Hermes exports profiles so; `hermes-state restore` reads them"),
    (ZSTD, "a zstd file of another kind", ""),
    (b"SQLite format 3\0", "a SQLite database", "a store is checked with `hermes-state db check`"),
    (b"BZh", "a bzip2 file", ""),
    (b"\xfd7zXZ\0", "an xz file", ""),
)


def is_zip(head: bytes) -> bool:
    """Whether a file that starts so is a zip file."""
    return head.startswith((ZIP, _EMPTY_ZIP))


def is_gzip(head: bytes) -> bool:
    """Whether it is a gzip file."""
    return head.startswith(GZIP)


def error(path: str, head: bytes) -> ArchiveForeign:
    """The error for a file that starts so."""
    if crypt.is_armoured(head):
        return ArchiveForeign(path, "an age file in text form", hint="take the armour off: `age -d … | …` or `dearmor`")
    for mark, what, hint in _MARKS:
        if head.startswith(mark):
            return ArchiveForeign(path, what, hint=hint)
    if head[257:262] == b"ustar":
        return ArchiveForeign(path, "a tar file without compression")
    return ArchiveForeign(path, "nothing that this program knows")
