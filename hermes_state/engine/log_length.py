"""How long the file of the write-ahead log is.

A commit that makes the file longer waits for the file system to note the new length, too: 0.26 ms instead of 0.17 on
ext4. SQLite deletes the log with the last connection and begins it anew, so that most processes would meet this with
every commit. So one that turns out to commit much makes the file long in two steps.
"""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from hermes_state.errors import HermesStateError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# https://www.sqlite.org/fileformat2.html#the_write_ahead_log: a header, and before each page one of its own.
_HEADER_BYTES, _FRAME_BYTES = 32, 24 + 4096
# After so many commits of a process the file is made longer by so many pages: a commit writes three to ten. The first
# step takes 3 ms and the second 10, which few commits would be worth.
_STEPS = ((16, 256), (64, 2000))
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
        self._commits = 0
        self._steps = list(_STEPS)

    def note_append(self) -> None:
        """Count a commit that shall not wait for more: the next one of another kind does what is due."""
        self._commits += 1

    def note_commit(self) -> None:
        """Count a commit, and make the file longer where that pays. Call it with the lock among threads.

        What fails here, fails without a word: the commit is done, and a short log only costs time.
        """
        self._commits += 1
        due = [pages for commits, pages in self._steps if commits <= self._commits]
        if due:
            del self._steps[: len(due)]
            with suppress(self._failure, HermesStateError, OSError):
                self._lengthen(due[-1])

    def _lengthen(self, pages: int) -> None:
        there = (self._log.stat().st_size - _HEADER_BYTES) // _FRAME_BYTES
        pages = min(pages, self._most_pages - there)
        if pages <= 0:
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
