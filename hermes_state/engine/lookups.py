"""Look-ups that a search makes for a handful of ids, as SQLite's driver runs them.

SQLAlchemy's result machinery costs 50 µs for each statement and more for each row, which is what a whole search for a
rare word may cost. So these go straight to the driver's connection, inside the transaction that SQLAlchemy began on it.
Errors are translated where the transaction is (`engine.read`). What differs between databases is how a list of ids is
given (`{ids}`) and how a parameter is written.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_state.engine.connections import driver_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlalchemy import Connection

Row = tuple[Any, ...]

_PLACES = """
SELECT m.id, m.session_pk, s.conversation_pk, m.position, m.role, s.source, m.created_at, m.state, m.tool_name
FROM {ids} JOIN messages AS m ON m.id = wanted.value JOIN sessions AS s ON s.pk = m.session_pk
WHERE m.state <> 2
"""
_PLACES_OF_PEOPLE = _PLACES + "AND NOT s.delegated"
_TEXTS = """
SELECT m.id, m.content, m.content_format, m.tool_calls
FROM {ids} JOIN messages AS m ON m.id = wanted.value
"""
_SESSIONS = """
SELECT s.pk, s.id, s.source, s.title, s.model, s.relation, s.archived, s.conversation_pk, s.started_at,
       s.last_active_at, parent.id, tip.id, tip.title
FROM {ids} JOIN sessions AS s ON s.pk = wanted.value
     LEFT JOIN sessions AS parent ON parent.pk = s.parent_pk
     LEFT JOIN sessions AS tip ON NOT s.is_tip AND tip.conversation_pk = s.conversation_pk AND tip.is_tip
"""
_AROUND = """
SELECT hit.id, m.position - hit.position, m.id, m.role, m.created_at, m.content, m.content_format, m.tool_calls
FROM {ids} JOIN messages AS hit ON hit.id = wanted.value
     JOIN messages AS m ON m.session_pk = hit.session_pk
          AND m.position BETWEEN hit.position - {mark} AND hit.position + {mark}
WHERE m.id <> hit.id AND m.state <> 2
"""
_BEFORE = """
SELECT m.id, m.role, m.created_at, m.content, m.content_format, m.tool_calls FROM messages AS m
WHERE m.session_pk = {mark} AND m.position < {mark} AND m.state <> 2 ORDER BY m.position DESC LIMIT {mark} + 0
"""
_AFTER = """
SELECT m.id, m.role, m.created_at, m.content, m.content_format, m.tool_calls FROM messages AS m
WHERE m.session_pk = {mark} AND m.position > {mark} AND m.state <> 2 ORDER BY m.position LIMIT {mark} + 0
"""


class _Form(NamedTuple):
    """How one database is asked."""

    ids: str
    mark: str
    given: Callable[[Iterable[int]], Any]


# Python writes a list of integers as JSON does, in a third of the time.
_SQLITE = _Form("json_each(?) AS wanted", "?", lambda ids: repr(list(ids)))
_POSTGRESQL = _Form("unnest(%s::bigint[]) AS wanted (value)", "%s", list)


def rows(connection: Connection, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
    """The rows of one statement, straight from the driver."""
    found: list[Row] = driver_of(connection).execute(statement, parameters).fetchall()
    return found


def _form(connection: Connection) -> _Form:
    return _SQLITE if connection.dialect.name == "sqlite" else _POSTGRESQL


@cache
def _written(statement: str, form: _Form) -> str:
    return statement.format(ids=form.ids, mark=form.mark)


def _ask(connection: Connection, statement: str, parameters: Sequence[Any]) -> list[Row]:
    return rows(connection, _written(statement, _form(connection)), parameters)


def _ask_of(connection: Connection, statement: str, ids: Iterable[int], *further: Any) -> list[Row]:
    form = _form(connection)
    return rows(connection, _written(statement, form), (form.given(ids), *further))


def places(connection: Connection, ids: Iterable[int], *, with_delegated: bool) -> list[Row]:
    """Where messages stand that were not taken back; the columns are those of `_PLACES`.

    Args:
        with_delegated: Also those in the sessions of delegates.
    """
    return _ask_of(connection, _PLACES if with_delegated else _PLACES_OF_PEOPLE, ids)


def texts(connection: Connection, ids: Iterable[int]) -> list[Row]:
    """(id, content, content_format, tool_calls) of messages, as stored."""
    return _ask_of(connection, _TEXTS, ids)


def sessions(connection: Connection, pks: Iterable[int]) -> list[Row]:
    """Sessions with their parent's id; columns as in `_SESSIONS`.

    The last two are the id and the title of the session to resume where that is another one.
    """
    return _ask_of(connection, _SESSIONS, pks)


def around(connection: Connection, ids: Iterable[int], distance: int) -> list[Row]:
    """The messages in the places around others, in no order, without those that were taken back.

    Returns:
        (id, offset in places, id, role, created_at, content, content_format, tool_calls); the first id is that of the
        message in the middle.
    """
    return _ask_of(connection, _AROUND, ids, distance, distance)


def before(connection: Connection, session_pk: int, position: int, count: int) -> list[Row]:
    """The last messages before a place that were not taken back, last first; columns as `around` from the second id."""
    return _ask(connection, _BEFORE, (session_pk, position, count))


def after(connection: Connection, session_pk: int, position: int, count: int) -> list[Row]:
    """The first messages after a place that were not taken back; columns as `around` from the second id."""
    return _ask(connection, _AFTER, (session_pk, position, count))
