"""The SQLite engine: one policy for connections, transactions, retries and errors.

The driver's own transaction handling is off (`isolation_level=None`); BEGIN is emitted here: DEFERRED for a read,
IMMEDIATE for a write. One connection writes, under a lock, so threads of a process never wait on SQLite for each
other; reads take connections of their own from a pool, and WAL keeps them clear of any writer.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import sqlalchemy
from sqlalchemy import event
from sqlalchemy.pool import NullPool

from hermes_state.engine import access, beginnings, forks
from hermes_state.engine.appender import Appender
from hermes_state.engine.connections import Connections
from hermes_state.engine.copying import copy_database
from hermes_state.engine.driver import newest_driver
from hermes_state.engine.failures import is_busy, is_driver_error, translate, translated
from hermes_state.engine.log_length import LogLength
from hermes_state.engine.pragmas import CHECKPOINT_PAGES, configure
from hermes_state.engine.snapshots import Snapshot
from hermes_state.engine.turns import Turns
from hermes_state.engine.waiting import retry_while_busy
from hermes_state.errors import HandleUnusable, ReadOnlyStore, StoreBusy, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sqlalchemy import Connection

# How long a write may wait for other processes, in seconds.
DEFAULT_BUSY_BUDGET_S = 20.0
# Reading connections kept open between snapshots at most.
_READERS_KEPT = 8
# How often appends look whether the path still names the open file, in seconds: a stat costs as much as 1 % of them.
_LOOK_EVERY_S = 0.1


class SqliteEngine:
    """One database file, opened.

    Args:
        path: the database file; made with mode 0600 when absent, unless `read_only`.
        read_only: never write, not even to create or migrate.
        synchronous: `FULL` (a commit survives power loss) or `NORMAL` (it survives a crash of the process).
        busy_budget_s: seconds a write may wait for other processes before `StoreBusy`.

    Raises:
        StoreUnavailable: the file or its folder can't be opened.
    """

    dialect = "sqlite"
    packs_texts = True

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        synchronous: str = "FULL",
        busy_budget_s: float = DEFAULT_BUSY_BUDGET_S,
    ) -> None:
        self.path = path
        self.read_only = read_only
        self.synchronous = synchronous
        self._waits_for_disk = synchronous != "NORMAL"
        self.busy_budget_s = busy_budget_s
        self.driver = newest_driver()
        self._unusable = ""
        self._write_lock = threading.RLock()
        self._writer: Connection | None = None
        self._raw_writer: Any = None  # the driver's connection inside `_writer`
        self._transaction_thread = 0  # the thread inside `write()`, or 0
        self._appender = Appender(self.driver.module.IntegrityError)
        self._log_length = LogLength(path, CHECKPOINT_PAGES, self._open, self.driver.module.Error)
        self._turns = Turns(path)
        self._gate = forks.Gate()
        self._place = access.Place(path)
        access.make_sure_it_exists(path, read_only=read_only)
        self._frozen = read_only and access.is_frozen(path)
        self._sqlalchemy = self._make_sqlalchemy_engine()
        self._readers = Connections(self._connect_reader, kept=_READERS_KEPT)
        forks.watch(self)

    @property
    def shown(self) -> str:
        """The database file, to name the store in messages."""
        return str(self.path)

    def enter_store(self) -> None:
        """A file is one store."""

    # --- opening -----------------------------------------------------------------------------------------------

    def _make_sqlalchemy_engine(self) -> sqlalchemy.Engine:
        engine = sqlalchemy.create_engine(
            "sqlite+pysqlite://",
            module=self.driver.module,
            creator=self._connect,
            poolclass=NullPool,  # `Connections` keeps them
        )
        event.listen(engine, "begin", _emit_begin)
        return engine

    def _connect(self) -> Any:
        self._check_usable()
        while True:
            expected = self._place.found()
            connection = self._open()
            if expected == self._place.found():  # else the file was swapped while we opened it
                self._place.check()
                return connection
            connection.close()

    def _open(self) -> Any:
        connection = self.driver.module.connect(
            access.uri_of(self.path, read_only=self.read_only),
            uri=True,
            timeout=0,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        set_up = partial(configure, connection, read_only=self.read_only, synchronous=self.synchronous)
        try:
            retry_while_busy(set_up, time.monotonic() + self.busy_budget_s, self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_reader(self) -> Connection:
        connection = self._sqlalchemy.connect()
        beginnings.prepare(connection)
        return connection

    # --- transactions ------------------------------------------------------------------------------------------

    def read(self) -> AbstractContextManager[Connection]:
        """A snapshot of the store: all statements of the block see the same state, whatever others write.

        Inside `write()` of the same thread it is that transaction, so that it sees its own changes.
        """
        self._check_usable()
        if self._transaction_thread == threading.get_ident() and self._writer is not None:
            return nullcontext(self._writer)
        if self._frozen:
            access.make_sure_it_still_is(self.path)
        return Snapshot(self._readers, self._gate, self.path)

    @contextmanager
    def write(self, *, budget_s: float | None = None) -> Iterator[Connection]:
        """One write transaction: committed when the block ends, undone when it raises.

        A nested call is a part of the outer transaction: when it raises, what it did is undone and the rest goes on.

        Args:
            budget_s: seconds to wait for the lock; None: the engine's budget.

        Raises:
            StoreBusy: another process held the lock for longer; names it where the system can tell.
            ReadOnlyStore, DiskFull, StoreDamaged, StoreUnavailable: nothing was written.
        """
        deadline = self._acquire(self.busy_budget_s if budget_s is None else budget_s)
        try:
            with translated(self.path):
                yield from self._part() if self._transaction_thread else self._transaction(deadline)
        finally:
            self._write_lock.release()

    def _transaction(self, deadline: float) -> Iterator[Connection]:
        writer = self._writer_connection()
        self._place.check()
        try:
            self._transaction_thread = threading.get_ident()
            retry_while_busy(writer.begin, deadline, self.path, self._turns.waiting)
            yield writer
            self._commit(writer)
        except BaseException:
            self._roll_back(writer)
            raise
        finally:
            self._transaction_thread = 0
        if self._waits_for_disk:
            self._log_length.note_commit()

    def _part(self) -> Iterator[Connection]:
        writer, raw = self._writer_connection(), self._writer_raw()
        self._check_transaction(raw)
        # By the driver: SQLAlchemy's nested transactions cost five times as much. The innermost of a name is meant.
        raw.execute("SAVEPOINT part")
        try:
            yield writer
            raw.execute("RELEASE part")
        except BaseException:
            self._appender.forget()
            if raw.in_transaction:  # else a full disk or I/O error undid everything already
                raw.execute("ROLLBACK TO part")
                raw.execute("RELEASE part")
            raise

    def _commit(self, writer: Connection) -> None:
        self._check_transaction(self._writer_raw())
        writer.commit()

    def _check_transaction(self, raw: Any) -> None:
        """Go on only with a transaction that is still open: somebody may have caught the error that undid it all."""
        if not raw.in_transaction:
            raise StoreUnavailable(f"SQLite undid the transaction on {self.path}; nothing was written")

    def _roll_back(self, writer: Connection) -> None:
        """Undo; a full disk or I/O error may have rolled the transaction back already, which is just as good."""
        self._appender.forget()
        try:
            writer.rollback()
        except Exception as error:
            if not is_driver_error(error):
                raise
            writer.invalidate()
            writer.close()
            self._writer = self._raw_writer = None

    def append_message(self, session_id: str, columns: Mapping[str, Any]) -> tuple[int, int] | None:
        """Add one message at the end of a session, in one statement that is a whole transaction by itself.

        Args:
            columns: the columns of `messages` that have a value, without id, session and position.

        Returns:
            The message's id and position; None when the session can't take it: there is no such session, it is sealed,
            or it has a message with this platform id.
        """
        deadline = self._acquire(self.busy_budget_s)
        try:
            raw = self._raw_writer or self._writer_raw()
            if self._transaction_thread:
                self._check_transaction(raw)
            if deadline - self.busy_budget_s > self._place.looked_at + _LOOK_EVERY_S:
                self._place.check()
            try:
                placed = self._appender.append(raw, session_id, columns)
            except (self.driver.module.Error, UnicodeEncodeError) as error:
                if not is_busy(error) or self._transaction_thread:
                    raise translate(error, self.path) from error
                placed = self._append_when_free(raw, session_id, columns, deadline)
            if not self._transaction_thread:
                self._log_length.note_append()
            return placed
        finally:
            self._write_lock.release()

    def _append_when_free(
        self, raw: Any, session_id: str, columns: Mapping[str, Any], deadline: float
    ) -> tuple[int, int] | None:
        with translated(self.path):
            return retry_while_busy(
                lambda: self._appender.append(raw, session_id, columns), deadline, self.path, self._turns.waiting
            )

    @contextmanager
    def migration(self) -> Iterator[Connection]:
        """A write transaction for schema changes: foreign keys are off, so that rebuilding a table cascades nowhere."""
        deadline = self._acquire(self.busy_budget_s)
        try:
            with translated(self.path):
                raw = self._writer_raw()
                raw.execute("PRAGMA foreign_keys=OFF")  # does nothing once a transaction is open, so it comes first
                try:
                    yield from self._transaction(deadline)
                finally:
                    if self._writer is not None:
                        self._writer_raw().execute("PRAGMA foreign_keys=ON")
        finally:
            self._write_lock.release()

    def run_alone(self, statement: str, *, budget_s: float | None = None) -> list[Any]:
        """Run one statement outside of any transaction (VACUUM, a checkpoint) on the writing connection; its rows.

        Raises:
            StoreBusy: another process held the lock for longer than `budget_s` (None: the engine's budget).
        """
        deadline = self._acquire(self.busy_budget_s if budget_s is None else budget_s)
        try:
            with translated(self.path):
                raw = self._writer_raw()
                return retry_while_busy(lambda: list(raw.execute(statement).fetchall()), deadline, self.path)
        finally:
            self._write_lock.release()

    def copy_to(self, target: Path) -> None:
        """Copy the whole store, as it is at this moment, to a new file that appears only when it is whole.

        Writers are never blocked by it. A copy is a plain file: it needs no WAL beside it.

        Raises:
            DiskFull, StoreUnavailable, StoreDamaged: nothing is left of the copy.
        """
        self._check_usable()
        with self._gate.passed(), translated(self.path):
            source = self._connect()
            try:
                copy_database(source, target, self.driver.module)
            finally:
                source.close()

    # --- the writing connection --------------------------------------------------------------------------------

    def _acquire(self, budget_s: float) -> float:
        """Take the lock among threads; returns until when the lock among processes may be waited for."""
        self._check_usable()
        if self.read_only:
            raise ReadOnlyStore(f"{self.path} was opened read-only")
        if self._transaction_thread != threading.get_ident():
            self._gate.wait()
        now = time.monotonic()
        if not self._write_lock.acquire(blocking=False) and not self._write_lock.acquire(timeout=max(budget_s, 0.0)):
            raise StoreBusy(str(self.path), waited_s=budget_s, holder="another thread of this process")
        if self._unusable:  # it was closed while we waited
            self._write_lock.release()
            self._check_usable()
        if not self._transaction_thread:
            self._turns.before_write(now)
        return now + budget_s

    def _writer_connection(self) -> Connection:
        if self._writer is None:
            with translated(self.path):
                self._writer = self._sqlalchemy.connect().execution_options(hermes_write=True)
                # Waiting is done in `_retry`, with jitter, so that it is fair.
                self._writer_raw().execute("PRAGMA busy_timeout=0")
        return self._writer

    def _writer_raw(self) -> Any:
        if self._raw_writer is None:
            self._raw_writer = self._writer_connection().connection.driver_connection
        return self._raw_writer

    def _check_usable(self) -> None:
        if self._unusable:
            raise HandleUnusable(f"the store at {self.path} {self._unusable}", hint="open a new SessionDB")

    # --- closing -----------------------------------------------------------------------------------------------

    def stop(self, timeout_s: float) -> bool:
        """Close every connection before a fork, as far as others let us in time; True when nobody writes any more."""
        deadline = time.monotonic() + timeout_s
        self._gate.shut()  # first, or a thread that writes in a loop takes the lock again and again before us
        stopped = self._write_lock.acquire(timeout=timeout_s)
        self._gate.drain(deadline - time.monotonic())
        if stopped and not self._transaction_thread:
            self._disconnect()
        return stopped

    def go_on(self, stopped: bool) -> None:
        """In the parent, after the fork: connections are opened again when they are needed."""
        self._gate.reopen()
        if stopped:
            self._write_lock.release()

    def abandon(self) -> None:
        """Make this copy refuse all work: it was inherited through fork and belongs to the parent."""
        self._unusable = "was inherited through fork"
        self._write_lock = threading.RLock()

    def close(self) -> None:
        """Close every connection. The last one in any process checkpoints and removes the WAL. Twice is once."""
        if self._unusable:
            return
        with self._write_lock:
            self._unusable = "was closed"
            self._disconnect()
            self._turns.close()
        forks.forget(self)

    def _disconnect(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = self._raw_writer = None
        self._readers.close()
        self._sqlalchemy.dispose()


def _emit_begin(connection: Connection) -> None:
    """Begin to write. A snapshot for reading has begun already when SQLAlchemy runs the first statement in it."""
    if connection.get_execution_options().get("hermes_write", False):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
