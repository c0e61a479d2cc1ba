"""The zstd frame: read block by block, so that no step gives more than a block, and nothing of the file is unread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, BinaryIO

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability.digests import Lane
from hermes_state.portability.format import (
    BLOCK_BYTES,
    CHECKSUM_BYTES,
    FRAME_HEAD,
    TRAILER_BYTES,
    TRAILER_HEAD,
    WINDOW_LOG,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_RAW, _RLE, _COMPRESSED, _RESERVED = range(4)
_BLOCK_HEAD = 3  # bytes
# Bytes of the frame's head that may be wrong in a file that is still taken for ours, and called damaged.
_MAX_WRONG_HEAD = 1


def resembles_head(head: bytes) -> bool:
    """Whether these are the first bytes of an archive of ours, or nearly so."""
    return sum(a != b for a, b in zip(head, FRAME_HEAD, strict=True)) <= _MAX_WRONG_HEAD


def blocks(file: BinaryIO, head: bytes) -> Iterator[bytes]:
    """The content of the frame, in pieces of at most `BLOCK_BYTES`.

    Args:
        file: buffered, right behind the frame's head.
        head: which was read as this, and is taken for what it should be.

    Raises:
        ArchiveDamaged: the frame is cut off or does not decode, the trailer is not right, or more follows.
    """
    import zstandard

    decompressor = zstandard.ZstdDecompressor(max_window_size=1 << WINDOW_LOG).decompressobj(write_size=BLOCK_BYTES)
    decompressor.decompress(FRAME_HEAD)
    lane = Lane()  # hashes the file itself beside the decompression
    try:
        lane.update(head)
        last = False
        while not last:
            start = _taken(file, _BLOCK_HEAD)
            last = bool(start[0] & 1)
            block = start + _taken(file, _body(start))
            lane.update(block)
            yield _decoded(decompressor, block)
        checksum = _taken(file, CHECKSUM_BYTES)
        lane.update(checksum)
        yield _decoded(decompressor, checksum)
        if not decompressor.eof:
            raise ArchiveDamaged("the compressed frame does not end where it says", code="frame")
        if _taken(file, TRAILER_BYTES) != TRAILER_HEAD + bytes.fromhex(lane.finish()):
            raise ArchiveDamaged("a byte of the file is not as written, though all content is", code="file-digest")
    finally:
        lane.close()
    if file.read(1):
        raise ArchiveDamaged("bytes follow the end of the archive", code="trailing")


def _taken(file: BinaryIO, size: int) -> bytes:
    found = file.read(size)
    if len(found) < size:
        raise ArchiveDamaged("the file is cut off", code="truncated")
    return found


def _body(head: bytes) -> int:
    """Bytes of a block after its head."""
    value = int.from_bytes(head, "little")
    kind, size = value >> 1 & 3, value >> 3
    if kind == _RESERVED or size > BLOCK_BYTES:
        raise ArchiveDamaged("a compressed block has an impossible head", code="frame")
    return 1 if kind == _RLE else size


def _decoded(decompressor: Any, piece: bytes) -> bytes:
    from zstandard import ZstdError

    try:
        content: bytes = decompressor.decompress(piece)
    except ZstdError as error:
        raise ArchiveDamaged(f"the compressed data is damaged: {error}", code="frame") from error
    return content


class Ahead:
    """An iterator that runs in a thread, some pieces ahead of who reads them.

    What it raises is raised to the reader, after all that came before.
    """

    # [bytes] handed over at a time: a hand-over costs as much as decompressing 100 KB.
    _BATCH_BYTES = 1024 * 1024
    # [batches] waiting: enough to keep both sides at work, little enough to forget.
    _BATCHES = 4

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source = source
        self._queue: queue.Queue[list[bytes] | BaseException | None] = queue.Queue(self._BATCHES)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="decompress", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[bytes]:
        while (batch := self._queue.get()) is not None:
            if isinstance(batch, BaseException):
                raise batch
            yield from batch

    def close(self) -> None:
        """End the thread, wherever it is, and what it read from."""
        self._stopped.set()
        while self._thread.is_alive():
            while not self._queue.empty():
                self._queue.get_nowait()
            self._thread.join(timeout=0.01)
        if isinstance(self._source, Generator):
            self._source.close()

    def _work(self) -> None:
        end: BaseException | None = None
        batch: list[bytes] = []
        size = 0
        try:
            for piece in self._source:
                batch.append(piece)
                size += len(piece)
                if size >= self._BATCH_BYTES:
                    self._queue.put(batch)
                    batch, size = [], 0
                if self._stopped.is_set():
                    return
        except BaseException as error:  # noqa: BLE001  whatever it is, it is raised where the pieces are read
            end = error
        self._queue.put(batch)
        self._queue.put(end)


class Pieces:
    """Exact amounts out of pieces of any size.

    Args:
        source: the pieces.
        where: the member that is being read, for errors; whoever reads keeps it right.
    """

    def __init__(self, source: Iterator[bytes], where: str = "") -> None:
        self._source = source
        self.where = where
        self._rest = memoryview(b"")

    def take(self, size: int) -> bytes:
        """Exactly `size` bytes.

        Raises:
            ArchiveDamaged: the content ends before.
        """
        if len(self._rest) >= size:
            found, self._rest = self._rest[:size], self._rest[size:]
            return bytes(found)
        return b"".join(self.chunks(size))

    def chunks(self, size: int) -> Iterator[memoryview]:
        """The same without copying, in pieces as they come."""
        while size:
            piece = self.some(size)
            size -= len(piece)
            yield piece

    def some(self, most: int) -> memoryview:
        """At least one and at most `most` bytes."""
        while not self._rest:
            self._rest = memoryview(self._next())
        found, self._rest = self._rest[:most], self._rest[most:]
        return found

    def _next(self) -> bytes:
        try:
            return next(self._source)
        except StopIteration:
            raise ArchiveDamaged(f"the tar is cut off, in {self.where}", code="truncated", member=self.where) from None
        except ArchiveDamaged as error:
            raise ArchiveDamaged(f"{error.message}, in {self.where}", code=error.code, member=self.where) from error

    def end(self) -> None:
        """Read on to the end of the source.

        Raises:
            ArchiveDamaged: there is more content.
        """
        more = len(self._rest) + sum(len(piece) for piece in self._source)
        if more:
            raise ArchiveDamaged(f"{more} bytes follow the end of the tar", code="trailing")
