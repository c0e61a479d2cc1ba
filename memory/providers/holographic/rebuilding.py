"""Making everything that follows from the facts' texts again: links, vectors, slots, then banks and comparisons.

Batch by batch, each a transaction that also moves the mark. A kill costs the batch at hand, and the next run goes on
there. Facts can be read, searched, added and removed meanwhile: vectors of two dimensions lie side by side, and a
question is compared with each at its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from hermes_state.schema import fact_conflicts, fact_vectors, facts
from memory.providers.holographic import bank_table, state
from memory.providers.holographic.algebra import check_dim
from memory.providers.holographic.analysis import ENCODING, analyse

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory.providers.holographic.store import FactStore

BATCH = 100
_f = facts.c


def rebuild_all_vectors(
    store: FactStore, dim: int | None = None, *, progress: Callable[[int, int], object] | None = None
) -> int:
    """Make the vectors and links of all facts again; goes on where an interrupted run with this dimension stopped.

    Args:
        dim: phases of a vector from now on; None: the store's.
        progress: called after each batch with the highest fact done and the highest there is.

    Returns:
        How many facts were done by this run.

    Raises:
        InvalidValue: vectors can't have this dimension.
        StoreBusy: another process kept the write lock; what was done stays done.
    """
    dim = store.dim if dim is None else check_dim(dim)
    store.dim = dim
    with store.engine.write() as connection:
        stand = state.read(connection)
        is_interrupted = stand.encoding is None and stand.dim == dim and stand.encoded_through > 0
        if not is_interrupted:
            state.move(connection, dim=dim, encoding=None, encoded_through=0)
    done = 0
    while batch := _batch(store, progress):
        done += batch
    return done


def is_due(store: FactStore) -> bool:
    """Whether a rebuild was interrupted, or some vectors are of another dimension than new ones, or by other rules."""
    with store.engine.read() as connection:
        stand = state.read(connection)
        other = select(fact_vectors.c.fact_pk).where(fact_vectors.c.dim != store.dim).limit(1)
        is_mixed = connection.execute(other).first() is not None
    return is_mixed or (stand.dim > 0 and stand.encoding != ENCODING)


def _batch(store: FactStore, progress: Callable[[int, int], object] | None) -> int:
    """Do some facts; how many. After the last, what is made of several facts is marked to be made again."""
    with store.engine.read() as connection:
        through = state.read(connection).encoded_through
        query = select(_f.pk, _f.content).where(_f.pk > through).order_by(_f.pk).limit(BATCH)
        rows = connection.execute(query).all()
    analysed = {row.pk: analyse(row.content, store.dim) for row in rows}
    with store.engine.write() as connection:
        stand = state.read(connection)
        if stand.encoded_through != through or stand.dim != store.dim:  # another process is at it, too
            return len(rows) if stand.encoding is None else 0
        if not rows:
            state.move(connection, encoding=ENCODING, banked_through=0, compared_through=0)
            connection.execute(delete(fact_conflicts))
            bank_table.forget(connection)
            state.changed(connection)
            return 0
        there = {row.pk: row.content for row in connection.execute(select(facts).where(_f.pk.in_(list(analysed))))}
        # What was removed or changed since it was read is left alone: a change makes its own.
        same = {pk: each for pk, each in analysed.items() if there.get(pk) == each.content}
        if stand.banked_through:
            bank_table.forget(connection)
        store.derive_again(connection, same)
        state.move(connection, encoded_through=rows[-1].pk)
    if progress is not None:
        progress(rows[-1].pk, max(stand.newest, rows[-1].pk))
    return len(rows)
