"""The one seam where driver errors become ours: nothing above it sees sqlite3 or SQLAlchemy exceptions."""

from __future__ import annotations

import errno
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hermes_state.errors import (
    DiskFull,
    HandleUnusable,
    HermesStateError,
    InvalidValue,
    ReadOnlyStore,
    SearchUnavailable,
    StoreBusy,
    StoreDamaged,
    StoreUnavailable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Primary result codes of https://www.sqlite.org/rescode.html; extended codes carry them in the low byte.
BUSY, LOCKED, READONLY, INTERRUPT, IOERR, CORRUPT, FULL, CANTOPEN, CONSTRAINT, PROTOCOL, NOTADB = (
    5,
    6,
    8,
    9,
    10,
    11,
    13,
    14,
    19,
    15,
    26,
)
# The lock file of the WAL can't grow: no space is left for it.
_IOERR_SHMSIZE = IOERR | (19 << 8)
_MESSAGES = {
    "database is locked": BUSY,
    "database table is locked": LOCKED,
    "database schema is locked": LOCKED,
    "locking protocol": PROTOCOL,
    "attempt to write a readonly database": READONLY,
    "disk i/o error": IOERR,
    "interrupted": INTERRUPT,
    "database disk image is malformed": CORRUPT,
    "malformed database schema": CORRUPT,
    "could not decode to utf-8": CORRUPT,
    "database or disk is full": FULL,
    "unable to open database file": CANTOPEN,
    "file is not a database": NOTADB,
}


def _is_sqlalchemys(error: BaseException, name: str) -> bool:
    """Whether it is of a class of `sqlalchemy.exc`. Who works without SQLAlchemy need not load it, which takes long."""
    module = sys.modules.get("sqlalchemy.exc")
    return module is not None and isinstance(error, getattr(module, name))


def driver_error(error: BaseException) -> BaseException:
    """The driver's own exception inside SQLAlchemy's wrapper, or the error itself."""
    original = getattr(error, "orig", None) if _is_sqlalchemys(error, "DBAPIError") else None
    return error if original is None else original


def result_code(error: BaseException) -> int | None:
    """SQLite's primary result code of a driver error, or None when it is not a SQLite error."""
    error = driver_error(error)
    text = str(error).lower()
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None and not text.startswith("could not decode"):  # the driver's own complaint, with an odd code
        return int(code) & 0xFF
    return next((number for words, number in _MESSAGES.items() if words in text), None)


def is_busy(error: BaseException) -> bool:
    """Whether another connection held the lock, so that the same statement can go through later."""
    return result_code(error) in (BUSY, LOCKED)


def is_driver_error(error: BaseException) -> bool:
    """Whether the error came from SQLAlchemy or a DB-API driver (the drivers name their root class `Error`)."""
    if _is_sqlalchemys(error, "SQLAlchemyError"):
        return True
    return any(c.__name__ == "Error" and "sqlite" in c.__module__ for c in type(error).__mro__)


def translate(error: BaseException, path: Path, waited_s: float = 0.0) -> HermesStateError:
    """Our error for a driver error on the database at `path`."""
    cause = str(driver_error(error))
    if isinstance(error, UnicodeEncodeError):
        return InvalidValue(f"a name with a lone surrogate can't be looked up or stored: {error.object!r}")
    if _is_sqlalchemys(error, "TimeoutError"):
        return StoreBusy(str(path), waited_s=waited_s, holder="the other threads of this process")
    if _extended_code(error) == _IOERR_SHMSIZE:
        return _disk_full(path)
    match result_code(error):
        case 5 | 6:
            return StoreBusy(str(path), waited_s=waited_s)
        case 8:
            return ReadOnlyStore(f"{path} can't be written: {cause}", hint="check the file's mode and its file system")
        case 13:
            return _disk_full(path)
        case 11 | 26:
            return StoreDamaged(f"{path}: {cause}", hint="`hermes-state db check` tells more, `db recover` salvages")
        case 15:
            return StoreUnavailable(
                f"{path} can't be used: {cause}: its file system does not pass on the locks of a write-ahead log",
                hint="keep the store on a disk of this machine; backups may lie anywhere",
            )
        case 10 | 14:
            return StoreUnavailable(f"{path} can't be used: {cause}", hint="check the path, its modes and the disk")
    if "no such module: fts5" in cause:
        return SearchUnavailable("this SQLite was built without FTS5", hint="`pip install pysqlite3`")
    if "closed" in cause and "database" in cause.lower():
        return HandleUnusable(f"the store at {path} was closed")
    return HermesStateError(f"{path}: {type(driver_error(error)).__name__}: {cause}")


def _disk_full(path: Path) -> DiskFull:
    return DiskFull(
        f"no space left for {path}; what was committed is safe", hint="free some space; the same handle then works"
    )


def _extended_code(error: BaseException) -> int | None:
    code = getattr(driver_error(error), "sqlite_errorcode", None)
    return None if code is None else int(code)


@contextmanager
def translated(path: Path, waited_s: float = 0.0) -> Iterator[None]:
    """Turn driver errors of the block into ours, with the driver's as `__cause__`.

    Args:
        waited_s: how long SQLite itself waits for a lock, to say so in `StoreBusy`.
    """
    try:
        yield
    except Exception as error:
        translation = ours(error, path, waited_s)
        if translation is not None:
            raise translation from error
        raise


def ours(error: BaseException, path: Path, waited_s: float = 0.0) -> HermesStateError | None:
    """Our error for one of the driver on the database at `path`; None for any other."""
    if is_driver_error(error) or isinstance(error, UnicodeEncodeError):
        return translate(error, path, waited_s)
    return None


@contextmanager
def translated_os(path: Path) -> Iterator[None]:
    """Turn the system's errors of work on a file into ours."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _disk_full(path) from error
        raise StoreUnavailable(f"{path} can't be used: {error.strerror or error}") from error
