"""`copy_store`: everything a store holds into another one, on the same engine or the other."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sqlalchemy import func, insert, select, update

from hermes_state import fact_index
from hermes_state.copying import mark as marks
from hermes_state.copying.content import StoreContent
from hermes_state.copying.conversations import Conversations
from hermes_state.copying.digest import Digest, digests
from hermes_state.copying.keys import Keys
from hermes_state.copying.learned import Learned
from hermes_state.copying.mark import Mark
from hermes_state.copying.merging import merge_conversations, merge_memories
from hermes_state.copying.report import CopyReport, Count
from hermes_state.copying.rows import Table, count
from hermes_state.copying.tables import AROUND, CONVERSATIONS, KEPT, OF_FACTS, OF_MEMORIES, OF_SESSIONS, PROMPT_TABLE
from hermes_state.errors import Conflict, InvalidValue, StoreNotEmpty
from hermes_state.schema import fact_state, facts, messages, store_state
from hermes_state.transfer.progress import Progress, no_progress

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from hermes_state.copying.tables import Kept
    from hermes_state.engine import Engine

# The fact index, vectors and banks follow from the facts: whoever needs them makes them again.
_FACTS_ANEW = {
    "segmentation": None,
    "indexed_through": 0,
    "encoding": None,
    "encoded_through": 0,
    "banked_through": 0,
    "compared_through": 0,
}


def copy_store(source: Engine, target: Engine, *, merge: bool = False, progress: Progress = no_progress) -> CopyReport:
    """Copy a store into another one; at the end both are counted and their digests compared.

    The source is read as it was at one moment and stays as it is. An empty target gets everything. One that an earlier
    run was filling gets the rest. A full-text index is made by whoever needs it first.

    Args:
        merge: the target may have content of its own: what it lacks comes in, by content; what it has in another way is
            listed in the report and stays.
        progress: told messages done and in all.

    Raises:
        InvalidValue: both are the same store.
        StoreNotEmpty: the target has content, and `merge` was not asked for; nothing was changed.
        Conflict: the target is a copy of another store that was cut off, or somebody wrote to it since.
        HermesStateError: as the engines say; what was committed stays, and a second run goes on.
    """
    started = time.monotonic()
    with source.read() as reading:
        work = _Copy(reading, source, target, progress)
        if merge:
            work.merge()
        elif not work.is_done_already():
            work.fill()
        work.prove()
    work.report.seconds = time.monotonic() - started
    return work.report


class _Copy:
    """One copy under way.

    Args:
        reading: the source as it is copied.
    """

    def __init__(self, reading: Connection, source: Engine, target: Engine, progress: Progress) -> None:
        self._reading, self._target, self._progress = reading, target, progress
        self._keys = Keys(reading)
        self._source_id = _store_id(reading)
        self._added: dict[str, int] = {}
        self.report = CopyReport(source=source.shown, target=target.shown)
        with target.read() as connection:
            if _store_id(connection) == self._source_id:
                raise InvalidValue(f"{source.shown} and {target.shown} are the same store")
            self._is_empty = not any(_has_rows(connection))
        self._refuse_half(reading)

    def _refuse_half(self, reading: Connection) -> None:
        if Mark.read(reading) is not None:
            raise Conflict(
                f"{self.report.source} is itself a copy that was cut off",
                hint="finish it first: run the copy into it again",
            )

    # --- into an empty store ------------------------------------------------------------------------------------

    def is_done_already(self) -> bool:
        """Whether the target says just what the source says, and nothing is under way.

        Raises:
            StoreNotEmpty, Conflict: it has other content.
        """
        with self._target.read() as connection:
            mark = Mark.read(connection)
            if mark is not None:
                self._go_on(connection, mark)
                return False
            if self._is_empty:
                return False
            if all(_rows(connection, table) == _rows(self._reading, table) for table in CONVERSATIONS):
                self._compare(connection)
        if self.report.is_equal:
            return True
        raise StoreNotEmpty(self.report.target, hint="--merge brings in what it lacks and lists what differs")

    def _go_on(self, connection: Connection, mark: Mark) -> None:
        newest = connection.execute(select(func.coalesce(func.max(messages.c.id), 0))).scalar_one()
        if mark.source != self._source_id or newest > mark.newest:
            what = "is a copy of another store" if mark.source != self._source_id else "was written to since"
            raise Conflict(
                f"{self.report.target} {what}, and was cut off before its end",
                hint="copy into another store, or finish that copy first",
            )
        self.report.resumed = True

    def fill(self) -> None:
        """Everything; what an earlier run brought in is passed over."""
        with self._target.write() as connection:
            mark = Mark.read(connection) or Mark(source=self._source_id)
            mark.write(connection)
        self._tables([PROMPT_TABLE], is_empty=True)
        conversations = Conversations(self._reading, self._target, self._keys, mark)
        conversations.add_sessions()
        conversations.add_messages(self._progress)
        conversations.link()
        self._added |= {"sessions": conversations.sessions_added, "messages": conversations.messages_added}
        self._tables([*OF_SESSIONS, *AROUND, *OF_MEMORIES], is_empty=True)
        self._facts(is_empty=True)
        with self._target.write() as connection:
            marks.remove(connection)

    def _tables(self, tables: Iterable[Kept], *, is_empty: bool, floor: int = 0) -> None:
        for kept in tables:
            work = Table(kept, self._reading, self._keys, self.report, is_empty=is_empty, floor=floor)
            work.copy(self._target)
            self._added[kept.table.name] = work.added

    def _facts(self, *, is_empty: bool) -> None:
        if not _rows(self._reading, facts):
            return
        with self._target.read() as connection:
            own = _floor(connection)
        self._tables(OF_FACTS, is_empty=is_empty, floor=own)
        floor = max(own, _floor(self._reading)) if is_empty else own
        with self._target.write() as connection:
            fact_index.INDEX.drop(connection)
            values = {**_FACTS_ANEW, "id_floor": floor, "changes": fact_state.c.changes + 1}
            if not connection.execute(update(fact_state).values(values)).rowcount:
                connection.execute(insert(fact_state).values({**values, "id": 1, "changes": 1, "dim": 0}))

    # --- into a store with content ------------------------------------------------------------------------------

    def merge(self) -> None:
        """What the target lacks.

        Raises:
            Conflict: it is a copy that was cut off.
        """
        with self._target.read() as connection:
            if Mark.read(connection) is not None:
                raise Conflict(
                    f"{self.report.target} is a copy that was cut off", hint="finish it first: copy without --merge"
                )
        self.report.merged = True
        self._added |= merge_conversations(self._reading, self._target, self.report, self._progress)
        self._added |= merge_memories(self._reading, self._target, self.report)
        self._tables(AROUND, is_empty=False)
        self._facts(is_empty=False)

    # --- proof --------------------------------------------------------------------------------------------------

    def prove(self) -> None:
        """Count both, and compare what they say."""
        with self._target.read() as connection:
            tables = {table.name: (_rows(self._reading, table), _rows(connection, table)) for table in CONVERSATIONS}
            tables |= {kept.table.name: (count(self._reading, kept), count(connection, kept)) for kept in KEPT}
            for name, (there, here) in tables.items():
                added = self._added.get(name, 0)
                self.report.counts[name] = Count(source=there, target=here, added=added)
                if here < there and not self.report.merged:
                    self.report.clash(name, f"{there} rows in the source, {here} in the target")
            if self.report.target_digest is None:
                self._compare(connection)

    def _compare(self, target: Connection) -> None:
        self.report.source_digest, self.report.target_digest = _digest(self._reading), _digest(target)


def refuse_content(engine: Engine) -> None:
    """Refuse a store that could not be filled.

    Raises:
        StoreNotEmpty: it has content.
    """
    with engine.read() as connection:
        if any(_has_rows(connection)):
            raise StoreNotEmpty(engine.shown, hint="give an empty one")


def _digest(connection: Connection) -> Digest:
    # It is a proof of what both hold, so what earlier digests learned is not taken for it.
    return digests(StoreContent(connection, Learned(connection, anew=True))).combined()


def _store_id(connection: Connection) -> str:
    return str(connection.execute(select(store_state.c.store_id)).scalar_one())


def _floor(connection: Connection) -> int:
    return int(connection.execute(select(func.coalesce(func.max(fact_state.c.id_floor), 0))).scalar_one())


def _has_rows(connection: Connection) -> Iterable[bool]:
    for kept in KEPT:
        yield count(connection, kept) > 0
    for table in CONVERSATIONS:
        yield _rows(connection, table) > 0


def _rows(connection: Connection, table: object) -> int:
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())  # type: ignore[arg-type]
