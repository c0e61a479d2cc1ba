"""The compressing half of the zstd frame: threads, fixed head, bounded memory."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from hermes_state.portability.format import JOB_BYTES, MAX_THREADS, TRAILER_HEAD, WINDOW_LOG

if TYPE_CHECKING:
    from collections.abc import Callable

# [bytes] gathered before a call of zstd: headers and small files come in pieces of some hundred bytes.
_GATHER = 256 * 1024


class Compressor:
    """One frame.

    Args:
        sink: gets the compressed bytes.
        level: of zstd.
        threads: that compress; None: one per core, within bounds.
    """

    def __init__(self, sink: Callable[[bytes], object], level: int, threads: int | None = None) -> None:
        import zstandard  # 5 ms that a command which writes no archive need not pay

        parameters = zstandard.ZstdCompressionParameters.from_level(
            level,
            window_log=WINDOW_LOG,
            threads=min(threads or os.cpu_count() or 1, MAX_THREADS),
            job_size=JOB_BYTES,
            write_checksum=True,
            write_content_size=False,
        )
        self._compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
        self._sink = sink
        self._hash = hashlib.sha256()
        self._gathered = bytearray()

    def write(self, piece: bytes) -> None:
        """The next bytes of the content."""
        if len(self._gathered) + len(piece) < _GATHER:
            self._gathered += piece
            return
        if self._gathered:
            self._put(bytes(self._gathered))
            self._gathered.clear()
        self._put(piece)

    def finish(self) -> None:
        """End the frame, and put the trailer behind it."""
        self._put(bytes(self._gathered))
        self._gathered.clear()
        self._out(self._compressor.flush())
        self._sink(TRAILER_HEAD + self._hash.digest())

    def _out(self, compressed: bytes) -> None:
        self._hash.update(compressed)
        self._sink(compressed)

    def _put(self, piece: bytes) -> None:
        compressed = self._compressor.compress(piece)
        if compressed:
            self._out(compressed)
