"""The PostgreSQL engine: transactions, locks and errors.

Whoever changes a store takes an advisory lock of that store, for its transaction: `write()` alone, an append together
with other appends. So nothing that `write()` derives from the messages (counters, the index, a summary) misses one
that is on its way, ids rise in the order in which such work sees them, and appends of many clients still run side by
side. Stores in one database know nothing of each other's locks.
"""

from __future__ import annotations

import random
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import sqlalchemy
from sqlalchemy.pool import QueuePool

from hermes_state.engine import forks
from hermes_state.engine.postgres.appenders import Appenders
from hermes_state.engine.postgres.failures import translate, translated
from hermes_state.engine.statements import APPEND_OPTIONAL
from hermes_state.errors import HandleUnusable, InvalidValue, ReadOnlyStore
from hermes_state.packing import unpack

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sqlalchemy import Connection

    from hermes_state.engine.postgres.address import Address

# The first half of the advisory locks' keys: "HERM". The second is the store's number, or 0 for the schema.
LOCK_CLASS = 0x4845524D
_MIGRATION = 0
_POOL_SIZE, _POOL_OVERFLOW = 8, 56
# The server is starting or shutting down: https://www.postgresql.org/docs/15/errcodes-appendix.html, class 57. A
# refused connection has no SQLSTATE; that is told at once, since most often the address is wrong.
_COMES_BACK = frozenset({"57P01", "57P02", "57P03"})
_LOCKED = "SELECT set_config('lock_timeout', %s, true), pg_advisory_xact_lock(%s, %s)"
_APPEND = "SELECT message_id, message_position FROM hermes_append(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"


class _Mine(threading.local):
    """The write transaction that this thread is in."""

    connection: Connection | None = None


