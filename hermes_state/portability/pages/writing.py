"""The file of a copy, of which SQLite made the first pages."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, Self

from hermes_state.portability.pages.errors import Unfit

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from hermes_state.portability.pages.trace import Trace

# Of a database's header, where these numbers stand: its pages; the first free page and how many there are.
_COUNT_AT, _FREE_AT = 28, 32
_HEAD_BYTES = 100
_NUMBER, _PAIR = struct.Struct(">I"), struct.Struct(">II")
# Pages that wait to be written in their order: rows are read in another one.
TOGETHER = 256


class PageFile:
    """Pages that are written to a copy."""

    def __init__(self, target: Path, page_size: int) -> None:
        self._size = page_size
        self._waiting: list[tuple[int, bytes]] = []
        self._file = os.open(target, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def put(self, number: int, content: bytes) -> bool:
        """Write a page, soon; returns whether all were written that waited."""
        self._waiting.append((number, content))
        if len(self._waiting) < TOGETHER:
            return False
        self._flush()
        return True

    def finish(self, trace: Trace) -> list[int]:
        """Write what waits, and say in the header how many pages there are, and which of them are free.

        Returns:
            The pages that list those that are free.

        Raises:
            Unfit: SQLite left free pages.
        """
        self._flush()
        os.ftruncate(self._file, (trace.end - 1) * self._size)
        lists = trace.lists()
        for place, pages in enumerate(lists, 1):
            following = lists[place][0] if place < len(lists) else 0
            listed = struct.pack(f">{len(pages) + 1}I", following, len(pages) - 1, *pages[1:])
            self._write(listed, (pages[0] - 1) * self._size)
        head = bytearray(os.pread(self._file, _HEAD_BYTES, 0))
        if _PAIR.unpack_from(head, _FREE_AT) != (0, 0):
            raise Unfit("a new database with free pages")
        _NUMBER.pack_into(head, _COUNT_AT, trace.end - 1)
        _PAIR.pack_into(head, _FREE_AT, lists[0][0] if lists else 0, sum(map(len, lists)))
        self._write(bytes(head), 0)
        return [pages[0] for pages in lists]

    def _flush(self) -> None:
        """Write what waits: pages that lie beside each other together."""
        run: list[bytes] = []
        begin = 0
        for number, content in sorted(self._waiting):
            if number != begin + len(run):
                self._write(b"".join(run), (begin - 1) * self._size)
                run, begin = [], number
            run.append(content)
        self._write(b"".join(run), (begin - 1) * self._size)
        self._waiting = []

    def _write(self, content: bytes, offset: int) -> None:
        while content:
            written = os.pwrite(self._file, content, offset)
            content, offset = content[written:], offset + written
