"""Look-ups that a search makes for a handful of ids, as SQLite's driver runs them.

SQLAlchemy's result machinery costs 50 µs for each statement and more for each row, which is what a whole search for a
rare word may cost. So these go straight to the driver's connection, inside the transaction that SQLAlchemy began on it.
Errors are translated where the transaction is (`engine.read`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

Row = tuple[Any, ...]

_PLACES = """
SELECT m.id, m.session_pk, s.conversation_pk, m.position, m.role, s.source, m.created_at, m.state, m.tool_name,
       s.delegated
FROM json_each(?) AS wanted JOIN messages AS m ON m.id = wanted.value JOIN sessions AS s ON s.pk = m.session_pk
"""
_TEXTS = """
SELECT m.id, m.content, m.content_format, m.tool_calls
FROM json_each(?) AS wanted JOIN messages AS m ON m.id = wanted.value
"""
_SESSIONS = """
SELECT s.pk, s.id, s.source, s.title, s.model, s.relation, s.archived, s.conversation_pk, s.started_at,
       s.last_active_at, parent.id, tip.id, tip.title
FROM json_each(?) AS wanted JOIN sessions AS s ON s.pk = wanted.value
     LEFT JOIN sessions AS parent ON parent.pk = s.parent_pk
     LEFT JOIN sessions AS tip ON tip.conversation_pk = s.conversation_pk AND tip.is_tip
"""
_AROUND = """
SELECT hit.id, m.position - hit.position, m.state, m.id, m.role, m.created_at, m.content, m.content_format, m.tool_calls
FROM json_each(?1) AS wanted JOIN messages AS hit ON hit.id = wanted.value
     JOIN messages AS m ON m.session_pk = hit.session_pk AND m.position BETWEEN hit.position - ?2 AND hit.position + ?2
WHERE m.id <> hit.id ORDER BY hit.id, m.position
"""
_BEFORE = """
SELECT m.id, m.role, m.created_at, m.content, m.content_format, m.tool_calls FROM messages AS m
WHERE m.session_pk = ? AND m.position < ? AND m.state <> 2 ORDER BY m.position DESC LIMIT ?
"""
_AFTER = """
SELECT m.id, m.role, m.created_at, m.content, m.content_format, m.tool_calls FROM messages AS m
WHERE m.session_pk = ? AND m.position > ? AND m.state <> 2 ORDER BY m.position LIMIT ?
"""


def rows(connection: Connection, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
    """The rows of one statement, straight from the driver."""
    driver: Any = connection.connection.driver_connection
    found: list[Row] = driver.execute(statement, parameters).fetchall()
    return found


def places(connection: Connection, ids: Iterable[int]) -> list[Row]:
    """Where messages stand; the columns are those of `_PLACES`."""
    return rows(connection, _PLACES, (json.dumps(list(ids)),))


def texts(connection: Connection, ids: Iterable[int]) -> list[Row]:
    """(id, content, content_format, tool_calls) of messages, as stored."""
    return rows(connection, _TEXTS, (json.dumps(list(ids)),))


def sessions(connection: Connection, pks: Iterable[int]) -> list[Row]:
    """Sessions with their parent's id and the id and title of the session to resume; columns as in `_SESSIONS`."""
    return rows(connection, _SESSIONS, (json.dumps(list(pks)),))


def around(connection: Connection, ids: Iterable[int], distance: int) -> list[Row]:
    """The messages in the places around others, in order, in whatever state.

    Returns:
        (id, offset in places, state, id, role, created_at, content, content_format, tool_calls); the first id is that
        of the message in the middle.
    """
    return rows(connection, _AROUND, (json.dumps(list(ids)), distance))


def before(connection: Connection, session_pk: int, position: int, count: int) -> list[Row]:
    """The last messages before a place that were not taken back, last first; columns as `around` from the second id."""
    return rows(connection, _BEFORE, (session_pk, position, count))


def after(connection: Connection, session_pk: int, position: int, count: int) -> list[Row]:
    """The first messages after a place that were not taken back; columns as `around` from the second id."""
    return rows(connection, _AFTER, (session_pk, position, count))
