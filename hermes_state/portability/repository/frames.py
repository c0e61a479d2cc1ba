"""How one chunk is stored: as a zstd frame, alone or as a difference to other chunks."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability.repository import blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

# [bytes] no writer makes more than 1 MiB; readers leave room for one that does.
MAX_CHUNK_BYTES = 4 * 1024 * 1024
MAX_BASES = 3
# [log2 bytes] the bases and the content lie in one window.
_WINDOW_LOG = 24
# Of zstd, for differences. What matters is to find long matches anywhere in a megabyte of bases, so the table of
# positions is larger than the level's own (2^18 entries), and only matches of six bytes and more count. Level 3 as it
# is takes as long and gives thrice the bytes.
_DIFFERENCE_LEVEL, _HASH_LOG, _MIN_MATCH = 2, 18, 6
# A difference must be smaller than this part of the whole chunk's frame, since it keeps its bases alive.
_WORTHWHILE = 0.5
# Below this part of the content, a difference is surely worthwhile, and the whole is not even tried.
_SURELY = 1 / 16


class Frame(NamedTuple):
    """A stored chunk.

    Attributes:
        raw: the bytes.
        bases: of those it was made with, how many are needed: the first ones; none for a frame of its own.
    """

    raw: bytes
    bases: int = 0


def digest(content: bytes | memoryview) -> bytes:
    """The name of a chunk."""
    return hashlib.sha256(content).digest()


class Encoder:
    """Makes frames; one per thread, since its memory is used again.

    Args:
        level: of zstd, for whole chunks.
    """

    def __init__(self, level: int) -> None:
        import zstandard

        self._whole = zstandard.ZstdCompressor(level=level)

    def encode(self, content: bytes, bases: Sequence[bytes] = ()) -> Frame:
        """Compress a chunk, and prove that it comes back.

        Args:
            bases: content that may be much like it.

        Raises:
            ArchiveDamaged: it does not come back; the memory of this machine is not to be trusted.
        """
        frame = self._encode(content, bases)
        if decode(frame.raw, len(content), bases[: frame.bases]) != content:
            raise ArchiveDamaged("a chunk did not come back as it was when it was compressed", code="encode")
        return frame

    def _encode(self, content: bytes, bases: Sequence[bytes]) -> Frame:
        if not bases:
            return Frame(self._whole.compress(content))
        changed = blocks.difference(content, bases[0])
        if changed is not None and len(changed) < len(content) * _SURELY:
            return Frame(changed, bases=1)
        difference = _difference(content, bases)
        if len(difference) < len(content) * _SURELY:
            return Frame(difference, bases=len(bases))
        whole = self._whole.compress(content)
        is_worthwhile = len(difference) < len(whole) * _WORTHWHILE
        return Frame(difference, bases=len(bases)) if is_worthwhile else Frame(whole)


def _difference(content: bytes, bases: Sequence[bytes]) -> bytes:
    import zstandard

    parameters = zstandard.ZstdCompressionParameters.from_level(
        _DIFFERENCE_LEVEL,
        source_size=len(content),
        dict_size=sum(map(len, bases)),
        window_log=_WINDOW_LOG - 1,
        hash_log=_HASH_LOG,
        min_match=_MIN_MATCH,
    )
    dictionary = _dictionary(bases)
    return bytes(zstandard.ZstdCompressor(dict_data=dictionary, compression_params=parameters).compress(content))


def _dictionary(bases: Sequence[bytes]) -> Any:
    import zstandard

    return zstandard.ZstdCompressionDict(b"".join(bases), dict_type=zstandard.DICT_TYPE_RAWCONTENT)


def decode(raw: bytes, size: int, bases: Sequence[bytes] = ()) -> bytes:
    """The content of a frame.

    Args:
        size: bytes it must have, at most `MAX_CHUNK_BYTES`.
        bases: what it is a difference to.

    Raises:
        ArchiveDamaged: it does not decode to that size.
    """
    import zstandard

    if not size:
        raise ArchiveDamaged("a chunk without content", code="chunk")
    if raw.startswith(blocks.MARK):
        return _patched(raw, size, bases)
    try:
        said = zstandard.frame_content_size(raw)
        if said != size or size > MAX_CHUNK_BYTES:  # before anything of that size is allocated
            raise ArchiveDamaged(f"a chunk of {said} bytes, where {size} are listed", code="chunk")
        dictionary = _dictionary(bases) if bases else None
        decompressor = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=1 << _WINDOW_LOG)
        content: bytes = decompressor.decompress(raw, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise ArchiveDamaged(f"a chunk does not decompress: {error}", code="chunk") from error
    return content


def _patched(raw: bytes, size: int, bases: Sequence[bytes]) -> bytes:
    import zstandard

    if size > MAX_CHUNK_BYTES or len(bases) != 1:
        raise ArchiveDamaged("a difference of blocks is to one chunk", code="chunk")
    try:
        return blocks.patched(raw, size, bases[0])
    except zstandard.ZstdError as error:
        raise ArchiveDamaged(f"a chunk does not decompress: {error}", code="chunk") from error
