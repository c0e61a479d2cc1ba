"""`db.maintenance`: what a store needs from time to time, in steps that keep nobody waiting, and how it is doing."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_state.activity import fold
from hermes_state.engine import upkeep
from hermes_state.engine.holder import open_elsewhere
from hermes_state.errors import DiskFull, HermesStateError, StoreBusy, StoreDamaged
from hermes_state.maintenance.purge import Purged, purge
from hermes_state.maintenance.sizes import Sizes, sizes_in
from hermes_state.maintenance.status import Status, status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hermes_state.engine import Engine
    from hermes_state.index import MessageIndex

# How long `optimize` works at most when nobody says otherwise, in seconds.
OPTIMIZE_BUDGET_S = 60.0
# How long emptying the WAL may wait for readers of other processes, in seconds.
_CHECKPOINT_BUDGET_S = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Optimized:
    """What `optimize` did.

    Attributes:
        steps: write transactions it took.
        longest_lock_s: the longest of them; nobody waited longer for it.
        is_complete: whether nothing is left to do.
    """

    steps: int
    longest_lock_s: float
    is_complete: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Vacuumed:
    """The sizes of the store's files before and after."""

    before: Sizes
    after: Sizes

    @property
    def saved_bytes(self) -> int:
        """How much smaller they are; negative when the last messages were not in the main file yet."""
        return self.before.total - self.after.total


class Maintenance:
    """The upkeep of one store."""

    def __init__(self, engine: Engine, index: MessageIndex) -> None:
        self._engine = engine
        self._index = index

    def status(self) -> Status:
        """How the store is doing: sizes, schema, SQLite, counts, what waits to be indexed. Reads only."""
        return status(self._engine)

    def optimize(
        self, *, budget_s: float = OPTIMIZE_BUDGET_S, progress: Callable[[int], object] | None = None
    ) -> Optimized:
        """Bring the index up to date and merge it, fold counters, refresh the planner's numbers, empty the WAL.

        In short write transactions: appends of other processes go through in between.

        Args:
            budget_s: stop after so many seconds; the next call goes on.
            progress: called after each step with how many there were.

        Raises:
            StoreBusy: another process kept the write lock for the whole of the store's budget.
        """
        clock = _LockClock(progress)
        with clock.step(), self._engine.write() as connection:
            fold(connection)
        complete = self._tidy_index(time.monotonic() + budget_s, clock)
        with clock.step():
            upkeep.refresh_statistics(self._engine)
        if self._engine.dialect == "sqlite":
            upkeep.checkpoint(self._engine)
        return Optimized(steps=clock.steps, longest_lock_s=clock.longest_s, is_complete=complete)

    def _tidy_index(self, deadline: float, clock: _LockClock) -> bool:
        """Bring the index up to date and merge it until a moment; True when nothing is left to do."""
        if not self._index.is_available:
            return True
        try:
            if not self._index.catch_up(budget_s=deadline - time.monotonic()):
                return False
            while time.monotonic() < deadline:
                with clock.step():
                    was_needed = self._index.tidy()
                if not was_needed:
                    return True
        except StoreDamaged as error:
            self._index.report_damage(error)
        return False

    def checkpoint(self) -> bool:
        """Move the WAL into the database file and empty it. False when readers were in the way for 5 seconds."""
        return upkeep.checkpoint(self._engine, truncate=True, budget_s=_CHECKPOINT_BUDGET_S)

    def vacuum(self, *, while_open: bool = False) -> Vacuumed:
        """Rewrite the whole file without what is free in it. Nobody else can write meanwhile.

        On a server, the room of deleted rows is made free for new ones, of all stores of the database; nobody waits.

        Args:
            while_open: also when other processes have the store open; their writes wait, and fail after their budget.

        Raises:
            StoreBusy: another process has the store open, or is writing; names it.
            DiskFull: there is not room enough for the copy; nothing was changed.
            StoreUnavailable: on a server: the role does not own the tables.
        """
        before = sizes_in(self._engine)
        if self._engine.dialect == "sqlite":
            self._rewrite_file(while_open=while_open)
        else:
            from hermes_state.engine.postgres.vacuum import vacuum

            vacuum(self._engine)
        return Vacuumed(before=before, after=sizes_in(self._engine))

    def _rewrite_file(self, *, while_open: bool) -> None:
        self._make_sure_of_room()
        others = [] if while_open else open_elsewhere(self._engine.path)
        if others:
            raise StoreBusy(str(self._engine.path), waited_s=0.0, holder=", ".join(others))
        self._engine.run_alone("VACUUM")
        self.checkpoint()

    def _make_sure_of_room(self) -> None:
        """VACUUM writes the new file to the WAL first, and builds it in memory or in a temporary file before."""
        with self._engine.read() as connection:
            in_memory = upkeep.copies_in_memory(connection)
            filled = upkeep.pages(connection)
        needed = (filled.total - filled.free) * filled.size
        free = shutil.disk_usage(self._engine.path.parent).free
        wanted = needed if in_memory else 2 * needed
        if free < wanted:
            raise DiskFull(
                f"rewriting {self._engine.path} takes {_mb(wanted)} of free space and there are {_mb(free)}",
                hint="free some space; nothing was changed",
            )
        memory = upkeep.free_memory() if in_memory else None
        if memory is not None and memory < needed + needed // 4:
            raise HermesStateError(
                f"rewriting {self._engine.path} takes {_mb(needed)} of memory and there are {_mb(memory)}",
                hint="end other programs first; nothing was changed",
            )

    def purge(self, *, words: Sequence[str] = (), while_open: bool = False) -> Purged:
        """Deleted means deleted: rewrite index and file, empty the WAL, remove every older copy of the store.

        The copies are what `status().copies` lists: snapshots of upgrades, and what `db recover` set aside or salvaged.
        See `hermes_state.maintenance.purge`.
        """
        return purge(self, self._engine, self._index, words=words, while_open=while_open)


class _LockClock:
    """How long each write transaction took."""

    def __init__(self, progress: Callable[[int], object] | None) -> None:
        self.steps = 0
        self.longest_s = 0.0
        self._progress = progress

    @contextmanager
    def step(self) -> Iterator[None]:
        started = time.monotonic()
        yield
        self.steps += 1
        self.longest_s = max(self.longest_s, time.monotonic() - started)
        if self._progress is not None:
            self._progress(self.steps)


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


__all__ = ["Maintenance", "Optimized", "Purged", "Sizes", "Status", "Vacuumed", "purge", "status"]
