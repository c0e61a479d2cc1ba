"""A new, sound store out of the rows of a damaged one. Whatever can be derived is derived anew."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from hermes_state.activity import fold
from hermes_state.clock import now_us
from hermes_state.engine.salvage import Undecodable, Walk
from hermes_state.recover import lineage, mending
from hermes_state.schema import messages, metadata, sessions, store_state, system_prompts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sqlalchemy import Connection, Table

    from hermes_state.engine import Engine
    from hermes_state.engine.salvage import DamagedFile

# Rows written in one transaction.
_BATCH = 2_000
# Tables that are built from others, or mean nothing in another file.
_DERIVED = frozenset(
    (
        "store_state",
        "index_zones",
        "session_digests",
        "leases",
        "fact_state",
        "fact_banks",
        "fact_slots",
        "fact_conflicts",
    )
)
_MAIN = frozenset(("sessions", "messages", "system_prompts"))
_m, _s = messages.c, sessions.c
_SESSION_IDS, _PLACES = "sqlite_autoindex_sessions_1", "uq_messages_session_pk_position"


@dataclass(frozen=True, kw_only=True, slots=True)
class Salvaged:
    """What became of one table.

    Attributes:
        recovered: rows in the new store.
        mended: how many of them lost a part that could not be read.
        lost: rows that are known to have been there and are not in the new store.
    """

    table: str
    recovered: int
    mended: int
    lost: int


class Builder:
    """Fills a new store from a damaged one."""

    def __init__(
        self, source: DamagedFile, engine: Engine, progress: Callable[[str, int], object] | None = None
    ) -> None:
        self._source = source
        self._engine = engine
        self._progress = progress
        self._mended: Counter[str] = Counter()
        # What the secondary indexes, which lie in other pages, say was there.
        self._session_ids = {pk: key[0] for pk, key in source.indexed("sessions", _SESSION_IDS, ["id"]).items()}
        places = source.indexed("messages", _PLACES, ["session_pk", "position"])
        self._message_ids = {row for row in places if isinstance(row, int) and 0 < row < 2**53}

    def build(self) -> list[Salvaged]:
        """Fill every table; returns what became of each."""
        floor = self._keep_state()
        self._copy_prompts()
        self._copy_sessions()
        self._copy_messages(floor)
        for table in metadata.sorted_tables:
            if table.name not in _DERIVED | _MAIN:
                self._copy_plain(table)
        with self._engine.migration() as connection:
            self._add_missing_sessions(connection)
            _drop_dangling(connection)
            lineage.derive(connection)
            fold(connection)
            return [self._outcome(connection, table) for table in metadata.sorted_tables if table.name not in _DERIVED]

    # --- the tables ----------------------------------------------------------------------------------------------

    def _keep_state(self) -> int:
        """The store keeps its name; returns the highest message id there was, as far as anything tells."""
        row = next(self._rows(store_state, last=1), {})
        values: dict[str, Any] = {}
        if mending.text(row.get("store_id")):
            values["store_id"] = row["store_id"]
        if mending.is_instant(row.get("created_at")):
            values["created_at"] = row["created_at"]
        told = [*self._message_ids, row.get("id_floor"), row.get("counted_through"), row.get("indexed_through")]
        floor = max((n for n in told if isinstance(n, int) and 0 <= n < 2**53), default=0)
        with self._engine.write() as connection:
            connection.execute(update(store_state).values(id_floor=floor, **values))
        return floor

    def _copy_prompts(self) -> None:
        good = (
            row
            for row in self._rows(system_prompts)
            if isinstance(row["sha256"], bytes) and isinstance(row["text"], str)
        )
        self._insert(system_prompts, good)

    def _copy_sessions(self) -> None:
        self._insert(
            sessions, map(self._mended_session, self._rows(sessions, last=max(self._session_ids, default=None)))
        )

    def _mended_session(self, found: mending.Row) -> mending.Row:
        done = mending.session(found, pk=found["pk"], fallback_at=now_us())
        self._mended["sessions"] += done.mended
        return _alone(done.row | {"pk": found["pk"]})

    def _copy_messages(self, floor: int) -> None:
        self._insert(messages, self._mended_messages(floor))

    def _mended_messages(self, floor: int) -> Iterator[mending.Row]:
        last_at = now_us()
        for found in self._rows(messages, last=floor or None):
            done = mending.message(found, last_created_at=last_at)
            if done is not None:
                last_at = done.row["created_at"]
                self._mended["messages"] += done.mended
                yield done.row | {"id": found["id"]}

    def _copy_plain(self, table: Table) -> None:
        required = [c.name for c in table.c if not c.nullable]
        good = (
            row
            for row in self._rows(table)
            if not any(isinstance(value, Undecodable) for value in row.values())
            and all(row[name] is not None for name in required)
            and ("entry" not in row or mending.json_text(row["entry"]) is not None)
        )
        self._insert(table, good)

    # --- reading and writing -------------------------------------------------------------------------------------

    def _rows(self, table: Table, *, last: int | None = None) -> Iterator[mending.Row]:
        """The readable rows of a table by column name; a column that the damaged store lacks is None."""
        names = [name for name in (c.name for c in table.c) if name in set(self._source.columns(table.name))]
        if not names:
            return
        empty = {c.name: None for c in table.c}
        walk = Walk(table.name)
        key = [c.name for c in table.primary_key.columns]
        if table.dialect_options["sqlite"]["with_rowid"]:
            for row_id, *stored in self._source.rows(walk, names, first=1, last=last):
                row = empty | dict(zip(names, stored, strict=True))
                if len(key) == 1 and table.primary_key.columns[key[0]].type.python_type is int:
                    row[key[0]] = row_id
                yield row
        else:
            for values in self._source.keyed_rows(walk, names, key):
                yield empty | dict(zip(names, values, strict=True))

    def _insert(self, table: Table, rows: Iterable[mending.Row]) -> None:
        """Write rows; one that would break a rule of the store is made to fit, or left out."""
        rows = iter(rows)
        total = 0
        while batch := list(islice(rows, _BATCH)):
            with self._engine.migration() as connection:
                try:
                    with connection.begin_nested():
                        connection.execute(insert(table), batch)
                except IntegrityError:
                    for row in batch:
                        self._insert_one(connection, table, row)
            total += len(batch)
            if self._progress is not None:
                self._progress(table.name, total)

    def _insert_one(self, connection: Connection, table: Table, row: mending.Row) -> None:
        for values in (row, None):
            try:
                with connection.begin_nested():
                    connection.execute(insert(table).values(values or _made_to_fit(connection, table, row)))
            except IntegrityError:
                continue
            return

    # --- afterwards ----------------------------------------------------------------------------------------------

    def _add_missing_sessions(self, connection: Connection) -> None:
        """A session of which only messages are left gets a row: its id from the index of ids, or one that says so."""
        stray = (
            select(_m.session_pk, func.min(_m.created_at), func.max(_m.created_at))
            .where(_m.session_pk.not_in(select(_s.pk)))
            .group_by(_m.session_pk)
        )
        for pk, first_at, last_at in connection.execute(stray).fetchall():
            found = {"id": self._session_ids.get(pk), "started_at": first_at, "last_active_at": last_at}
            done = mending.session(found, pk=pk, fallback_at=first_at)
            self._mended["sessions"] += 1
            self._insert_one(connection, sessions, _alone(done.row | {"pk": pk}))

    def _outcome(self, connection: Connection, table: Table) -> Salvaged:
        key = table.primary_key.columns[0]
        count = int(connection.execute(select(func.count()).select_from(table)).scalar_one())
        known = {"sessions": set(self._session_ids), "messages": self._message_ids}.get(table.name, set())
        there = set(connection.execute(select(key)).scalars()) if known else set()
        return Salvaged(table=table.name, recovered=count, mended=self._mended[table.name], lost=len(known - there))


def _alone(row: mending.Row) -> mending.Row:
    """A session before its place among the others is derived: the tip of a conversation of its own."""
    return {
        **row,
        "conversation_pk": row["pk"],
        "is_tip": True,
        "delegated": False,
        "message_count": 0,
        "tool_call_count": 0,
    }


def _made_to_fit(connection: Connection, table: Table, row: mending.Row) -> mending.Row:
    """The row without what another row has already: a title or platform id goes, an id or a position is a new one."""
    if table is sessions:
        return row | {"id": f"{row['id']}-recovered-{row['pk']}", "title": None}
    if table is messages:
        last = select(func.coalesce(func.max(_m.position), -1)).where(_m.session_pk == row["session_pk"])
        return row | {"position": connection.execute(last).scalar_one() + 1, "platform_message_id": None}
    return row


def _drop_dangling(connection: Connection) -> None:
    """References to rows that are lost: set to NULL where the column allows it, else the row goes."""
    for table in metadata.sorted_tables:
        for key in table.foreign_keys:
            column, target = key.parent, key.column
            dangling = column.is_not(None) & column.not_in(select(target))
            if column.nullable:
                values: dict[str, Any] = {column.name: None}
                if table is sessions and column.name == "parent_pk":
                    values["relation"] = None
                connection.execute(update(table).where(dangling).values(values))
            else:
                connection.execute(delete(table).where(dangling))
