"""Building the index of a store that nobody else can see yet: a restored one, before it gets its place.

Without others to be considerate of there are no short transactions, no journal and hardly any merging: FTS5 gathers
tens of megabytes in memory and writes them as one segment.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from hermes_state import index, index_zones
from hermes_state.engine import fts, sqlite_index
from hermes_state.engine.driver import newest_driver
from hermes_state.engine.unshared import unshared
from hermes_state.index_worker import WORTH_MESSAGES, IndexWorker, Prepared, Row, prepare
from hermes_state.schema import messages, store_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Connection

# Rows read at a time, and characters of tokens after which a batch ends early.
BATCH_MESSAGES = 1_000
BATCH_CHARS = 1_000_000
# Characters of tokens that FTS5 gathers before it writes a segment. They take about as much memory as that.
SEGMENT_CHARS = 48_000_000
# Segments that are merged at once. A search looks into each: among fewer it takes no longer that can be measured, and
# merging them takes a tenth of the build.
MANY_SEGMENTS = 8

_COLUMNS = tuple(messages.c[name] for name in Row._fields)


def build_unshared(
    path: Path, worker: IndexWorker | None = None, *, progress: Callable[[int, int], object] | None = None
) -> None:
    """Bring the index of a store up to date that nobody else can see. After an error the file is good for nothing.

    Args:
        worker: segments most of it; None: one is started if that is worth it.
        progress: called after each batch with the highest id added and the highest there is.

    Raises:
        DiskFull, StoreUnavailable, StoreDamaged: as SQLite says.
    """
    with unshared(path) as connection:
        if not fts.is_available(connection):
            return
        stand = index.mark(connection)
        if stand.is_current and stand.rebuild_from is None:
            return
        if not stand.is_usable:
            sqlite_index.drop(connection)
            index.begin(connection, is_rebuild=False)
            stand = index.mark(connection)
        connection.commit()
        if worker is not None or stand.waiting < WORTH_MESSAGES:
            _build(connection, path, worker, stand, progress)
        else:
            with closing(IndexWorker.start()) as own:
                _build(connection, path, own, stand, progress)


def _build(
    connection: Connection,
    path: Path,
    worker: IndexWorker | None,
    stand: index.Mark,
    progress: Callable[[int, int], object] | None,
) -> None:
    sqlite_index.gather(connection, much=True)
    gathered, segments = 0, 1
    for prepared in _prepared(connection, path, worker, stand.indexed_through):
        sqlite_index.insert(connection, prepared.documents)
        index_zones.extend(connection, prepared.times)
        gathered += prepared.chars
        if gathered >= SEGMENT_CHARS:
            # FTS5 writes the segment now. The worker reads between two transactions and during one, but not while
            # pages are written.
            connection.commit()
            gathered, segments = 0, segments + 1
        if progress is not None:
            progress(prepared.times[-1][0], stand.newest)
    connection.commit()
    sqlite_index.gather(connection, much=False)
    while segments > MANY_SEGMENTS and sqlite_index.merge(connection):
        pass
    through = max(stand.newest, stand.indexed_through)
    connection.execute(update(store_state).values(indexed_through=through, rebuild_from=None))
    connection.commit()


def _prepared(connection: Connection, path: Path, worker: IndexWorker | None, after: int) -> Iterator[Prepared]:
    """All messages above an id: from the worker, and what it leaves from here."""
    sizes = {"messages": BATCH_MESSAGES, "chars": BATCH_CHARS}
    if worker is not None:
        for batch in worker.prepared(path, newest_driver().module.__name__, after=after, **sizes):
            yield batch
            after = batch.times[-1][0]
    query = select(*_COLUMNS).order_by(messages.c.id).limit(BATCH_MESSAGES)
    while rows := connection.execute(query.where(messages.c.id > after)).fetchall():
        batch = prepare(rows, BATCH_CHARS)
        yield batch
        after = batch.times[-1][0]
