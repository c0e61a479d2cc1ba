"""Long texts are stored compressed: a BLOB in a text column is the zstd frame of the text that would stand there.

Half of a store's bytes are tool outputs of some kilobytes. Compressed they take about half (real ones a third), and
the row fits on one page instead of a chain of them. Short texts stay readable with any SQLite shell.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

from hermes_state.errors import StoreDamaged

# Texts below this many UTF-8 bytes are stored as they are: compressing them saves little and costs an append 10 µs.
PACK_ABOVE_BYTES = 1536
# 17 µs for a tool output of 4 KB; the default level takes 26 µs for 1 % less, higher ones 3 % for three times the time.
_LEVEL = 1

_contexts = threading.local()  # zstd contexts must not be shared between threads


def pack(text: str) -> str | bytes:
    """The text itself, or its zstd frame when that is worth it. The text must be one that UTF-8 can hold."""
    if len(text) * 3 < PACK_ABOVE_BYTES:  # no character of the BMP takes more than 3 bytes
        return text
    raw = text.encode()
    if len(raw) < PACK_ABOVE_BYTES:
        return text
    packed: bytes = _compressor().compress(raw)
    return packed if len(packed) < len(raw) * 0.9 else text


def unpack(stored: str | bytes) -> str:
    """The text that `pack` was given.

    Raises:
        StoreDamaged: these bytes are not what `pack` made any more.
    """
    if isinstance(stored, str):
        return stored
    try:
        text: str = _decompressor().decompress(stored).decode()
    except (_zstd_error(), UnicodeDecodeError) as error:
        raise StoreDamaged(f"a compressed text can't be read back: {error}", hint=_HINT) from error
    return text


_HINT = "`hermes-state db check` tells more, `db recover` salvages"


@cache
def _zstd_error() -> type[Exception]:
    import zstandard

    found: type[Exception] = zstandard.ZstdError
    return found


def _compressor() -> Any:
    if not hasattr(_contexts, "compressor"):
        import zstandard  # costs 5 ms; most commands never need it

        _contexts.compressor = zstandard.ZstdCompressor(level=_LEVEL)
    return _contexts.compressor


def _decompressor() -> Any:
    if not hasattr(_contexts, "decompressor"):
        import zstandard

        _contexts.decompressor = zstandard.ZstdDecompressor()
    return _contexts.decompressor
