"""A connection to the server, with the statements that run once per message.

psycopg's `execute` converts a statement, looks for the types of its values and remembers what it prepared: 40 µs of an
append, as much as all the rest of the client. These are prepared once with fixed types and go to libpq directly
(https://www.psycopg.org/psycopg3/docs/api/pq.html).

`hermes_append` says where the session ends. The next append to it on this connection is a plain INSERT there, which
costs the server two thirds of what looking that up once more would.
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
_APPEND_FIRST, _APPEND_AFTER = b"hermes_append", b"hermes_append_after"
# The second one takes the same locks, and need not see what was committed while it waited for them: it reads a sequence
# and unique indexes, which are always read as they are. CASE keeps the order. It inserts nothing when `session_changes`
# went on, or when another client was faster to append.
_PREPARE = """
PREPARE hermes_append (text, bigint, text, text, integer, text, text, text, integer, text, text) AS
SELECT hermes_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);
PREPARE hermes_append_after
    (bigint, bigint, integer, bigint, text, text, integer, text, text, text, integer, text, text) AS
INSERT INTO messages (
    session_pk, position, state, created_at, role, content, tool_call_count, tool_name, tool_call_id,
    platform_message_id, content_format, tool_calls, details
) SELECT $2, $3, 0, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
WHERE CASE WHEN pg_advisory_xact_lock_shared(1212502605, hermes_store()) IS NOT NULL
           THEN $1 = pg_sequence_last_value('session_changes')
                AND pg_advisory_xact_lock(hermes_store()::bigint << 32 | $2) IS NOT NULL END
ON CONFLICT DO NOTHING RETURNING id
"""
_APPEND = "SELECT hermes_append(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
# Sessions whose ends a connection remembers; more than an agent writes to at a time.
_MOST_ENDS = 100


class _End(NamedTuple):
    """The end of a session behind an append, and the state of `session_changes` for which it is known."""

    changes: bytes
    session_pk: bytes
    next_position: int


class ServerConnection(psycopg.Connection[Any]):
    """A connection of the engine. It speaks UTF-8."""

    _ends: dict[str, _End] | None = None  # None: nothing is prepared

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
        values = [_sent(columns.get(name)) for name in _NAMES]
        if self._ends is not None:
            try:
                return self._append(session_id, values, self._ends)
            except InvalidSqlStatementName:  # psycopg throws them all away when one may be out of date
                pass
        self.execute(_PREPARE)
        self._ends = {}
        return self._append(session_id, values, self._ends)

    def _append(self, session_id: str, values: list[bytes | None], ends: dict[str, _End]) -> tuple[int, int] | None:
        end = ends.pop(session_id, None)
        if end is not None:
            position = end.next_position
            answer = self._ask(_APPEND_AFTER, [end.changes, end.session_pk, b"%d" % position, *values])
            if answer is not None:
                ends[session_id] = _End(end.changes, end.session_pk, position + 1)
                return int(answer), position
        answer = self._ask(_APPEND_FIRST, [_sent(session_id), *values])
        if answer is None:
            return None
        message_id, placed, session_pk, changes = answer.split()
        position = int(placed)
        if len(ends) >= _MOST_ENDS:
            ends.clear()
        ends[session_id] = _End(changes, session_pk, position + 1)
        return int(message_id), position

    def _ask(self, statement: bytes, values: list[bytes | None]) -> bytes | None:
        """The one value that a prepared statement gives; None: it is NULL, or there is no row."""
        self.pgconn.send_query_prepared(statement, values)
        result = self.wait(generators.execute(self.pgconn))[0]
        if result.status != ExecStatus.TUPLES_OK:
            raise error_from_result(result)
        answer: bytes | None = result.get_value(0, 0) if result.ntuples else None
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
