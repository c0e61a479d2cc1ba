"""Putting a database into a repository of which only some pages are not as in its last version."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import wait
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability.repository import frames
from hermes_state.portability.repository.chunking import DATABASE_BYTES
from hermes_state.portability.repository.members import digest_of
from hermes_state.portability.repository.storing import Made, StoredContent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from hermes_state.portability.repository.frames import Encoder
    from hermes_state.portability.repository.index import Index
    from hermes_state.portability.repository.storing import ChunkStore

# Chunks that go to a thread together, and such lots that may wait: more only takes memory.
_TOGETHER, _WAITING = 4, 24
# A chunk with so many pages that changed takes as long as several others.
_MANY_PAGES = 16


class _Chunk(NamedTuple):
    """A chunk that is not as it was.

    Attributes:
        place: among the chunks.
        start, length: bytes of the database.
        old: what lay there; None: nothing did.
        pages: that changed.
    """

    place: int
    start: int
    length: int
    old: bytes | None
    pages: Sequence[int]


class Patching:
    """A database on its way into a repository: threads make the chunks that are not as they were.

    Args:
        content: a file with the pages that changed, at their places, and of the size of the whole.
        previous: the chunks of the last version, which the repository has.
        page_size: bytes of a page.
        pages: the numbers of those that changed, in order, from 1 on.
    """

    def __init__(
        self,
        store: ChunkStore,
        index: Index,
        content: Path,
        *,
        previous: Sequence[bytes],
        page_size: int,
        pages: Iterable[int],
    ) -> None:
        self._store, self._index, self._previous, self._page_size = store, index, previous, page_size
        self._waiting: deque[tuple[list[_Chunk], Future[list[Made]]]] = deque()
        self._names: list[bytes] = []
        self._is_damaged = False
        self._file = os.open(content, os.O_RDONLY)
        self._size = os.fstat(self._file).st_size
        self._changes = groupby(pages, lambda page: (page - 1) * page_size // DATABASE_BYTES)

    def begin(self) -> None:
        """Have all of them made.

        Raises:
            OSError: as the system says.
        """
        lot: list[_Chunk] = []
        for chunk in self._chunks():
            lot.append(chunk)
            if len(lot) == _TOGETHER or len(chunk.pages) >= _MANY_PAGES:
                self._submit(lot)
                lot = []
        if lot:
            self._submit(lot)

    def result(self) -> StoredContent | None:
        """What is stored, when all of it is on its way to the disk. None: the last version can't be read.

        Raises:
            OSError: as `begin`.
        """
        while self._waiting:
            self._collect()
        if self._is_damaged:
            return None
        return StoredContent(digest_of(self._names), self._size, tuple(self._names))

    def close(self) -> None:
        """Wait for the threads, whatever they make."""
        for _, future in self._waiting:
            future.cancel()
        wait([future for _, future in self._waiting])
        os.close(self._file)

    def _chunks(self) -> Iterator[_Chunk]:
        """The chunks that are not as they were; the names of the others are taken over."""
        changes = {place: [*pages] for place, pages in self._changes}
        for place, start in enumerate(range(0, self._size, DATABASE_BYTES)):
            length = min(DATABASE_BYTES, self._size - start)
            old = self._previous[place] if place < len(self._previous) else None
            is_as_it_was = place not in changes and old is not None and self._index.size(old) == length
            self._names.append(old if is_as_it_was and old is not None else b"")
            if not is_as_it_was:
                yield _Chunk(place, start, length, old, changes.get(place, ()))

    def _submit(self, lot: list[_Chunk]) -> None:
        self._waiting.append((lot, self._store.beside(self._made, lot)))
        if len(self._waiting) > _WAITING:
            self._collect()

    def _collect(self) -> None:
        """Put the chunks that have waited longest."""
        lot, future = self._waiting.popleft()
        try:
            found = future.result()
        except ArchiveDamaged:  # whoever asks for the result has all of the database read, and stored anew
            self._is_damaged = True
            return
        for chunk, made in zip(lot, found, strict=True):
            self._store.put_made(made)
            self._names[chunk.place] = made.id

    def _made(self, encoder: Encoder, lot: list[_Chunk]) -> list[Made]:
        return [self._one(encoder, chunk) for chunk in lot]

    def _one(self, encoder: Encoder, chunk: _Chunk) -> Made:
        before, bases = (b"", {}) if chunk.old is None else self._index.unfold(chunk.old)
        patched = bytearray(before[: chunk.length].ljust(chunk.length, b"\0"))
        for page in chunk.pages:
            start = (page - 1) * self._page_size
            raw = os.pread(self._file, self._page_size, start)
            patched[start - chunk.start : start - chunk.start + self._page_size] = raw
        content = bytes(patched)
        frame = encoder.encode(content, [*bases.values()])
        return Made(frames.digest(content), chunk.length, frame, (*bases,))
