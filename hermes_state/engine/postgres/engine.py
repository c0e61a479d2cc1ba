"""The PostgreSQL engine: transactions, locks and errors.

Whoever changes a store takes an advisory lock of that store, for its transaction: `write()` alone, an append together
with other appends. So nothing that `write()` derives from the messages (counters, the index, a summary) misses one
that is on its way, ids rise in the order in which such work sees them, and appends of many clients still run side by
side. Stores in one database know nothing of each other's locks.
"""

from __future__ import annotations

import random
import select
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import sqlalchemy
from sqlalchemy.pool import NullPool

from hermes_state.engine import forks
from hermes_state.engine.connections import Connections, driver_of
from hermes_state.engine.postgres.connection import ServerConnection
from hermes_state.engine.postgres.failures import ERRORS, translate, translated
from hermes_state.errors import HandleUnusable, InvalidValue, ReadOnlyStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sqlalchemy import Connection

    from hermes_state.engine.postgres.address import Address

# The first half of the advisory locks' keys: "HERM". The second is the store's number, or 0 for the schema.
LOCK_CLASS = 0x4845524D
_MIGRATION = 0
# Connections kept between uses: so one thread that reads, writes and appends needs one, and a server's are dear.
_KEPT = 4
# What a server says that is starting, shutting down or full of clients; libpq gives no SQLSTATE for it. A refused
# connection is not among it: most often the address is wrong, so that is told at once.
_COMES_BACK = ("starting up", "shutting down", "connection slots", "too many clients", "too many connections")
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# Every statement is for one store, whose number leads every index: reading a whole table would read all stores. The
# planner doesn't know it where a bound is looked up (`id > (SELECT …)`), and plans for a third of the table. Parallel
# workers and compiled expressions cost more to start than any of our statements takes.
_SETTINGS = {"enable_seqscan": "off", "jit": "off", "max_parallel_workers_per_gather": "0"}
# Statements without values go in one message. The block's own time-out ends with it.
_LOCKED = "BEGIN; SET LOCAL lock_timeout = '{}'; SELECT pg_advisory_xact_lock({}, {})"


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
    packs_texts = False

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
        self._sqlalchemy = sqlalchemy.create_engine("postgresql+psycopg://", creator=self._connect, poolclass=NullPool)
        self._connections = Connections(self._sqlalchemy.connect, kept=_KEPT, is_alive=_is_alive)
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

    def _connect(self) -> ServerConnection:
        self._check_usable()
        connection = self._reach()
        try:
            settings = self._settings()
            # Not as options of the connection's start, which poolers refuse or drop.
            calls = ", ".join("set_config(%s, %s, false)" for _ in settings)
            connection.execute(f"SELECT {calls}", [part for pair in settings.items() for part in pair])
            connection.prepare_threshold = 2
        except BaseException:
            connection.close()
            raise
        return connection

    def _settings(self) -> dict[str, str]:
        settings = {"lock_timeout": _milliseconds(self.busy_budget_s), "client_encoding": "UTF8", **_SETTINGS}
        if self._store is not None:
            settings["hermes_state.store"] = str(self._store)
        if self.synchronous == "NORMAL":
            settings["synchronous_commit"] = "off"
        return settings

    def _reach(self) -> ServerConnection:
        """Connect; a server that is starting, or is being replaced by its standby, is waited for."""
        deadline = time.monotonic() + self.busy_budget_s
        while True:
            try:
                return ServerConnection.connect(self.address.conninfo, autocommit=True)
            except psycopg.OperationalError as error:
                comes_back = any(words in str(error) for words in _COMES_BACK)
                if not comes_back or time.monotonic() >= deadline:
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
        with translated(self.shown):
            connection, generation = self._connections.take()
            try:
                driver_of(connection).execute(_SNAPSHOT)
                yield connection
            finally:
                self._connections.give_back(connection, generation)

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
        with translated(self.shown, budget_s):
            connection, generation = self._connections.take()
            try:
                driver_of(connection).execute(_LOCKED.format(_milliseconds(budget_s), LOCK_CLASS, key))
                with connection.begin():
                    self._mine.connection = connection
                    try:
                        yield connection
                    finally:
                        self._mine.connection = None
            finally:
                self._connections.give_back(connection, generation)

    def append_message(self, session_id: str, columns: Mapping[str, Any]) -> tuple[int, int] | None:
        """Add one message at the end of a session, in one call that is a whole transaction by itself.

        Args:
            columns: the columns of `messages` that have a value, without id, session and position; texts as they are.

        Returns:
            The message's id and position; None when the session can't take it: there is no such session, it is sealed,
            or it has a message with this platform id.
        """
        self._check_writable()
        # `translated` would cost some µs here.
        try:
            if self._mine.connection is not None:
                return driver_of(self._mine.connection).append_within(session_id, columns)  # type: ignore[no-any-return]
            connection, generation = self._connections.take()
            try:  # once: nobody knows what became of one that broke off
                return driver_of(connection).append(session_id, columns)  # type: ignore[no-any-return]
            finally:
                self._connections.give_back(connection, generation)
        except ERRORS as error:
            raise translate(error, self.shown, self.busy_budget_s) from error

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
        with translated(self.shown), self._connect() as connection:
            cursor = connection.execute(statement.encode())
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
        self._connections.close()


def _is_alive(driver: psycopg.Connection[Any]) -> bool:
    """Whether the server has not hung up. One that says something to a client that asked nothing says farewell."""
    if driver.closed:
        return False
    ready, _, _ = select.select([driver.fileno()], [], [], 0)
    return not ready


def _milliseconds(seconds: float) -> str:
    return f"{max(1, round(seconds * 1000))}ms"