class PostgresEngine:
    """One store in a PostgreSQL database, opened.

    Args:
        address: which one.
        read_only: never write.
        synchronous: `FULL`: a commit survives a crash of the server; `NORMAL`: it survives one of this process.
        busy_budget_s: seconds a write may wait for other clients before `StoreBusy`.

    Raises:
        StoreUnavailable: the server can't be reached, or refuses.
    """

    dialect = "postgresql"

    def __init__(
        self, address: Address, *, read_only: bool = False, synchronous: str = "FULL", busy_budget_s: float = 20.0
    ) -> None:
        self.address = address
        self.read_only = read_only
        self.synchronous = synchronous
        self.busy_budget_s = busy_budget_s
        self._store: int | None = None
        self._unusable = ""
        self._mine = _Mine()
        self._readers = self._make(reading=True)
        self._writers = self._make(reading=False)
        self._appenders = Appenders(lambda: self._connect(reading=False, autocommit=True))
        forks.watch(self)

    @property
    def shown(self) -> str:
        """The address without its password."""
        return self.address.shown

    @property
    def path(self) -> Path:
        """A server keeps its files to itself.

        Raises:
            InvalidValue: always.
        """
        raise InvalidValue(
            f"the store at {self.shown} is in no file of this machine", hint="this is for stores that are files"
        )

    def copy_to(self, target: Path) -> None:
        """A server keeps its files to itself.

        Raises:
            InvalidValue: always.
        """
        raise InvalidValue(f"the store at {self.shown} can't be copied to {target}", hint="pg_dump makes a copy of it")

    # --- connections -------------------------------------------------------------------------------------------

    def _make(self, *, reading: bool) -> sqlalchemy.Engine:
        return sqlalchemy.create_engine(
            "postgresql+psycopg://",
            creator=lambda: self._connect(reading=reading),
            poolclass=QueuePool,
            pool_size=_POOL_SIZE,
            max_overflow=_POOL_OVERFLOW,
            pool_pre_ping=True,
        )

    def _connect(self, *, reading: bool, autocommit: bool = False) -> psycopg.Connection[Any]:
        self._check_usable()
        connection = self._reach()
        try:
            if self._store is not None:
                connection.execute("SELECT set_config('hermes_state.store', %s, false)", (str(self._store),))
            if self.synchronous == "NORMAL":
                connection.execute("SET synchronous_commit = off")
            connection.execute(
                "SELECT set_config('lock_timeout', %s, false)", (f"{round(self.busy_budget_s * 1000)}ms",)
            )
            connection.prepare_threshold = 2
            if reading:
                connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                connection.read_only = True
            connection.autocommit = autocommit
        except BaseException:
            connection.close()
            raise
        return connection

    def _reach(self) -> psycopg.Connection[Any]:
        """Connect; a server that is starting, or is being replaced by its standby, is waited for."""
        deadline = time.monotonic() + self.busy_budget_s
        while True:
            try:
                return psycopg.connect(self.address.conninfo, autocommit=True)
            except psycopg.OperationalError as error:
                if error.sqlstate not in _COMES_BACK or time.monotonic() >= deadline:
                    raise translate(error, self.shown) from error
            time.sleep(random.uniform(0.05, 0.25))  # noqa: S311  jitter, not a secret

    def enter_store(self) -> None:
        """See the store of the address; make it when it is not there."""
        from hermes_state.engine.postgres.stores import enter

        enter(self)

    def enter(self, store: int) -> None:
        """From now on every connection is one to this store of the database."""
        self._store = store
        self._dispose()

    # --- transactions ------------------------------------------------------------------------------------------

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A snapshot: all statements of the block see the same state. Inside `write()` it is that transaction."""
        self._check_usable()
        if self._mine.connection is not None:
            yield self._mine.connection
            return
        with translated(self.shown), self._readers.connect() as connection:
            connection.begin()
            yield connection

    @contextmanager
    def write(self, *, budget_s: float | None = None) -> Iterator[Connection]:
        """One write transaction: committed when the block ends, undone when it raises; a nested one is a part of it.

        Raises:
            StoreBusy: other clients kept the store locked for longer than `budget_s` (None: the engine's budget).
            ReadOnlyStore, DiskFull, StoreUnavailable: nothing was written.
        """
        self._check_writable()
        if self._mine.connection is not None:
            with translated(self.shown), self._mine.connection.begin_nested():
                yield self._mine.connection
            return
        with self._locked(self._store or 0, self.busy_budget_s if budget_s is None else budget_s) as connection:
            yield connection

    @contextmanager
    def _locked(self, key: int, budget_s: float) -> Iterator[Connection]:
        started = time.monotonic()
        with translated(self.shown), self._writers.connect() as connection, connection.begin():
            try:
                wait = f"{max(1, round(budget_s * 1000))}ms"
                connection.exec_driver_sql(_LOCKED, (wait, LOCK_CLASS, key))
            except sqlalchemy.exc.DBAPIError as error:
                raise translate(error, self.shown, time.monotonic() - started) from error
            self._mine.connection = connection
            try:
                yield connection
            finally:
                self._mine.connection = None

    def append_message(self, session_id: str, columns: Mapping[str, Any]) -> tuple[int, int] | None:
        """Add one message at the end of a session, in one call that is a whole transaction by itself.

        Args:
            columns: the columns of `messages` that have a value, without id, session and position.

        Returns:
            The message's id and position; None when the session can't take it: there is no such session, it is sealed,
            or it has a message with this platform id.
        """
        self._check_writable()
        names = ("created_at", "role", "content", *APPEND_OPTIONAL)
        values = (session_id, *(_plain(columns.get(name)) for name in names))
        if self._mine.connection is not None:
            with translated(self.shown):
                row: Any = self._mine.connection.exec_driver_sql(_APPEND, values).fetchone()
        else:
            with translated(self.shown, self.busy_budget_s):
                row = self._appenders.run(_APPEND.encode(), values)
        return None if row is None else (row[0], row[1])

    @contextmanager
    def migration(self) -> Iterator[Connection]:
        """A write transaction for changes of the schema, one at a time in the whole database."""
        self._check_writable()
        with self._locked(_MIGRATION, self.busy_budget_s) as connection:
            yield connection

    def run_alone(self, statement: str, *, budget_s: float | None = None) -> list[Any]:
        """Run one statement outside of any transaction (VACUUM, ANALYZE); its rows."""
        del budget_s
        self._check_writable()
        with translated(self.shown), self._connect(reading=False, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return list(cursor.fetchall()) if cursor.description else []

    # --- closing -----------------------------------------------------------------------------------------------

    def _check_usable(self) -> None:
        if self._unusable:
            raise HandleUnusable(f"the store at {self.shown} {self._unusable}", hint="open a new SessionDB")

    def _check_writable(self) -> None:
        self._check_usable()
        if self.read_only:
            raise ReadOnlyStore(f"{self.shown} was opened read-only")

    def stop(self, timeout_s: float) -> bool:
        """Before a fork: nothing to do, since a server keeps no locks in a client's memory."""
        del timeout_s
        return True

    def go_on(self, stopped: bool) -> None:
        """In the parent, after a fork."""

    def abandon(self) -> None:
        """Make this copy refuse all work: it was inherited through fork, and its sockets are the parent's."""
        self._unusable = "was inherited through fork"

    def close(self) -> None:
        """Give every connection back. Twice is once."""
        if not self._unusable:
            self._unusable = "was closed"
            self._dispose()
            forks.forget(self)

    def _dispose(self) -> None:
        self._readers.dispose()
        self._writers.dispose()
        self._appenders.close()


def _plain(value: Any) -> Any:
    """A column's value as the server takes it: texts are compressed there, not here."""
    return unpack(value) if isinstance(value, bytes) else value
