"""The one seam where driver errors become ours: nothing above it sees sqlite3 or SQLAlchemy exceptions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError

from hermes_state.errors import (
    DiskFull,
    HandleUnusable,
    HermesStateError,
    ReadOnlyStore,
    SearchUnavailable,
    StoreBusy,
    StoreDamaged,
    StoreUnavailable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# Primary result codes of https://www.sqlite.org/rescode.html; extended codes carry them in the low byte.
BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, CONSTRAINT, NOTADB = 5, 6, 8, 10, 11, 13, 14, 19, 26
_MESSAGES = {
    "database is locked": BUSY,
    "database table is locked": LOCKED,
    "database schema is locked": LOCKED,
    "locking protocol": BUSY,
    "attempt to write a readonly database": READONLY,
    "disk i/o error": IOERR,
    "database disk image is malformed": CORRUPT,
    "malformed database schema": CORRUPT,
    "database or disk is full": FULL,
    "unable to open database file": CANTOPEN,
    "file is not a database": NOTADB,
}


def driver_error(error: BaseException) -> BaseException:
    """The driver's own exception inside SQLAlchemy's wrapper, or the error itself."""
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error


def result_code(error: BaseException) -> int | None:
    """SQLite's primary result code of a driver error, or None when it is not a SQLite error."""
    error = driver_error(error)
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return int(code) & 0xFF
    text = str(error).lower()
    return next((number for words, number in _MESSAGES.items() if words in text), None)


def is_busy(error: BaseException) -> bool:
    """Whether another connection held the lock, so that the same statement can go through later."""
    return result_code(error) in (BUSY, LOCKED)


def is_driver_error(error: BaseException) -> bool:
    """Whether the error came from SQLAlchemy or a DB-API driver (both name their root class `Error`)."""
    if isinstance(error, DBAPIError):
        return True
    return any(c.__name__ == "Error" and "sqlite" in c.__module__ for c in type(error).__mro__)


def translate(error: BaseException, path: str) -> HermesStateError:
    """Our error for a driver error on the database at `path`."""
    cause = str(driver_error(error))
    match result_code(error):
        case 5 | 6:
            return StoreBusy(path, waited_s=0.0)
        case 8:
            return ReadOnlyStore(f"{path} can't be written: {cause}", hint="check the file's mode and its file system")
        case 13:
            return DiskFull(
                f"no space left for {path}; what was committed is safe",
                hint="free some space; the same handle then works",
            )
        case 11 | 26:
            return StoreDamaged(f"{path}: {cause}", hint="`hermes-state db check` tells more, `db recover` salvages")
        case 10 | 14:
            return StoreUnavailable(f"{path} can't be used: {cause}", hint="check the path, its modes and the disk")
    if "no such module: fts5" in cause:
        return SearchUnavailable("this SQLite was built without FTS5", hint="`pip install pysqlite3`")
    if "closed" in cause and "database" in cause.lower():
        return HandleUnusable(f"the store at {path} was closed")
    return HermesStateError(f"{path}: {type(driver_error(error)).__name__}: {cause}")


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn driver errors of the block into ours, with the driver's as `__cause__`."""
    try:
        yield
    except Exception as error:
        if is_driver_error(error):
            raise translate(error, path) from error
        raise
