"""Putting content into a repository: cut, compared with what is there, compressed in threads, gathered into packs."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from threading import local
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability.digests import Lane
from hermes_state.portability.format import MAX_THREADS
from hermes_state.portability.repository import frames
from hermes_state.portability.repository.chunking import Cut, cut
from hermes_state.portability.repository.frames import MAX_BASES, Encoder, Frame
from hermes_state.portability.repository.lineup import Lineup, Paired, Piece, Places
from hermes_state.portability.repository.members import digest_of
from hermes_state.portability.repository.packs import FULL_BYTES, PackWriter
from hermes_state.portability.steps import reached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from types import TracebackType

    from hermes_state.portability.repository.index import Index
    from hermes_state.portability.repository.layout import Repository

T = TypeVar("T")

# [bytes] of content that wait for their compression; more only takes memory.
_WAITING_BYTES = 12 * 1024 * 1024
# [bytes] of small chunks that go to a thread together: a hand-over costs as much as compressing some.
_BATCH_BYTES = 256 * 1024
# [bytes] below which a chunk is stored whole: a difference would save less than it costs to keep its base.
_LEAST_DIFFERENCE = 8 * 1024


class StoredContent(NamedTuple):
    """Content that is in the repository.

    Attributes:
        digest: SHA-256 in hex.
        size: bytes.
        chunks: their names, in order.
    """

    digest: str
    size: int
    chunks: tuple[bytes, ...]


class _Task(NamedTuple):
    """A chunk that is to be compressed."""

    id: bytes
    content: bytes
    bases: tuple[bytes, ...]


class Made(NamedTuple):
    """A chunk that was compressed.

    Attributes:
        id: its name.
        size: bytes of its content.
        bases: with which it was; the frame says how many of them are needed.
    """

    id: bytes
    size: int
    frame: Frame
    bases: tuple[bytes, ...]


class ChunkStore:
    """Adds chunks to a repository. What was put is there when `finish` returns.

    Args:
        index: of the repository as it was; what is put now is remembered by name only.
        stage: a folder of this process in the repository.
        level: of zstd.
        threads: that compress; None: one per core, at most `format.MAX_THREADS`.
    """

    def __init__(
        self, repository: Repository, index: Index, stage: Path, *, level: int, threads: int | None = None
    ) -> None:
        self.added_chunks = self.added_bytes = self.new_content_bytes = 0
        self._packs, self._index, self._stage, self._level = repository.packs, index, stage, level
        self._pool = ThreadPoolExecutor(min(threads or os.cpu_count() or 1, MAX_THREADS), "compress")
        self._encoders = local()
        self._put: set[bytes] = set()
        self._batch: list[_Task] = []
        self._batch_bytes = 0
        self._waiting: deque[tuple[list[_Task], Future[list[Made]]]] = deque()
        self._waiting_bytes = 0
        self._pack: PackWriter | None = None
        self._lane = Lane()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._lane.close()
        if self._pack is not None:
            self._pack.discard()

    def put(
        self, read: Callable[[int], bytes], previous: Sequence[bytes] = (), *, is_hashed_whole: bool = True
    ) -> StoredContent:
        """Store content.

        Args:
            read: gives at most so many bytes of it, and none at its end.
            previous: the chunks of its last version.
            is_hashed_whole: else its digest is `members.digest_of`.

        Raises:
            OSError: of `read`, or of the repository.
            ArchiveDamaged: what is written does not come back.
        """
        return self.put_chunks(cut(read), previous, is_hashed_whole=is_hashed_whole)

    def put_chunks(
        self, content: Cut, previous: Sequence[bytes] = (), *, is_hashed_whole: bool = True
    ) -> StoredContent:
        """The same, of content that was cut already; no piece may be larger than `chunking.MAX_BYTES`."""
        lineup = Places(previous) if content.is_placed else Lineup(self._sized(previous))
        names: list[bytes] = []
        size = 0
        for piece in self._hashed(content.chunks) if is_hashed_whole else content.chunks:
            name = frames.digest(piece)
            names.append(name)
            size += len(piece)
            for paired in lineup.take(Piece(name, len(piece), piece if self._is_new(name) else None)):
                self._queue(paired)
        for paired in lineup.end():
            self._queue(paired)
        if not is_hashed_whole:
            digest = digest_of(names)
        elif len(names) > 1:
            digest = self._lane.finish()
        else:
            digest = names[0].hex() if names else hashlib.sha256().hexdigest()
        return StoredContent(digest, size, tuple(names))

    def beside(self, make: Callable[[Encoder, T], list[Made]], of: T) -> Future[list[Made]]:
        """Have chunks made by a thread that compresses; they are put with `put_made`."""
        return self._pool.submit(lambda: make(self._encoder(), of))

    def put_made(self, made: Made) -> None:
        """Store a chunk that was compressed already.

        Raises:
            OSError: of the repository.
        """
        if self._is_new(made.id):
            self._write(made)

    def _is_new(self, name: bytes) -> bool:
        """Whether a chunk is neither there nor was put; it counts as put from now on."""
        if name in self._index or name in self._put:
            return False
        self._put.add(name)
        return True

    def _sized(self, chunks: Sequence[bytes]) -> list[tuple[bytes, int]]:
        """Those chunks that are there, and bytes of their content."""
        return [(chunk, self._index.places[chunk].stored.size) for chunk in chunks if chunk in self._index]

    def finish(self) -> None:
        """Write everything that was put to the disk."""
        self._submit()
        while self._waiting:
            self._collect()
        self._publish()

    # --- compressing --------------------------------------------------------------------------------------------

    def _hashed(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The chunks; those of content with more than one are hashed as a whole beside."""
        first = next(pieces, None)
        if first is None:
            return
        yield first
        for number, piece in enumerate(pieces):
            if not number:
                self._lane.update(first)
            self._lane.update(piece)
            yield piece

    def _queue(self, paired: Paired) -> None:
        is_small = len(paired.content) < _LEAST_DIFFERENCE
        self._batch.append(_Task(paired.id, paired.content, () if is_small else self._bases(paired.old)))
        self._batch_bytes += len(paired.content)
        if self._batch_bytes >= _BATCH_BYTES:
            self._submit()

    def _bases(self, old: Sequence[bytes]) -> tuple[bytes, ...]:
        """Whole chunks instead of old ones that are differences themselves."""
        found: dict[bytes, None] = {}
        for chunk in old:
            place = self._index.places.get(chunk)
            if place is not None:
                found.update(dict.fromkeys(place.stored.bases or (chunk,)))
        return tuple(found)[:MAX_BASES]

    def _submit(self) -> None:
        if not self._batch:
            return
        batch, self._batch = self._batch, []
        self._waiting.append((batch, self._pool.submit(self._encoded, batch)))
        self._waiting_bytes += self._batch_bytes
        self._batch_bytes = 0
        while self._waiting_bytes > _WAITING_BYTES:
            self._collect()

    def _encoder(self) -> Encoder:
        """That of this thread."""
        encoder: Encoder | None = getattr(self._encoders, "encoder", None)
        if encoder is None:
            encoder = self._encoders.encoder = Encoder(self._level)
        return encoder

    def _encoded(self, batch: list[_Task]) -> list[Made]:
        encode = self._encoder().encode
        return [
            Made(task.id, len(task.content), encode(task.content, self._readable(task.bases)), task.bases)
            for task in batch
        ]

    def _readable(self, bases: Sequence[bytes]) -> list[bytes]:
        """The content of bases; none where one is damaged, so that what is new does not suffer from it."""
        try:
            return [self._index.read(base) for base in bases]
        except ArchiveDamaged:
            return []

    # --- packs --------------------------------------------------------------------------------------------------

    def _collect(self) -> None:
        """Write the batch that has waited longest."""
        batch, future = self._waiting.popleft()
        self._waiting_bytes -= sum(len(task.content) for task in batch)
        for made in future.result():
            self._write(made)

    def _write(self, made: Made) -> None:
        if self._pack is None:
            self._pack = PackWriter(self._stage / f"{uuid.uuid4().hex}.pack")
        frame = made.frame
        self._pack.add(made.id, frame.raw, made.size, made.bases[: frame.bases])
        self.added_chunks += 1
        self.added_bytes += len(frame.raw)
        self.new_content_bytes += made.size
        if self._pack.size >= FULL_BYTES:
            self._publish()

    def _publish(self) -> None:
        if self._pack is None:
            return
        reached("pack written")
        self._pack.publish(self._packs)
        self._pack = None
        reached("pack published")
