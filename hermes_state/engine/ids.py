"""Ids for new messages, inside a write transaction: above every id that was ever given out in the store."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, func, literal, select

from hermes_state.schema import messages, store_state

if TYPE_CHECKING:
    from sqlalchemy import Connection

# PostgreSQL's appends draw from this, side by side and without the store's lock, so everybody does.
_SEQUENCE = "messages_id_seq"
_DRAW = "SELECT nextval('messages_id_seq') FROM generate_series(1, %s)"
# Ids drawn at a time. Those that are not used leave a gap, which nobody minds.
_DRAWN = 64


class MessageIds:
    """Gives out ids, rising.

    Args:
        expected: how many will be taken, as far as that is known.
    """

    def __init__(self, connection: Connection, expected: int = _DRAWN) -> None:
        self._connection = connection
        self._expected = expected
        self._is_drawn = connection.dialect.name == "postgresql"
        self._drawn: deque[int] = deque()
        self._next = 0 if self._is_drawn else _first_free(connection)

    def take(self) -> int:
        """The next one."""
        if not self._is_drawn:
            self._next += 1
            return self._next - 1
        if not self._drawn:
            self._drawn.extend(self._connection.exec_driver_sql(_DRAW, (self._expected,)).scalars())
        return self._drawn.popleft()

    def column(self, offset: ColumnElement[int]) -> ColumnElement[Any]:
        """An expression for the ids of an `INSERT … SELECT` whose rows come numbered by `offset` from 0."""
        return func.nextval(_SEQUENCE) if self._is_drawn else literal(self._next) + offset


def _first_free(connection: Connection) -> int:
    newest = connection.execute(select(func.coalesce(func.max(messages.c.id), 0))).scalar_one()
    floor = connection.execute(select(store_state.c.id_floor)).scalar_one()
    return int(max(newest, floor)) + 1
