"""Errors of psycopg and the server become ours here."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from hermes_state.errors import (
    DiskFull,
    HermesStateError,
    InvalidValue,
    ReadOnlyStore,
    StoreBusy,
    StoreDamaged,
    StoreUnavailable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# What the driver, SQLAlchemy around it and the encoding of a text raise.
ERRORS = (SQLAlchemyError, psycopg.Error, UnicodeEncodeError)
# SQLSTATE classes and codes of https://www.postgresql.org/docs/15/errcodes-appendix.html.
# The last says that a statement of the transaction failed already. Whoever runs statements ends it then; but SQLAlchemy
# drops what the server says when it closes a cursor, as when it cancels just that.
_BUSY = frozenset({"55P03", "40001", "40P01", "57014", "25P02"})
_DISK_FULL = "53100"
_READ_ONLY = "25006"
_DAMAGED = frozenset({"XX001", "XX002"})
_NOT_THERE = frozenset({"3D000", "28000", "28P01", "42501", "3F000"})
_NO_TABLE = "42P01"


def driver_error(error: BaseException) -> BaseException:
    """psycopg's own exception inside SQLAlchemy's wrapper, or the error itself."""
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error


def translate(error: BaseException, shown: str, waited_s: float = 0.0) -> HermesStateError:
    """Our error for one of the driver.

    Args:
        shown: the store's address without its password.
    """
    cause = driver_error(error)
    state = getattr(cause, "sqlstate", None) or ""
    words = str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__
    if isinstance(cause, UnicodeEncodeError):
        return InvalidValue(f"a name with a lone surrogate can't be looked up or stored: {cause.object!r}")
    if isinstance(cause, psycopg.DataError) and "NUL" in words:
        return InvalidValue("a name with a NUL character can't be looked up or stored")
    if isinstance(error, PoolTimeout):
        return StoreBusy(shown, waited_s=waited_s, holder="the other threads of this process")
    if state in _BUSY:
        return StoreBusy(shown, waited_s=waited_s, holder="another client")
    if state == _DISK_FULL:
        return DiskFull(f"no space left on the server of {shown}; what was committed is safe", hint="free some space")
    if state == _READ_ONLY:
        return ReadOnlyStore(f"{shown} can't be written: {words}", hint="is it a standby? write to the primary")
    if state in _DAMAGED:
        return StoreDamaged(f"{shown}: {words}", hint="restore a backup of the database")
    if state in _NOT_THERE:
        return StoreUnavailable(f"{shown}: {words}", hint="check the database's name, the role and its rights")
    if state == _NO_TABLE:
        return StoreUnavailable(
            f"there is no store at {shown}: {words}",
            hint="is it the right database? `hermes-state db migrate` makes the tables",
        )
    if isinstance(cause, psycopg.OperationalError):
        return StoreUnavailable(
            f"{shown} can't be reached: {words}", hint="check that the server runs; the same handle then works"
        )
    return HermesStateError(f"{shown}: {type(cause).__name__}: {words}")


@contextmanager
def translated(shown: str, waited_s: float = 0.0) -> Iterator[None]:
    """Turn the driver's errors of the block into ours, with the driver's as `__cause__`."""
    try:
        yield
    except ERRORS as error:
        raise translate(error, shown, waited_s) from error
