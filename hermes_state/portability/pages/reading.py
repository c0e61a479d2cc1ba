"""The pages of a database that others may be writing to, as they are at one moment.

SQLite gives the moment: a connection holds a read transaction, so that nobody overwrites what was true when it began.
In rollback mode the file then stays as it is. In WAL mode the file only gets pages that stand in the log too, and the
log is not begun anew as long as it holds pages that the file has not; see `log.Moment`.

Closing a descriptor of a file drops all locks of the process on it. So what is opened here is closed after the
connection, and a process that has the database open for itself must not come here (see `portability.apart`).
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any

import xxhash

from hermes_state.portability.pages import log
from hermes_state.portability.pages.errors import Unfit
from hermes_state.portability.pages.log import Moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_MAGIC = b"SQLite format 3\0"
_HEAD_BYTES = 100
# In the header: versions of the format for writing and reading; 2 is WAL mode.
_MODES = {b"\1\1": False, b"\2\2": True}
# How often a moment is looked for between the commits of a busy writer.
_TRIES = 200
# Pages that are read ahead together, and those between two of them that may as well be read. To ask for a page costs
# as much as to read it from the cache, so it is only done where pages take longer than any cache does. [s]
_AHEAD, _GAP, _SLOW_S = 1024, 8, 20e-6
_NO_PAGE = 1 << 40
_BEGIN = "SELECT count(*) FROM sqlite_master"


class Pages:
    """The pages of one moment.

    Args:
        file, wal: descriptors; `wal` is -1 where the file holds everything.
        size: bytes of a page.
        newer: where `wal` has newer versions of pages, by number.
        connection: that holds the moment.

    Attributes:
        count: pages of the database.
        head: the first 100 bytes of the database.
        connection: that holds the moment; reading pages does not use it.
    """

    def __init__(self, file: int, wal: int, size: int, newer: dict[int, int], connection: Any) -> None:
        self.connection = connection
        self.size, self.count = size, int(connection.execute("PRAGMA page_count").fetchone()[0])
        self._file, self._wal, self._newer = file, wal, newer
        self.head = self.page(1)[:_HEAD_BYTES]

    def page(self, number: int) -> bytes:
        """The content of a page.

        Raises:
            Unfit: there is no such page.
        """
        if not 0 < number <= self.count:
            raise Unfit(f"page {number} of {self.count}")
        place = self._newer.get(number) if self._newer else None
        try:
            if place is None:
                content = os.pread(self._file, self.size, (number - 1) * self.size)
            else:
                content = os.pread(self._wal, self.size, place)
        except OSError as error:
            raise Unfit(f"page {number} can't be read: {error}") from error
        if len(content) < self.size:
            raise Unfit(f"page {number} is cut off")
        return content

    def prints(self, numbers: Sequence[int], seed: int) -> list[int]:
        """The fingerprints of pages; of those that are not there, what no page has but by chance.

        Args:
            numbers: 0 stands for no page, whose fingerprint is 0.
        """
        pread, file, size, newer = os.pread, self._file, self.size, self._newer
        digest = xxhash.xxh3_64_intdigest
        found: list[int] = []
        is_slow = False
        try:
            for start in range(0, len(numbers), _AHEAD):
                some = numbers[start : start + _AHEAD]
                if is_slow:
                    self.expect(filter(None, some))
                began = time.perf_counter()
                found += [digest(pread(file, size, (n - 1) * size), seed) if n else 0 for n in some]
                is_slow = time.perf_counter() - began > len(some) * _SLOW_S
            for place, number in enumerate(numbers) if newer else ():
                if number in newer:
                    found[place] = fingerprint(pread(self._wal, size, newer[number]), seed)
        except OSError as error:
            raise Unfit(f"pages can't be read: {error}") from error
        return found

    def expect(self, numbers: Iterable[int]) -> None:
        """Say which pages will be asked for soon: where nothing is cached, the disk then reads many at a time."""
        if not hasattr(os, "posix_fadvise"):
            return
        begin = end = 0
        try:
            for number in (*sorted(numbers), _NO_PAGE):
                if number > end + _GAP:
                    if end:
                        length = (end - begin) * self.size
                        os.posix_fadvise(self._file, begin * self.size, length, os.POSIX_FADV_WILLNEED)
                    begin = number - 1
                end = number
        except OSError as error:
            raise Unfit(f"pages can't be read ahead: {error}") from error


def fingerprint(raw: bytes, seed: int) -> int:
    """XXH3, 64 bits: pages that look the same but are not would be one of 2^64, and nobody knows the seed."""
    return xxhash.xxh3_64_intdigest(raw, seed)


@contextmanager
def pages_of(source: Path, connect: Callable[[], Any], *others: Any) -> Iterator[Pages]:
    """Read a database's pages while the block runs.

    Args:
        connect: opens the database for reading; the connection is closed here.
        others: connections that have it attached; a transaction of each is begun that sees the same moment.

    Raises:
        Unfit: it can't be read so.
    """
    with ExitStack() as stack:
        file = _opened(stack, source)
        connection = stack.enter_context(closing(connect()))
        connection.execute(_BEGIN).fetchone()
        is_log, size = _kind(file)
        if not is_log:
            _begin(connection, *others)
            yield Pages(file, -1, size, {}, connection)
            return
        wal, index = (_opened(stack, source.with_name(f"{source.name}-{name}")) for name in ("wal", "shm"))
        moment = _moment(index, size, connection, *others)
        newer = {} if moment.is_copied else log.places(wal, moment, size)
        yield Pages(file, wal, size, newer, connection)


def _opened(stack: ExitStack, path: Path) -> int:
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        raise Unfit(f"{path.name} can't be opened: {error}") from error
    stack.callback(os.close, descriptor)
    return descriptor


def _kind(file: int) -> tuple[bool, int]:
    """Whether a database is in WAL mode, and bytes of its pages."""
    head = os.pread(file, _HEAD_BYTES, 0)
    if len(head) < _HEAD_BYTES or not head.startswith(_MAGIC) or head[18:20] not in _MODES:
        raise Unfit("its header is not known")
    size = int.from_bytes(head[16:18], "big")
    return _MODES[head[18:20]], 65536 if size == 1 else size


def _begin(*connections: Any) -> None:
    for connection in connections:
        connection.execute("BEGIN")
        source = "source." if connection is not connections[0] else ""
        connection.execute(f"SELECT count(*) FROM {source}sqlite_master").fetchone()  # noqa: S608  one of two


def _moment(index: int, size: int, *connections: Any) -> Moment:
    """Begin a transaction of each connection such that all see what the log's index says.

    Nothing was committed between two looks at it that are equal, so they saw the same. How much of the log is copied
    is looked at in between: less than all of it means that a transaction holds the log as it is.
    """
    for _ in range(_TRIES):
        before = Moment.of(index, size)
        _begin(*connections)
        between = Moment.of(index, size)
        after = Moment.of(index, size)
        if before and between and after and before.header == between.header == after.header:
            return between
        for connection in connections:
            connection.execute("ROLLBACK")
    raise Unfit("it is written to all the time")
