"""Lists of sessions: filters, order, pages, previews."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, or_, select

from hermes_state.activity import CountedColumns, Tail, counted_columns
from hermes_state.clock import to_us
from hermes_state.errors import InvalidValue
from hermes_state.packing import unpack
from hermes_state.schema import messages, session_tags, sessions
from hermes_state.session_rows import session_from_row, session_query, tags_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Select

    from hermes_state.records import Session


# Characters of a message that a preview shows.
PREVIEW_CHARS = 80
_NO_TAIL = Tail()


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionFilter:
    """Which sessions a list, an export or a prune is about; every field that is set must hold.

    Times are aware. `archived=None` takes both. `title`, `model` and `branch` are parts of the text, whatever the case;
    `cwd` is a folder and all below it.
    """

    sources: Sequence[str] | None = None
    exclude_sources: Sequence[str] = ()
    title: str | None = None
    model: str | None = None
    tag: str | None = None
    user_id: str | None = None
    chat_id: str | None = None
    chat_type: str | None = None
    cwd: str | None = None
    branch: str | None = None
    end_reason: str | None = None
    ended: bool | None = None
    archived: bool | None = False
    started_after: datetime | None = None
    started_before: datetime | None = None
    active_after: datetime | None = None
    active_before: datetime | None = None
    min_messages: int | None = None
    max_messages: int | None = None
    include_delegates: bool = False
    every_segment: bool = False


def conditions(wanted: SessionFilter, counted: CountedColumns) -> list[ColumnElement[bool]]:
    """The filter as SQL over `sessions`."""
    c = sessions.c
    found: list[ColumnElement[bool]] = []
    if not wanted.every_segment:
        found.append(c.is_tip)
    if not wanted.include_delegates and not wanted.every_segment:
        found.append(c.delegated.is_(False))
    if wanted.archived is not None:
        found.append(c.archived.is_(wanted.archived))
    if wanted.sources is not None:
        found.append(c.source.in_(wanted.sources))
    if wanted.exclude_sources:
        found.append(c.source.not_in(wanted.exclude_sources))
    for column, text in ((c.title, wanted.title), (c.model, wanted.model), (c.git_branch, wanted.branch)):
        if text:
            found.append(func.lower(column).contains(text.lower(), autoescape=True))
    for column, value in (
        (c.user_id, wanted.user_id),
        (c.chat_id, wanted.chat_id),
        (c.chat_type, wanted.chat_type),
        (c.end_reason, wanted.end_reason),
    ):
        if value is not None:
            found.append(column == value)
    if wanted.cwd:
        found.append(_below(wanted.cwd))
    if wanted.ended is not None:
        found.append(c.ended_at.is_not(None) if wanted.ended else c.ended_at.is_(None))
    if wanted.tag is not None:
        found.append(c.pk.in_(select(session_tags.c.session_pk).where(session_tags.c.tag == wanted.tag)))
    return found + _ranges(wanted, counted)


def _ranges(wanted: SessionFilter, counted: CountedColumns) -> list[ColumnElement[bool]]:
    started, active, count = sessions.c.started_at, counted.last_active_at, counted.message_count
    found: list[ColumnElement[bool]] = []
    for instant, column, is_lower in (
        (wanted.started_after, started, True),
        (wanted.started_before, started, False),
        (wanted.active_after, active, True),
        (wanted.active_before, active, False),
    ):
        if instant is not None:
            found.append(column >= to_us(instant) if is_lower else column < to_us(instant))
    if wanted.min_messages is not None:
        found.append(count >= wanted.min_messages)
    if wanted.max_messages is not None:
        found.append(count <= wanted.max_messages)
    return found


def _below(folder: str) -> ColumnElement[bool]:
    """A folder or anything in it; a plain prefix would also take its neighbours."""
    trimmed = folder.rstrip("/\\") or folder
    column = sessions.c.cwd
    return or_(
        column == trimmed,
        column.startswith(trimmed + "/", autoescape=True),
        column.startswith(trimmed + "\\", autoescape=True),
    )


def list_sessions(
    connection: Connection, wanted: SessionFilter, *, order: str, limit: int | None, offset: int
) -> list[Session]:
    """Sessions that pass the filter; see `Sessions.list`."""
    counted = counted_columns(connection)
    query = with_tail(session_query(), counted).where(*conditions(wanted, counted))
    query = query.order_by(*_order(order, counted)).limit(limit).offset(offset)
    rows = connection.execute(query).fetchall()
    tags = tags_of(connection, [row.pk for row in rows])
    return [session_from_row(row, _tail(row, counted), tags.get(row.pk, ())) for row in rows]


def with_tail(query: Select[Any], counted: CountedColumns) -> Select[Any]:
    """The query with what its rows gained since the last fold, where there is any."""
    tail = counted.tail
    if tail is None:
        return query
    return query.outerjoin(tail, tail.c.session_pk == sessions.c.pk).add_columns(
        tail.c.messages.label("tail_messages"),
        tail.c.tool_calls.label("tail_tool_calls"),
        tail.c.last_at.label("tail_last_at"),
    )


def _tail(row: Any, counted: CountedColumns) -> Tail:
    if counted.tail is None or row.tail_messages is None:
        return _NO_TAIL
    return Tail(row.tail_messages, row.tail_tool_calls, row.tail_last_at)


def _order(order: str, counted: CountedColumns) -> list[Any]:
    keys: dict[str, list[Any]] = {
        "active": [counted.last_active_at.desc(), sessions.c.pk.desc()],
        "started": [sessions.c.started_at.desc(), sessions.c.pk.desc()],
        "oldest": [sessions.c.started_at, sessions.c.pk],
        "messages": [counted.message_count.desc(), sessions.c.pk.desc()],
        "title": [sessions.c.title.is_(None), sessions.c.title, sessions.c.pk],
    }
    if order not in keys:
        raise InvalidValue(f"can't order by {order!r}", hint=f"one of {', '.join(keys)}")
    return keys[order]


def count_sessions(connection: Connection, wanted: SessionFilter) -> int:
    """How many sessions pass the filter."""
    counted = counted_columns(connection)
    query = select(func.count()).select_from(sessions)
    if counted.tail is not None:
        query = query.outerjoin(counted.tail, counted.tail.c.session_pk == sessions.c.pk)
    return int(connection.execute(query.where(*conditions(wanted, counted))).scalar_one())


def previews(connection: Connection, session_ids: Sequence[str]) -> dict[str, str]:
    """The start of the first user message of sessions that have one, on one line."""
    m = messages.c
    first = (
        select(m.session_pk, func.min(m.position).label("position"))
        .join(sessions, sessions.c.pk == m.session_pk)
        .where(sessions.c.id.in_(session_ids), m.role == "user", m.state == 0, m.content_format.is_(None))
        .group_by(m.session_pk)
        .subquery()
    )
    rows = connection.execute(
        select(sessions.c.id, m.content)
        .join(first, (first.c.session_pk == m.session_pk) & (first.c.position == m.position))
        .join(sessions, sessions.c.pk == m.session_pk)
    )
    return {session_id: _one_line(unpack(text or "")[: 4 * PREVIEW_CHARS]) for session_id, text in rows}


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= PREVIEW_CHARS else line[: PREVIEW_CHARS - 1].rstrip() + "…"
