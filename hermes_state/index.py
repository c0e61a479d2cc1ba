"""The full-text index of messages: derived data, brought up to date behind the appends.

`store_state.indexed_through` is the watermark: every message up to that id is in the index, none above it is. An append
moves nothing; `catch_up` reads the messages above the mark, segments them without any lock, and adds them in short
write transactions that also move the mark. So a kill at any moment leaves an index that says truly how far it goes, a
rebuild goes on where it stopped, and two processes that catch up at once never add a message twice.
"""

from __future__ import annotations

import math
import threading
import time
from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select, update
from sqlalchemy.exc import DBAPIError

from hermes_state import index_zones
from hermes_state.engine import fts
from hermes_state.engine.driver import newest_driver
from hermes_state.engine.failures import result_code
from hermes_state.engine.lookups import rows
from hermes_state.errors import DiskFull, HermesStateError, InvalidValue, StoreBusy, StoreDamaged
from hermes_state.index_worker import WORTH_MESSAGES, IndexWorker, Prepared, Row, columns_of, prepare
from hermes_state.indexer import Indexer
from hermes_state.schema import messages, store_state
from hermes_state.text import SEGMENTATION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from hermes_state.engine import Engine

# Messages added in one write transaction, and the characters of text after which a batch ends early: some 10 ms of CPU
# under the write lock, so that an append of another process waits no longer than for any other commit.
BATCH_MESSAGES = 200
BATCH_CHARS = 400_000
# Merge steps after each batch; one or two keep up with a batch, more are needed after an interruption.
_MERGES_PER_BATCH = 3
# Between two pieces of tidying, in seconds: long enough for a thread that waits for the lock to get it.
_BREATH_S = 0.001
_CORRUPT = 11

_m, _state = messages.c, store_state.c
_COLUMNS = tuple(_m[name] for name in Row._fields)
_STATE = (
    "SELECT indexed_through, segmentation, rebuild_from, coalesce((SELECT max(id) FROM messages), 0),"
    " coalesce((SELECT min(id) FROM messages), 0) FROM store_state"
)


class Mark(NamedTuple):
    """Where the index stands. Ids are message ids; `oldest` and `newest` are the first and the last there are."""

    indexed_through: int
    segmentation: str | None
    rebuild_from: int | None
    newest: int
    oldest: int

    @property
    def reach(self) -> int:
        """How many ids there are from the first message to the last. In a shared database most are other stores'."""
        return self.newest - self.oldest + 1

    @property
    def waiting(self) -> int:
        """How many messages are not in the index, at most."""
        return self.newest - max(self.indexed_through, self.oldest - 1)

    @property
    def is_usable(self) -> bool:
        """Whether the index may be asked: there is one, and it was built by these rules or by newer ones."""
        return self.segmentation is not None and _rules(self.segmentation) >= _OUR_RULES

    @property
    def is_current(self) -> bool:
        """Whether every message is in the index."""
        return self.is_usable and self.newest <= self.indexed_through


class _Batch(NamedTuple):
    """Messages to add to an index that stands at `mark`, which then holds all up to the id `last`."""

    mark: Mark
    last: int
    prepared: Prepared


def mark(connection: Connection) -> Mark:
    """Where the index stands, in the caller's snapshot."""
    return Mark._make(rows(connection, _STATE)[0])


def document(row: Any) -> fts.Document | None:
    """A stored message as the index has it; None for one with nothing to find."""
    words, grams = columns_of(row)
    return fts.Document(row.id, words, grams) if words or grams else None


def forget(connection: Connection, gone: Sequence[Any]) -> None:
    """Take messages out of the index, inside the transaction that deletes them.

    A damaged index hinders no deletion: it is marked to be built again.

    Args:
        gone: rows with `id`, `content`, `content_format` and `tool_calls`, as they are stored.
    """
    stand = mark(connection)
    if stand.segmentation is None:
        return
    documents = [found for row in gone if row.id <= stand.indexed_through and (found := document(row))]
    try:
        with connection.begin_nested():
            fts.tokens_in(connection).delete(connection, documents)
    except DBAPIError as error:
        if not is_index_fault(error):
            raise
        connection.execute(update(store_state).values(segmentation=None))


def begin(connection: Connection, *, is_rebuild: bool) -> None:
    """Make an empty index, in a store that has none."""
    fts.tokens_in(connection).create(connection)
    index_zones.clear(connection)
    values = {"indexed_through": 0, "segmentation": SEGMENTATION, "rebuild_from": 0 if is_rebuild else None}
    connection.execute(update(store_state).values(**values))


def is_index_fault(error: BaseException) -> bool:
    """Whether an error may be the index's fault: something is malformed, or a part of the index is missing."""
    is_corrupt = isinstance(error, StoreDamaged) or result_code(error) == _CORRUPT
    return is_corrupt or "message_index" in str(error) or "no such module" in str(error)


