"""A connection to the server, with the one statement that runs once per message.

psycopg's `execute` converts a statement, looks for the types of its values and remembers what it prepared: 40 µs of an
append, as much as all the rest of the client. This one is prepared once with fixed types and goes to libpq directly
(https://www.psycopg.org/psycopg3/docs/api/pq.html).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import generators
from psycopg.errors import InvalidSqlStatementName, error_from_result
from psycopg.pq import ExecStatus

from hermes_state.engine.statements import APPEND_OPTIONAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NAMES = ("created_at", "role", "content", *APPEND_OPTIONAL)
_PREPARED = b"hermes_append"
_PREPARE = (
    "PREPARE hermes_append (text, bigint, text, text, integer, text, text, text, integer, text, text) AS"
    " SELECT hermes_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
)
_APPEND = "SELECT hermes_append(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"


class ServerConnection(psycopg.Connection[Any]):
    """A connection of the engine. It speaks UTF-8."""

    _is_prepared = False

    def append(self, session_id: str, columns: Mapping[str, Any]) -> tuple[int, int] | None:
        """Call `hermes_append` as a transaction by itself; see `PostgresEngine.append_message`.

        Raises:
            psycopg.Error: the server refused, or is gone.
            UnicodeEncodeError: a text with a lone surrogate.
        """
        values = [_sent(session_id), *(_sent(columns.get(name)) for name in _NAMES)]
        if not self._is_prepared:
            self._prepare()
        try:
            return _placed(self._ask(values))
        except InvalidSqlStatementName:  # psycopg throws away all prepared statements when one may be out of date
            self._prepare()
            return _placed(self._ask(values))

    def _prepare(self) -> None:
        self.execute(_PREPARE)
        self._is_prepared = True

    def _ask(self, values: Sequence[bytes | None]) -> bytes | None:
        self.pgconn.send_query_prepared(_PREPARED, values)
        result = self.wait(generators.execute(self.pgconn))[0]
        if result.status != ExecStatus.TUPLES_OK:
            raise error_from_result(result)
        answer: bytes | None = result.get_value(0, 0)
        return answer

    def append_within(self, session_id: str, columns: Mapping[str, Any]) -> tuple[int, int] | None:
        """The same within the transaction that is open, where a statement that is not prepared any more ends all."""
        row = self.execute(_APPEND, (session_id, *(columns.get(name) for name in _NAMES))).fetchone()
        return _placed(row[0] if row else None)


def _placed(answer: str | bytes | None) -> tuple[int, int] | None:
    if answer is None:
        return None
    message_id, position = answer.split()
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
