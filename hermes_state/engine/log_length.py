"""How long the file of the write-ahead log is.

A commit that makes the file longer waits for the file system to note the new length, too: 0.26 ms instead of 0.17 on
ext4. SQLite deletes the log with the last connection and begins it anew, so that most processes would meet this with
every append. So one that turns out to append much makes the file long in a few steps.
"""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# https://www.sqlite.org/fileformat2.html#the_write_ahead_log: a header, and before each page one of its own.
_HEADER_BYTES, _FRAME_BYTES = 32, 24 + 4096
# After so many appends of a process the file is made longer, each time by so many pages per append before: an append
# writes three pages, and some are written to index it.
_STEPS = frozenset((16, 64, 256))
_PAGES_PER_APPEND = 16
_CACHE_PAGES = 10


class LogLength:
    """The length of one store's log.

    Args:
        path: the database file.
        most_pages: pages after which the log is begun anew; the file is made no longer than for them.
        connect: opens a connection of the driver.
        failure: the root of the driver's errors.
    """

    def __init__(self, path: Path, most_pages: int, connect: Callable[[], Any], failure: type[Exception]) -> None:
        self._log = path.with_name(f"{path.name}-wal")
        self._most_pages = most_pages
        self._connect = connect
        self._failure = failure
        self._appends = 0

    def note_append(self) -> None:
        """Count a committed append, and make the file longer where that pays. Call it with the lock among threads.

        What fails here, fails without a word: the message is stored, and a short log only costs time.
        """
        self._appends += 1
        if self._appends in _STEPS:
            with suppress(self._failure, OSError):
                self._lengthen(min(self._appends * _PAGES_PER_APPEND, self._most_pages))

    def _lengthen(self, pages: int) -> None:
        if self._log.stat().st_size >= _HEADER_BYTES + self._most_pages * _FRAME_BYTES:
            return
        with closing(self._connect()) as connection:
            run = connection.execute
            run("PRAGMA busy_timeout=0")
            # What a transaction has beyond its cache goes to the log before the commit. Undone, it leaves the length.
            run(f"PRAGMA cache_size={_CACHE_PAGES}")
            run("BEGIN IMMEDIATE")
            run("CREATE TABLE room_in_log (zeros)")
            run("INSERT INTO room_in_log VALUES (zeroblob(?))", (pages * 4096,))
            run("ROLLBACK")