class MessageIndex:
    """The index of one store.

    Attributes:
        is_available: whether this SQLite has FTS5. Without it nothing is indexed and a search reads the messages.
        damage: what was wrong with the index when it had to be built anew by this handle, else "".
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._catching_up = threading.Lock()
        self._available: bool | None = None
        self._indexer = Indexer(self)
        self.damage = ""

    @property
    def is_available(self) -> bool:
        """Whether there can be an index at all."""
        if self._available is None:
            with self._engine.read() as connection:
                self._available = fts.is_available(connection)
        return self._available

    def wake(self, messages: int = 1) -> None:
        """Note that messages were appended, so that they get into the index when the store is idle."""
        self._indexer.wake(messages)

    def close(self) -> None:
        """End the work in the background; before the engine is closed."""
        self._indexer.stop()

    def mark(self) -> Mark:
        """Where the index stands now."""
        with self._engine.read() as connection:
            return mark(connection)

    def pending(self) -> int:
        """How many messages are not yet in the index."""
        with self._engine.read() as connection:
            stand = mark(connection)
            after = stand.indexed_through if stand.is_usable else 0
            query = select(func.count()).select_from(messages).where(_m.id > after)
            return int(connection.execute(query).scalar_one())

    # --- catching up --------------------------------------------------------------------------------------------

    def catch_up(
        self,
        *,
        budget_s: float | None = None,
        lock_budget_s: float | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> bool:
        """Add the messages that are not yet in the index. True when none is left.

        Without a budget the index is tidied then, too.

        Args:
            budget_s: stop after so many seconds, at the end of a batch; None: go on to the end.
            lock_budget_s: seconds each batch may wait for other writers; None: the store's own.
            progress: called after each batch with the highest id added and the highest there is.

        Raises:
            StoreBusy: another process kept the write lock; what was added before stays.
            StoreDamaged: the database itself is not sound. A damaged index alone is built anew.
        """
        if self._engine.read_only or not self.is_available:
            return self.is_available and self.mark().is_current
        deadline = None if budget_s is None else time.monotonic() + budget_s
        if not self._catching_up.acquire(timeout=-1 if budget_s is None else max(budget_s, 0.0)):
            return False
        try:
            return self._catch_up(deadline, lock_budget_s, progress)
        finally:
            self._catching_up.release()

    def _catch_up(
        self, deadline: float | None, lock_budget_s: float | None, progress: Callable[[int, int], object] | None
    ) -> bool:
        has_started_over = False
        may_have_help = deadline is None and self._engine.dialect == "sqlite"
        while True:
            try:
                if may_have_help and (stand := self.mark()).is_usable and stand.waiting >= WORTH_MESSAGES:
                    may_have_help = self._add_with_help(stand, lock_budget_s, progress)
                elif batch := self._next_batch():
                    self._step(batch, lock_budget_s, progress)
                else:
                    if deadline is None:
                        self.try_tidy()
                    return True
            except HermesStateError as error:
                if has_started_over or not is_index_fault(error):  # it is not the index, or not only
                    raise
                has_started_over = True
                self.report_damage(error, lock_budget_s=lock_budget_s)
            if deadline is not None and time.monotonic() >= deadline:
                return self.mark().is_current

    def _add_with_help(
        self, stand: Mark, lock_budget_s: float | None, progress: Callable[[int, int], object] | None
    ) -> bool:
        """Add what another process segments. What it leaves is for the caller; False when asking again is no use."""
        added = 0
        with closing(IndexWorker.start()) as worker:
            ahead = worker.prepared(
                self._engine.path,
                newest_driver().module.__name__,
                after=stand.indexed_through,
                messages=BATCH_MESSAGES,
                chars=BATCH_CHARS,
            )
            for prepared in ahead:
                batch = _Batch(stand, prepared.times[-1][0], prepared)
                if not self._add(batch, lock_budget_s):
                    break
                added += 1
                stand = self._after(batch, lock_budget_s, progress)
            return worker.is_usable and added > 0

    def _after(self, batch: _Batch, lock_budget_s: float | None, progress: Callable[[int, int], object] | None) -> Mark:
        """What follows on a batch that was added; where the index stands then."""
        self.merge(steps=_MERGES_PER_BATCH, lock_budget_s=lock_budget_s)
        if progress is not None:
            progress(batch.last, batch.mark.newest)
        return batch.mark._replace(indexed_through=batch.last)

    def _step(self, batch: _Batch, lock_budget_s: float | None, progress: Callable[[int, int], object] | None) -> None:
        if not batch.mark.is_usable:
            self._start_over(lock_budget_s, is_rebuild=batch.mark.segmentation is not None)
        elif self._add(batch, lock_budget_s):
            self._after(batch, lock_budget_s, progress)

    def _next_batch(self) -> _Batch | None:
        """The next messages to add, segmented; None when all are in and no rebuild waits to be called done."""
        with self._engine.read() as connection:
            stand = mark(connection)
            if not stand.is_usable:
                return _Batch(stand, 0, Prepared([], [], 0))
            if stand.is_current and stand.rebuild_from is None:
                return None
            query = select(*_COLUMNS).where(_m.id > stand.indexed_through).order_by(_m.id).limit(BATCH_MESSAGES)
            some = connection.execute(query).fetchall()
        prepared = prepare(some, BATCH_CHARS)
        taken = len(prepared.times)
        if taken < len(some) or taken == BATCH_MESSAGES:
            last = prepared.times[-1][0]
        else:
            last = max(stand.newest, stand.indexed_through)
        return _Batch(stand, last, prepared)

    def _add(self, batch: _Batch, lock_budget_s: float | None) -> bool:
        """Write one batch; False when the store has moved on since it was read, so that it must be read again."""
        with self._engine.write(budget_s=lock_budget_s) as connection:
            stand = mark(connection)
            if stand.indexed_through != batch.mark.indexed_through or stand.segmentation != batch.mark.segmentation:
                return False
            span = _m.id.between(stand.indexed_through + 1, batch.last)
            if connection.execute(select(func.count()).where(span)).scalar_one() != len(batch.prepared.times):
                return False  # some were deleted meanwhile, and must not get in
            fts.tokens_in(connection).insert(connection, batch.prepared.documents)
            index_zones.extend(connection, batch.prepared.times)
            rebuilt = None if stand.rebuild_from is None or batch.last >= stand.newest else batch.last
            connection.execute(update(store_state).values(indexed_through=batch.last, rebuild_from=rebuilt))
        return True

    # --- building anew ------------------------------------------------------------------------------------------

    def rebuild(self, *, progress: Callable[[int, int], object] | None = None) -> None:
        """Build the index anew from the messages. When it is stopped half-way, the next `catch_up` goes on.

        Raises:
            StoreBusy, StoreDamaged: as `catch_up`.
            InvalidValue: this SQLite has no FTS5, so there is nothing to build.
        """
        if not self.is_available:
            raise InvalidValue(
                "this SQLite was built without FTS5", hint="`pip install pysqlite3` brings one that has it"
            )
        with self._catching_up:
            self._start_over(None, is_rebuild=True)
            self._catch_up(None, None, progress)

    def _start_over(self, lock_budget_s: float | None, *, is_rebuild: bool) -> None:
        """Empty the index; what is to be added then is everything."""
        try:
            with self._engine.write(budget_s=lock_budget_s) as connection:
                fts.tokens_in(connection).drop(connection)
                begin(connection, is_rebuild=is_rebuild)
        except StoreDamaged:
            with self._engine.write(budget_s=lock_budget_s) as connection:
                fts.tokens_in(connection).forsake(connection)
            with self._engine.write(budget_s=lock_budget_s) as connection:
                begin(connection, is_rebuild=True)

    def report_damage(self, error: HermesStateError, *, lock_budget_s: float | None = None) -> None:
        """A statement on the index failed: start it anew. The messages are canonical, the index is not.

        Raises:
            StoreDamaged: it can't be started anew either, so more than the index is damaged.
        """
        self.damage = error.message
        if not self._engine.read_only:
            self._start_over(lock_budget_s, is_rebuild=True)

    # --- upkeep -------------------------------------------------------------------------------------------------

    def merge(self, *, steps: int, lock_budget_s: float | None = None) -> bool:
        """Merge the index's segments in so many short write transactions at most. False when nothing is left to do."""
        for _ in range(steps):
            with self._engine.write(budget_s=lock_budget_s) as connection:
                if not fts.tokens_in(connection).merge(connection):
                    return False
        return True

    def tidy(self, *, lock_budget_s: float | None = None) -> bool:
        """Merge more than `merge` does, in one short write transaction. False when nothing is left to do."""
        with self._engine.write(budget_s=lock_budget_s) as connection:
            return fts.tokens_in(connection).tidy(connection)

    def try_tidy(self, *, budget_s: float = math.inf) -> bool:
        """Tidy until nothing is left, somebody else writes or the disk is full: it can wait. False: time was short."""
        deadline = time.monotonic() + budget_s
        while time.monotonic() < deadline:
            try:
                if not self.tidy(lock_budget_s=0.0):
                    return True
            except (StoreBusy, DiskFull):
                return True
            time.sleep(_BREATH_S)
        return False

    def purge(self) -> None:
        """Rewrite the index, so that no trace of deleted messages is left in it. Holds the write lock throughout."""
        self.catch_up()
        with self._engine.write() as connection:
            if mark(connection).is_usable:
                fts.tokens_in(connection).optimize(connection)

    def try_catch_up(self, *, budget_s: float, lock_budget_s: float) -> bool:
        """As `catch_up`, for a caller that can do without: False also when another process holds the write lock."""
        try:
            return self.catch_up(budget_s=budget_s, lock_budget_s=lock_budget_s)
        except StoreBusy:
            return False


@lru_cache(maxsize=8)
def _rules(segmentation: str) -> tuple[tuple[int, ...], ...]:
    """`1+stem2.2+unicode15.0.0` as numbers, so that newer rules compare greater."""
    parts = (part.strip("abcdefghijklmnopqrstuvwxyz") for part in segmentation.split("+"))
    return tuple(tuple(int(number) for number in part.split(".") if number.isdigit()) for part in parts)


_OUR_RULES = _rules(SEGMENTATION)
