"""What an archive is made of: the fixed bytes, the records, the limits. `docs/archive-format.md` is the whole of it."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

FORMAT = "hermes-state-archive"
# The highest version this code reads, and the one it writes.
VERSION = 1
# A pack is the same container with other content: `docs/pack-format.md`.
PACK_FORMAT = "hermes-state-pack"
PACK_VERSION = 1
VERSIONS = {FORMAT: VERSION, PACK_FORMAT: PACK_VERSION}
SUFFIX, SUFFIX_ENCRYPTED = ".tar.zst", ".tar.zst.age"

# What a reader must know, by what it does. Restoring needs reading.
READ_FEATURES: frozenset[str] = frozenset()
RESTORE_FEATURES: frozenset[str] = frozenset({"rebuild-indexes"})
PACK_FEATURES: frozenset[str] = frozenset()

# --- members ------------------------------------------------------------------------------------------------------

MANIFEST, REPORT, DIGESTS = "manifest.json", "report.json", "digests.sha256"
OWN_MEMBERS = 3
# The roots that this version writes; a reader takes any that the manifest declares.
HOME_ROOT, EXTERNAL_ROOT = "home", "external"
# The roots of a pack.
SESSIONS, MEMORIES, CONFIG, SKILLS = PACK_ROOTS = ("sessions", "memories", "config", "skills")
# [mode bits] of our own members: they tell what a home holds, so nobody else reads them after `tar -x`.
OWN_MODE = 0o600
# [mode bits] that a header can hold.
MODE_MASK = 0o7777
LINK_MODE = 0o777

# --- zstd ---------------------------------------------------------------------------------------------------------

# Magic, frame header descriptor (checksum, no content size, no dictionary), window descriptor (8 MiB). Fixed, so that
# no bit of an archive is free to be flipped unseen.
FRAME_HEAD = bytes.fromhex("28b52ffd0468")
# [log2 bytes] 8 MiB: what the window descriptor says. Larger gains 1-2 % on databases and costs every reader memory.
WINDOW_LOG = 23
# [bytes] zstd's own bound for one block, compressed or not. So one step of decompression can't give more.
BLOCK_BYTES = 128 * 1024
# [bytes] of the XXH64 at the end of the frame.
CHECKSUM_BYTES = 4
# Behind the frame, a skippable frame (every zstd decoder passes over it) of 32 bytes: the SHA-256 of all bytes before.
# zstd's own checksum covers the content only, and some bits of its tables can be flipped without changing that.
TRAILER_HEAD = bytes.fromhex("502a4d18" + "20000000")
TRAILER_BYTES = len(TRAILER_HEAD) + 32
# zstd's default: 3 to 4 times as fast as level 9 for 10 % more bytes.
LEVEL = 3
# [bytes] that one thread compresses at a time. At least the window; larger only costs memory (each thread holds two).
JOB_BYTES = 8 * 1024 * 1024
# More threads than this gain nothing that a disk could take, and each takes 30 MB of the 200 MB we may use.
MAX_THREADS = 3

# --- tar ----------------------------------------------------------------------------------------------------------

BLOCK = 512
END_OF_TAR = bytes(2 * BLOCK)

# --- limits -------------------------------------------------------------------------------------------------------

# [bytes] what Linux (PATH_MAX, NAME_MAX) and every common file system can hold.
MAX_NAME_BYTES, MAX_COMPONENT_BYTES, MAX_TARGET_BYTES = 4096, 255, 4096
# [components] deeper than any real home; walking a tree must not exhaust a stack.
MAX_DEPTH = 128
# [bytes] two names of 4,096 bytes and the small fields.
MAX_PAX_BYTES = 16 * 1024
# [bytes] both are parsed in memory; a real one has some kilobytes.
MAX_JSON_BYTES = 16 * 1024 * 1024
# [seconds] twelve digits: some ten thousand years on both sides, more than any file system knows.
MAX_MTIME_S = 10**12
# [items] listed in each list of the report; what comes after is only counted.
MAX_LISTED = 10_000
# [items] findings and notices kept; what comes after is only counted.
MAX_FINDINGS = 1_000

GIB = 1024**3


class Limits(NamedTuple):
    """What a reader puts up with, checked before anything is allocated.

    Attributes:
        entries: members in all. each takes about 200 bytes of memory: 500,000 fit the 200 MB a reader may use.
        total_bytes: content in all. 16 TiB: nothing above is a home.
        ratio: content per byte of the file, above `ratio_from_bytes`. zstd makes 128 KiB of zeros from 4 bytes, so a
            bomb reaches 32,000; homes stay below 100. None: not checked.
        ratio_from_bytes: [bytes] of content that are let through whatever the ratio; nobody is hurt by 1 GiB.
    """

    entries: int = 1_000_000
    total_bytes: int = 16 * 1024 * GIB
    ratio: int | None = 1_000
    ratio_from_bytes: int = GIB

    def content_bytes(self, file_bytes: int) -> int:
        """The content that an archive of that size may have."""
        if self.ratio is None:
            return self.total_bytes
        return min(self.total_bytes, max(self.ratio_from_bytes, self.ratio * file_bytes))


# --- records ------------------------------------------------------------------------------------------------------


class Kind(enum.StrEnum):
    """What a member is; the value stands in `digests.sha256`."""

    FILE = "f"
    DIR = "d"
    LINK = "l"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One member of an archive.

    Attributes:
        name: with `/` between components, no slash at either end; bytes that are not UTF-8 as `surrogateescape` does.
        kind: file, folder or symbolic link.
        mode: permission bits, at most 07777. Links always have 0777.
        mtime_ns: nanoseconds since 1970 UTC; may be negative.
        size: bytes of content; 0 for folders and links. None: the writer finds out by reading.
        target: where a link points, unchanged.
        opener: for writing a file: gives its content, from the start. A reader leaves it None.
    """

    name: str
    kind: Kind = Kind.FILE
    mode: int = 0o600
    mtime_ns: int = 0
    size: int | None = 0
    target: str = ""
    opener: Callable[[], BinaryIO] | None = field(default=None, compare=False, repr=False)

    @property
    def root(self) -> str:
        """The first component: which root it belongs to."""
        return self.name.partition("/")[0]

    @property
    def length(self) -> int:
        """The size, once it is known."""
        assert self.size is not None
        return self.size


class Finding(NamedTuple):
    """Something a reader came upon.

    Attributes:
        code: stable name of the kind, e.g. `digest`, `truncated`, `name`.
        message: in words.
        member: the member it is about, if any.
    """

    code: str
    message: str
    member: str = ""

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {"code": self.code, "message": self.message, "member": self.member}
