"""A database file as the system has it: made with tight modes, opened by its path, and still the one its path names."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING
from urllib.parse import quote

from hermes_state.engine.failures import translated_os
from hermes_state.errors import HandleUnusable, StoreDamaged, StoreUnavailable

if TYPE_CHECKING:
    from pathlib import Path


def make_sure_it_exists(path: Path, *, read_only: bool) -> None:
    """Make the file with tight modes, before SQLite can make it with the umask's; for reading it must be there.

    Raises:
        StoreUnavailable: it is not, or can't be made.
        StoreDamaged: it was emptied.
    """
    refuse_emptied(path)
    if read_only:
        with translated_os(path):
            exists = path.is_file()
        if not exists:
            raise StoreUnavailable(f"there is no store at {path}", hint="open it for writing once, or check --home")
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Only ever a new file: opening and closing a descriptor of a live one would drop SQLite's locks.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError as error:
        with translated_os(path):
            leads_somewhere = path.exists()
        if not leads_somewhere:
            what = f"{path} can't be created: it is a link to nowhere, or a part of its path is a file"
            raise StoreUnavailable(what) from error
    except OSError as error:
        raise StoreUnavailable(f"{path} can't be created: {error.strerror}") from error


def refuse_emptied(path: Path) -> None:
    """Refuse a file without a byte that has a log: even a reading SQLite would delete the log and begin anew.

    A store has its first page before its log has anything, so the log is looked at first: another process may be making
    both.

    Raises:
        StoreDamaged: it is such a file.
    """
    with translated_os(path):
        try:
            logged = path.with_name(f"{path.name}-wal").stat().st_size
            is_emptied = logged > 0 and path.stat().st_size == 0
        except (FileNotFoundError, NotADirectoryError):
            return
    if is_emptied:
        raise StoreDamaged(
            f"{path} is empty, and its write-ahead log holds {logged:,} bytes: the file was cut to nothing",
            hint="restore a backup; keep the log, it has what was written last",
        )


class Place:
    """The file that an engine has open, and whether its path still leads there.

    Attributes:
        looked_at: when that was last looked at, in seconds of `time.monotonic`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity: tuple[int, int] | None = None
        self.looked_at = 0.0

    def found(self) -> tuple[int, int]:
        """The device and inode that the path leads to now."""
        try:
            found = self._path.stat()
        except OSError as error:
            raise HandleUnusable(f"{self._path} was removed while it was open", hint="open a new SessionDB") from error
        return found.st_dev, found.st_ino

    def check(self) -> None:
        """Refuse to write into a file that was removed or swapped: nobody would ever read it again."""
        self.looked_at = time.monotonic()
        identity = self.found()
        if self._identity is None:
            self._identity = identity
        elif identity != self._identity:
            raise HandleUnusable(f"{self._path} was replaced while it was open", hint="open a new SessionDB")


def uri_of(path: Path, *, read_only: bool) -> str:
    """The URI that SQLite opens, whatever characters the path has."""
    quoted = quote(str(path.absolute()))
    if not read_only:
        return f"file:{quoted}?mode=rw"
    return f"file:{quoted}?mode=ro" + ("&immutable=1" if is_frozen(path) else "")


def is_frozen(path: Path) -> bool:
    """Whether nothing can be written beside a closed database, so that SQLite can't even make its lock file to read it.

    Read-only media, or a folder of somebody else who does not have it open now.
    """
    if os.access(path.parent, os.W_OK):
        return False
    return not any(path.with_name(f"{path.name}{suffix}").exists() for suffix in ("-wal", "-shm"))


def make_sure_it_still_is(path: Path) -> None:
    """Refuse to read on when the owner of a file that was opened as frozen has begun to write to it.

    Raises:
        HandleUnusable: it is in use now; opened anew it is read as any other.
    """
    if not is_frozen(path):
        raise HandleUnusable(f"{path} was opened while nobody used it, and is used now", hint="open a new SessionDB")
