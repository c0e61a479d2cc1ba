"""The full-text index of curated memories: every entry there ever was, kept by the transaction that changes them.

Derived data: it is made when the first entry is written, brought up to date before it is asked (an import adds entries
without it), and made anew when it was built by other rules of segmentation.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import delete, insert, select, update

from hermes_state.engine.entry_index import Entry, EntryIndex
from hermes_state.errors import StoreDamaged
from hermes_state.schema import memories, meta
from hermes_state.text import SEGMENTATION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import Connection

    from hermes_state.engine import Engine

_Found = TypeVar("_Found")
_log = logging.getLogger(__name__)

INDEX = EntryIndex("memory_index", memories.c.pk)
# Where it is written by which rules the index was built.
_RULES_KEY = "memory_index.segmentation"
# Missing entries above which building anew is simpler than asking for each.
_MOST_ADDED = 1_000
_c = memories.c


def is_current(connection: Connection) -> bool:
    """Whether the index is there, was built by these rules, and has every entry."""
    if not INDEX.exists(connection) or _rules(connection) != SEGMENTATION:
        return False
    of_table, of_index = INDEX.counts(connection)
    return of_table == of_index or not (
        _indexable(connection, INDEX.missing(connection)) or INDEX.strangers(connection)
    )


def asked(engine: Engine, ask: Callable[[Connection], list[_Found]]) -> list[_Found]:
    """What is found when the index has every entry; one that is unsound, or behind, is mended first.

    A store that is open for reading only has what it has.

    Raises:
        HermesStateError: as `engine.read` and `engine.write`.
    """
    try:
        return _asked(engine, ask)
    except StoreDamaged as error:
        if engine.read_only:
            raise
        _log.warning("the index of memories is made anew: %s", error.message)
        with engine.write() as connection:
            rebuild(connection)
        return _asked(engine, ask)


def _asked(engine: Engine, ask: Callable[[Connection], list[_Found]]) -> list[_Found]:
    with engine.read() as connection:
        if is_current(connection):
            return ask(connection)
        if engine.read_only:
            return ask(connection) if INDEX.exists(connection) else []
    with engine.write() as connection:
        catch_up(connection)
        return ask(connection)


def catch_up(connection: Connection) -> None:
    """Bring the index up to date, inside a write transaction."""
    if not INDEX.exists(connection) or _rules(connection) != SEGMENTATION:
        rebuild(connection)
        return
    of_table, of_index = INDEX.counts(connection)
    if of_table == of_index:
        return
    missing = INDEX.missing(connection)
    if len(missing) > _MOST_ADDED or INDEX.strangers(connection):
        rebuild(connection)
    else:
        INDEX.insert(connection, _indexable(connection, missing))


def rebuild(connection: Connection) -> None:
    """Make the index anew from the entries, inside a write transaction."""
    INDEX.drop(connection)
    INDEX.create(connection)
    rows = connection.execute(select(_c.pk, _c.content)).fetchall()
    INDEX.insert(connection, [Entry.of(row.pk, row.content) for row in rows])
    if not connection.execute(update(meta).where(meta.c.key == _RULES_KEY).values(value=SEGMENTATION)).rowcount:
        connection.execute(insert(meta).values(key=_RULES_KEY, value=SEGMENTATION))


def add(connection: Connection, pk: int, content: str) -> None:
    """Put a new entry in, inside the transaction that adds it."""
    if INDEX.exists(connection):
        INDEX.insert(connection, [Entry.of(pk, content)])


def forget(connection: Connection, pks: Sequence[int]) -> None:
    """Take entries out, inside the transaction that deletes them and before it does."""
    if INDEX.exists(connection):
        rows = connection.execute(select(_c.pk, _c.content).where(_c.pk.in_(pks))).fetchall()
        INDEX.delete(connection, [Entry.of(row.pk, row.content) for row in rows])


def purge(connection: Connection) -> None:
    """Rewrite the index, so that nothing of deleted entries is left in it."""
    if INDEX.exists(connection):
        catch_up(connection)
        INDEX.optimize(connection)


def drop(connection: Connection) -> None:
    """Take the index away; the next search makes it anew."""
    INDEX.drop(connection)
    connection.execute(delete(meta).where(meta.c.key == _RULES_KEY))


def differences(connection: Connection) -> Iterator[tuple[str, str]]:
    """Where the index is not what the entries say: (where, what). A store without one has none."""
    if not INDEX.exists(connection) or _rules(connection) != SEGMENTATION:
        return
    for entry in _indexable(connection, INDEX.missing(connection)):
        yield f"memory {entry.key}", "is not in the index"
    for key in INDEX.strangers(connection):
        yield f"entry {key}", "is of no memory"


_RULES = select(meta.c.value).where(meta.c.key == _RULES_KEY)


def _rules(connection: Connection) -> str | None:
    return connection.execute(_RULES).scalar()


def _indexable(connection: Connection, pks: Sequence[int]) -> list[Entry]:
    """The entries of these rows that have tokens at all."""
    if not pks:
        return []
    rows = connection.execute(select(_c.pk, _c.content).where(_c.pk.in_(pks))).fetchall()
    return [entry for row in rows if (entry := Entry.of(row.pk, row.content)).words or entry.grams]
