"""A connection to the server, with the one statement that runs once per message.

psycopg's `execute` converts a statement, looks for the types of its values and remembers what it prepared: 40 µs of an
append, as much as all the rest of the client. This one is prepared once with fixed types and goes to libpq directly
(https://www.psycopg.org/psycopg3/docs/api/pq.html).

What an append is told about the end of its session goes with the next one, so that the server need not look for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg
from psycopg import generators
from psycopg.errors import InvalidSqlStatementName, error_from_result
from psycopg.pq import ExecStatus, TransactionStatus

from hermes_state.engine.statements import APPEND_OPTIONAL

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES = ("created_at", "role", "content", *APPEND_OPTIONAL)
_PREPARED = b"hermes_append"
_PREPARE = (
    "PREPARE hermes_append (bigint, bigint, integer, text, bigint, text, text, integer, text, text, text, integer,"
    " text, text) AS SELECT hermes_append_after($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
)
_APPEND = "SELECT hermes_append(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
# Sessions whose ends a connection remembers; more than an agent writes to at a time.
_MOST_ENDS = 100


class _End(NamedTuple):
    """The end of a session as it was behind an append: what `hermes_append_after` wants to be told."""

    changes: bytes
    session_pk: bytes
    next_position: int


class ServerConnection(psycopg.Connection[Any]):
    """A connection of the engine. It speaks UTF-8."""

    _ends: dict[str, _End] | None = None  # None: the statement is not prepared

    def rollback(self) -> None:
        """Undo what is unfinished. psycopg's own needs some µs to see that nothing is."""
        if self.pgconn.transaction_status != TransactionStatus.IDLE:
            super().rollback()

    def append(self, session_id: str, columns: Mapping[str, Any]) -> tuple[int, int] | None:
        """Add a message, as a transaction by itself; see `PostgresEngine.append_message`.

        Raises:
            psycopg.Error: the server refused, or is gone.
            UnicodeEncodeError: a text with a lone surrogate.
        """
        values = [_sent(session_id), *[_sent(columns.get(name)) for name in _NAMES]]
        ends = self._prepare() if self._ends is None else self._ends
        end = ends.pop(session_id, None)
        try:
            answer = self._ask(end, values)
        except InvalidSqlStatementName:  # psycopg throws away all prepared statements when one may be out of date
            ends = self._prepare()
            answer = self._ask(None, values)
        if answer is None:
            return None
        message_id, *found = answer.split()
        if found:
            end = _End(found[2], found[1], int(found[0]))
        assert end is not None
        position = end.next_position
        if len(ends) >= _MOST_ENDS:
            ends.clear()
        ends[session_id] = _End(end.changes, end.session_pk, position + 1)
        return int(message_id), position

    def _prepare(self) -> dict[str, _End]:
        self.execute(_PREPARE)
        self._ends = {}
        return self._ends

    def _ask(self, end: _End | None, values: list[bytes | None]) -> bytes | None:
        known = [None, None, None] if end is None else [end.changes, end.session_pk, b"%d" % end.next_position]
        self.pgconn.send_query_prepared(_PREPARED, [*known, *values])
        result = self.wait(generators.execute(self.pgconn))[0]
        if result.status != ExecStatus.TUPLES_OK:
            raise error_from_result(result)
        answer: bytes | None = result.get_value(0, 0)
        return answer

    def append_within(self, session_id: str, columns: Mapping[str, Any]) -> tuple[int, int] | None:
        """The same within the transaction that is open, where a statement that is not prepared any more ends all."""
        row = self.execute(_APPEND, (session_id, *(columns.get(name) for name in _NAMES))).fetchone()
        if row is None or row[0] is None:
            return None
        message_id, position, *_ = row[0].split()
        return int(message_id), int(position)


def _sent(value: str | int | None) -> bytes | None:
    """A value in PostgreSQL's text form."""
    if value is None:
        return None
    if isinstance(value, int):
        return b"%d" % value
    data = value.encode()
    if b"\0" in data:  # libpq would take it as the end
        raise psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
    return data
