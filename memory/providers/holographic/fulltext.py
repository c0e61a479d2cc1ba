"""The full-text index over facts: kept by every write, filled anew when it is missing or was made by other rules.

While it is filled, `fact_state.segmentation` is NULL and `indexed_through` says how far it goes; facts above that are
not in it yet, and the next batch brings them in. A kill at any moment costs nothing but the batch at hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from hermes_state.engine import fts
from hermes_state.engine.entry_index import Entry
from hermes_state.errors import SearchUnavailable
from hermes_state.fact_index import INDEX
from hermes_state.schema import facts
from hermes_state.text import SEGMENTATION
from memory.providers.holographic import state
from memory.providers.holographic.analysis import indexed_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlalchemy import ColumnElement, Connection

    from hermes_state.engine import Engine
    from hermes_state.text.query import Node

# Facts indexed in one write transaction: some 20 ms.
BATCH = 500
_f = facts.c


class FactIndex:
    """The index of one store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._is_available: bool | None = None

    def ensure(self, progress: Callable[[int, int], object] | None = None) -> None:
        """Bring the index up to date, if it is not: one look at two rows when it is.

        Raises:
            SearchUnavailable: this SQLite has no FTS5, or the index has to be made and the store is read-only.
        """
        with self._engine.read() as connection:
            if not self._available(connection):
                raise SearchUnavailable(
                    "this SQLite was built without FTS5", hint="`pip install pysqlite3` brings one that has it"
                )
            if state.read(connection).segmentation == SEGMENTATION and INDEX.exists(connection):
                return
        if self._engine.read_only:
            raise SearchUnavailable("the facts are not indexed yet", hint="open the store once for writing")
        self._start_over()
        while not self._step(progress):
            pass

    def rebuild(self, progress: Callable[[int, int], object] | None = None) -> None:
        """Fill the index anew."""
        with self._engine.write() as connection:
            state.move(connection, segmentation=None, indexed_through=0)
            INDEX.drop(connection)
        self.ensure(progress)

    def _available(self, connection: Connection) -> bool:
        if self._is_available is None:
            self._is_available = fts.is_available(connection)
        return self._is_available

    def _start_over(self) -> None:
        """Empty it, unless it is being filled already by these rules."""
        with self._engine.write() as connection:
            stand = state.read(connection)
            is_filling = stand.segmentation is None and stand.indexed_through > 0 and INDEX.exists(connection)
            is_done = stand.segmentation == SEGMENTATION and INDEX.exists(connection)
            if not is_filling and not is_done:
                INDEX.drop(connection)
                INDEX.create(connection)
                state.move(connection, segmentation=None, indexed_through=0)

    def _step(self, progress: Callable[[int, int], object] | None) -> bool:
        """Index one batch. True when nothing is left."""
        with self._engine.write() as connection:
            stand = state.read(connection)
            if stand.segmentation == SEGMENTATION:  # another process was faster
                return True
            query = select(_f.pk, _f.content, _f.tags).where(_f.pk > stand.indexed_through).order_by(_f.pk)
            rows = connection.execute(query.limit(BATCH)).all()
            INDEX.insert(connection, [Entry.of(row.pk, indexed_text(row.content, row.tags)) for row in rows])
            is_last = len(rows) < BATCH
            reached = rows[-1].pk if rows else stand.indexed_through
            state.move(connection, indexed_through=reached, segmentation=SEGMENTATION if is_last else None)
        if progress is not None:
            progress(reached, stand.newest)
        return is_last

    # --- inside the transaction of a write -----------------------------------------------------------------------

    def add(self, connection: Connection, texts: Iterable[tuple[int, str, str]]) -> None:
        """Take facts in, as (key, content, tags)."""
        self._change(connection, texts, INDEX.insert)

    def remove(self, connection: Connection, texts: Iterable[tuple[int, str, str]]) -> None:
        """Take facts out, each with the content and tags it was put in with."""
        self._change(connection, texts, INDEX.delete)

    @staticmethod
    def _change(
        connection: Connection,
        texts: Iterable[tuple[int, str, str]],
        change: Callable[[Connection, Sequence[Entry]], None],
    ) -> None:
        stand = state.read(connection)
        is_whole = stand.segmentation is not None
        if is_whole and (stand.segmentation != SEGMENTATION or not INDEX.exists(connection)):
            # Made by other rules: it is filled anew before the next search, from the rows as they are then.
            state.move(connection, segmentation=None, indexed_through=0)
            return
        entries = [
            Entry.of(key, indexed_text(content, tags))
            for key, content, tags in texts
            if is_whole or key <= stand.indexed_through
        ]
        change(connection, entries)

    # --- reading -------------------------------------------------------------------------------------------------

    def matches(
        self,
        connection: Connection,
        node: Node,
        *,
        conditions: Sequence[ColumnElement[bool]] = (),
        below: int | None = None,
        limit: int,
    ) -> list[int]:
        """The keys of facts that meet a node, highest first; `ensure` it before the transaction."""
        return INDEX.matches(connection, node, conditions=conditions, below=below, limit=limit)
