"""A chunk as a difference to another in which most blocks are the same and at the same place, as in a database's file.

Only the blocks that changed are compressed, each with what lay there before as its dictionary. So the cost is that of
what changed, where zstd would look for matches in all of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_state.errors import ArchiveDamaged

if TYPE_CHECKING:
    from collections.abc import Iterable

MARK = b"HSB1"
# [bytes] of a block: SQLite's page, unless somebody chose another.
BLOCK = 4096
_LEVEL = 3
# Above this part of changed blocks, another way may well be better.
_MOST_CHANGED = 1 / 2


def difference(content: bytes, base: bytes) -> bytes | None:
    """What changed from `base` to `content`; None: too much did."""
    import zstandard

    same = [content[at : at + BLOCK] == base[at : at + BLOCK] for at in range(0, len(content), BLOCK)]
    changed = [number for number, is_same in enumerate(same) if not is_same]
    if len(changed) > len(same) * _MOST_CHANGED:
        return None
    compressor = zstandard.ZstdCompressor(level=_LEVEL, dict_data=_dictionary(base, changed))
    flags = sum(1 << number for number in changed).to_bytes(_flag_bytes(len(content)), "little")
    return bytes(MARK + flags + compressor.compress(_blocks(content, changed)))


def patched(raw: bytes, size: int, base: bytes) -> bytes:
    """The content of a difference.

    Args:
        size: bytes it must have.

    Raises:
        ArchiveDamaged: it does not give that.
    """
    import zstandard

    start = len(MARK) + _flag_bytes(size)
    flags = int.from_bytes(raw[len(MARK) : start], "little")
    changed = [number for number in range(-(-size // BLOCK)) if flags >> number & 1]
    expected = sum(min(BLOCK, size - number * BLOCK) for number in changed)
    if len(raw) < start or zstandard.frame_content_size(raw[start:]) != expected:
        raise ArchiveDamaged("a difference of other blocks than it lists", code="chunk")
    decompressor = zstandard.ZstdDecompressor(dict_data=_dictionary(base, changed))
    blocks: bytes = decompressor.decompress(raw[start:], allow_extra_data=False)
    content = bytearray(base[:size].ljust(size, b"\0"))
    for place, number in enumerate(changed):
        content[number * BLOCK : (number + 1) * BLOCK] = blocks[place * BLOCK : (place + 1) * BLOCK]
    return bytes(content)


def _flag_bytes(size: int) -> int:
    return -(-size // (BLOCK * 8))


def _blocks(content: bytes, numbers: Iterable[int]) -> bytes:
    return b"".join(content[number * BLOCK : (number + 1) * BLOCK] for number in numbers)


def _dictionary(base: bytes, changed: Iterable[int]) -> Any:
    """What lay where something changed; None: nothing did."""
    import zstandard

    before = _blocks(base, changed)
    return zstandard.ZstdCompressionDict(before, dict_type=zstandard.DICT_TYPE_RAWCONTENT) if before else None
