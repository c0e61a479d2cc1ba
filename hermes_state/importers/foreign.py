"""Another program's SQLite database, read without leaving a trace in its folder and without disturbing its owner.

Which way depends on what lies beside the file:

* `-wal` and `-shm`: it is open somewhere, or its owner was killed. `readonly_shm` makes SQLite take its locks on the
  `-shm` without writing to it, and where nobody has the database open, read the WAL through an index in memory.
* neither, nor a hot journal: nobody writes. `immutable` keeps SQLite from making a `-wal` and takes no lock; whether
  somebody began to write meanwhile is told by the files' times, before anything that was read is used.
* a `-wal` without `-shm`, or a journal left by a crash: SQLite would have to write to repair it, so both files are
  copied to a private folder first. The copy is made by a child process, because closing a plain descriptor of a
  database drops every lock that SQLite holds on it in the same process.

It is always the standard library's SQLite that opens it, as the agent does: two SQLite libraries in one process know
nothing of each other's locks, and where this runs inside the agent, closing in one would drop those of the other.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from hermes_state.engine.failures import BUSY, CANTOPEN, LOCKED, NOTADB, READONLY, is_driver_error, result_code
from hermes_state.errors import DiskFull, FormatError, HermesStateError, StoreBusy, StoreDamaged, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

# How often a file that keeps changing is read again, and the pause before that in seconds: together some 10 s.
ATTEMPTS = 20
PAUSE_S = 0.5
# A live owner in rollback mode locks readers out while it commits; in WAL mode nobody waits.
_BUSY_MS = 10_000
_COPY = "import shutil, sys\nfor i in range(1, len(sys.argv), 2): shutil.copyfile(sys.argv[i], sys.argv[i + 1])"


class ForeignChanged(Exception):
    """The owner began to write while the file was read without locks; what was read may be torn: read again.

    A signal between this module and its callers, never shown to anybody.
    """


class Stamp(NamedTuple):
    """What tells whether a file was written to: inode, size and time; zeros when it is not there."""

    inode: int
    size: int
    mtime_ns: int


class Files(NamedTuple):
    """A database and what may lie beside it."""

    main: Stamp
    wal: Stamp
    journal: Stamp
    has_shm: bool

    @property
    def signature(self) -> str:
        """Equal as long as nothing was written."""
        return ":".join(f"{part:x}" for stamp in (self.main, self.wal) for part in stamp[1:])


_ABSENT = Stamp(0, 0, 0)


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)  # noqa: PTH116  called for every batch
    except FileNotFoundError:
        return _ABSENT
    return Stamp(found.st_ino, found.st_size, found.st_mtime_ns)


def files_of(path: Path) -> Files:
    """The state of a database's files, by looking at the folder only: nothing is opened.

    Raises:
        StoreUnavailable: there is no such file, or the folder may not be looked at.
    """
    try:
        main = _stamp(f"{path}")
        wal, journal = _stamp(f"{path}-wal"), _stamp(f"{path}-journal")
        has_shm = os.path.exists(f"{path}-shm")  # noqa: PTH110  as above
    except OSError as error:
        raise StoreUnavailable(f"{path} can't be looked at: {error.strerror}", hint="check its modes") from error
    if main is _ABSENT:
        raise StoreUnavailable(f"there is no database at {path}", hint="check the path")
    return Files(main, wal, journal, has_shm)


class ForeignDatabase:
    """A foreign database as it is at one moment. Close it; open it again after `ForeignChanged`.

    Attributes:
        path: the file.
        signature: of its files when it was opened; see `Files.signature`.
        lossy_texts: how many texts were not UTF-8; their bytes came back as lone surrogates, so nothing is lost.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lossy_texts = 0
        self._copy: Path | None = None
        self._unlocked: Files | None = None  # files that must stay as they are, since no lock protects the reading
        self._connection: sqlite3.Connection | None = None
        files = files_of(path)
        self.signature = files.signature
        try:
            with foreign_errors(path):
                self._open(files)
        except BaseException:
            self.close()
            raise

    def _open(self, files: Files) -> None:
        if files.wal is not _ABSENT and files.has_shm:
            try:
                self._connect(self.path, "mode=ro&readonly_shm=1")
            except Exception as error:
                if result_code(error) not in (CANTOPEN, READONLY):
                    raise
                self._open_copy(files)  # the -shm went meanwhile, or may not be read
        elif files.wal.size or files.journal.size:
            self._open_copy(files)
        else:
            self._unlocked = files
            self._connect(self.path, "mode=ro&immutable=1")
            self.verify()

    def _connect(self, path: Path, options: str) -> None:
        uri = f"file:{quote(str(path))}?{options}"
        connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_MS / 1000, isolation_level=None)
        try:
            connection.text_factory = self._text
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # takes the snapshot
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _open_copy(self, files: Files) -> None:
        self._copy = _private_copy(self.path, files)
        self._connect(self._copy, "mode=rw")

    def _text(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.lossy_texts += 1
            return raw.decode("utf-8", "surrogateescape")

    def rows(self, sql: str, *parameters: Any) -> Iterator[tuple[Any, ...]]:
        """The rows of a SELECT, read as they are taken."""
        assert self._connection is not None, "closed"
        with foreign_errors(self.path, self._torn):
            yield from self._connection.execute(sql, parameters)

    def verify(self) -> None:
        """Make sure that what was read so far is sound; call it before it is used.

        Raises:
            ForeignChanged: it may not be.
        """
        if self._torn():
            raise ForeignChanged

    def _torn(self) -> bool:
        return self._unlocked is not None and files_of(self.path) != self._unlocked

    def close(self) -> None:
        """Let go of the file; a private copy is removed. Twice is once."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._copy is not None:
            shutil.rmtree(self._copy.parent)
            self._copy = None


def _private_copy(path: Path, files: Files) -> Path:
    """Copy a database with its WAL or journal to a new folder that only we can read; the copy's path."""
    side = "-wal" if files.wal.size else "-journal"
    for _ in range(ATTEMPTS):
        folder = Path(tempfile.mkdtemp(prefix="hermes-state-"))  # mode 0700
        try:
            _need_room(path, files, folder)
            target = folder / "copy.db"
            _copy_in_child([path, target, Path(f"{path}{side}"), Path(f"{target}{side}")])
        except BaseException:
            shutil.rmtree(folder)
            raise
        if files_of(path) == files:
            return target
        shutil.rmtree(folder)
        time.sleep(PAUSE_S)
        files = files_of(path)
    raise StoreUnavailable(f"{path} changes faster than it can be copied", hint="try again when the agent is idle")


def _need_room(path: Path, files: Files, folder: Path) -> None:
    needed, free = files.main.size + files.wal.size + files.journal.size, shutil.disk_usage(folder).free
    if free < needed:
        raise DiskFull(
            f"{path} must be copied to be read: that takes {needed:,} bytes in {folder.parent}, and {free:,} are free",
            hint="set TMPDIR to a folder with room, or end the agent properly, which merges its -wal",
        )


def _copy_in_child(arguments: list[Path]) -> None:
    if not sys.executable or getattr(sys, "frozen", False):
        raise StoreUnavailable(
            f"{arguments[0]} was left by a crash and has to be copied, which this program can't do safely",
            hint="open it once with its own program, which repairs it",
        )
    done = subprocess.run(  # noqa: S603  our own interpreter on paths
        [sys.executable, "-I", "-S", "-c", _COPY, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise StoreUnavailable(f"{arguments[0]} can't be copied: {reason}", hint="check its modes and the free space")


@contextmanager
def foreign_errors(path: Path, torn: Any = lambda: False) -> Iterator[None]:
    """Turn driver errors about a foreign database into ours; one that a torn read explains into `ForeignChanged`."""
    try:
        yield
    except Exception as error:
        if not is_driver_error(error):
            raise
        if torn():
            raise ForeignChanged from error
        code = result_code(error)
        if code == NOTADB:
            raise FormatError(f"{path} is not a SQLite database", hint="give a Hermes home or its state.db") from error
        if code in (BUSY, LOCKED):
            raise StoreBusy(str(path), waited_s=_BUSY_MS / 1000) from error
        if code in (CANTOPEN, READONLY):
            raise StoreUnavailable(f"{path} can't be opened: {error}", hint="check its modes") from error
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> HermesStateError:
    return StoreDamaged(
        f"{path}: {error}",
        hint="what was read before stays imported; repair it with its own program (`hermes sessions repair`)",
    )


@contextmanager
def opened(path: Path) -> Iterator[ForeignDatabase]:
    """A foreign database for the length of a block."""
    database = ForeignDatabase(path)
    try:
        yield database
    finally:
        database.close()
