"""Many messages at once, inside one write transaction: rows are gathered and written together, counters follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, case, func, insert, select, update

from hermes_state.activity import fold, recount
from hermes_state.conversation import retip
from hermes_state.engine.ids import MessageIds
from hermes_state.records import MessageState
from hermes_state.schema import messages, sessions, store_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import Connection

Row = dict[str, Any]
_m, _c = messages.c, sessions.c
_EMPTY: Row = {c.name: None for c in _m} | {"state": int(MessageState.ACTIVE)}
_COUNT = (
    update(sessions)
    .where(_c.pk == bindparam("pk_"))
    .values(
        message_count=_c.message_count + bindparam("active"),
        tool_call_count=_c.tool_call_count + bindparam("calls"),
        last_active_at=case((_c.last_active_at < bindparam("last_at"), bindparam("last_at")), else_=_c.last_active_at),
    )
)


class Bulk:
    """The messages that one transaction adds. Call `finish` as the last thing in it."""

    def __init__(self, connection: Connection) -> None:
        fold(connection)  # after this every message above the mark is one of ours, counted by us
        self._connection = connection
        self._ids = MessageIds(connection)
        self._rows: list[Row] = []
        self._counted: dict[int, Row] = {}
        self._positions: dict[int, int] = {}
        self._conversations: set[int] = set()
        self._recount: set[int] = set()

    def take_id(self) -> int:
        """An id for a message that is written in another way."""
        return self._ids.take()

    def is_new(self, session_pk: int) -> None:
        """Say that a session has no messages yet, so that nobody has to look."""
        self._positions[session_pk] = 0

    def add(self, session_pk: int, columns: Iterable[Mapping[str, Any]]) -> list[int]:
        """Add messages at the end of a session, or at the positions they name; returns their ids.

        Args:
            columns: as `codec.encode` makes them.
        """
        position = self._position(session_pk)
        total = self._counted.setdefault(session_pk, {"pk_": session_pk, "active": 0, "calls": 0, "last_at": 0})
        ids = []
        for given in columns:
            row = {**_EMPTY, **given, "id": self._ids.take(), "session_pk": session_pk}
            if row["position"] is None:
                row["position"] = position
            position = row["position"] + 1
            if row["state"] == MessageState.ACTIVE:
                total["active"] += 1
                total["calls"] += row["tool_call_count"] or 0
            total["last_at"] = max(total["last_at"], row["created_at"])
            self._rows.append(row)
            ids.append(row["id"])
        self._positions[session_pk] = position
        return ids

    def _position(self, session_pk: int) -> int:
        if session_pk not in self._positions:
            last = self._connection.execute(select(func.max(_m.position)).where(_m.session_pk == session_pk)).scalar()
            self._positions[session_pk] = 0 if last is None else int(last) + 1
        return self._positions[session_pk]

    def discard(self, session_pk: int) -> None:
        """Forget the rows of a session that wait to be written: it was undone."""
        self._rows = [row for row in self._rows if row["session_pk"] != session_pk]
        self._counted.pop(session_pk, None)
        self._positions.pop(session_pk, None)

    def write(self) -> None:
        """Write the rows that wait to be written together."""
        if self._rows:
            self._connection.execute(insert(messages), self._rows)
            self._rows.clear()
        if self._counted:
            self._connection.execute(_COUNT, list(self._counted.values()))
            self._counted.clear()

    def recount_later(self, session_pk: int) -> None:
        """Count a session's messages again at the end: some of them were changed."""
        self._recount.add(session_pk)

    def retip_later(self, conversation_pk: int) -> None:
        """Find the tip of a conversation again at the end."""
        self._conversations.add(conversation_pk)

    def finish(self) -> None:
        """Write what waits, and bring counters and tips up to date."""
        self.write()
        newest = select(func.coalesce(func.max(_m.id), 0)).scalar_subquery()
        self._connection.execute(update(store_state).values(counted_through=newest))
        for pk in self._recount:
            recount(self._connection, pk)
        for conversation in self._conversations:
            retip(self._connection, conversation)
