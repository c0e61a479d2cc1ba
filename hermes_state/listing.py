"""Lists of sessions: filters, order, pages, previews."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, func, or_, select

from hermes_state.activity import AS_FOLDED, CountedColumns, Tail, counted_columns, tails
from hermes_state.clock import to_us
from hermes_state.codec import searchable_text
from hermes_state.errors import InvalidValue
from hermes_state.schema import messages, session_tags, sessions
from hermes_state.session_rows import in_chunks, session_from_row, session_query, tags_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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
            found.append(func.hermes_casefold(column).contains(text.casefold(), autoescape=True))
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
    """A folder or anything in it; a plain prefix would also take its neighbours, and LIKE would take other cases."""
    column = sessions.c.cwd
    trimmed = folder.rstrip("/\\")
    inside = [
        and_(column >= trimmed + separator, column < trimmed + chr(ord(separator) + 1)) for separator in ("/", "\\")
    ]
    return or_(column == (trimmed or folder), *inside)


def list_sessions(
    connection: Connection, wanted: SessionFilter, *, order: str, limit: int | None, offset: int
) -> list[Session]:
    """Sessions that pass the filter; see `Sessions.list`."""
    if offset < 0 or (limit is not None and limit < 0):
        raise InvalidValue(f"a page can't begin at {offset} or hold {limit} sessions")
    gained = tails(connection)
    if order == "active" and not _needs_counters(wanted):
        page = _last_active(connection, wanted, gained, limit, offset)
    else:
        page = _in_order(connection, wanted, order, limit, offset)
    rows = {
        row.pk: row
        for some in in_chunks(page)
        for row in connection.execute(session_query().where(sessions.c.pk.in_(some)))
    }
    tags = tags_of(connection, page)
    return [session_from_row(rows[pk], gained.get(pk, _NO_TAIL), tags.get(pk, ())) for pk in page]


def _last_active(
    connection: Connection, wanted: SessionFilter, gained: Mapping[int, Tail], limit: int | None, offset: int
) -> list[int]:
    """A page of keys, last active first.

    The index gives the order as of the last fold. Sessions with a tail can only have moved up, so whatever is on the
    page is among the first of the index and those.
    """
    c = sessions.c
    passing = select(c.pk, c.last_active_at).where(*conditions(wanted, AS_FOLDED))
    end = None if limit is None else offset + limit
    found = list(connection.execute(passing.order_by(*_order("active", AS_FOLDED)).limit(end)))
    for some in in_chunks(list(gained)):
        found += connection.execute(passing.where(c.pk.in_(some)))
    active = {pk: max(at, gained.get(pk, _NO_TAIL).last_at) for pk, at in found}
    return sorted(active, key=lambda pk: (-active[pk], -pk))[offset:end]


def _in_order(connection: Connection, wanted: SessionFilter, order: str, limit: int | None, offset: int) -> list[int]:
    """A page of keys in an order that no index serves, or with a filter that needs the counters."""
    counted = counted_columns(connection) if order in _COUNTED_ORDERS or _needs_counters(wanted) else AS_FOLDED
    query = _passing(select(sessions.c.pk), wanted, counted)
    return list(connection.execute(query.order_by(*_order(order, counted)).limit(limit).offset(offset)).scalars())


def _passing(query: Select[Any], wanted: SessionFilter, counted: CountedColumns) -> Select[Any]:
    if counted.tail is not None:
        query = query.select_from(sessions.outerjoin(counted.tail, counted.tail.c.session_pk == sessions.c.pk))
    return query.where(*conditions(wanted, counted))


def _needs_counters(wanted: SessionFilter) -> bool:
    """Whether the filter looks at what appends change."""
    counters = (wanted.active_after, wanted.active_before, wanted.min_messages, wanted.max_messages)
    return any(bound is not None for bound in counters)


_COUNTED_ORDERS = ("active", "messages")


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
    counted = counted_columns(connection) if _needs_counters(wanted) else AS_FOLDED
    query = _passing(select(func.count()).select_from(sessions), wanted, counted)
    return int(connection.execute(query).scalar_one())


def previews(connection: Connection, session_ids: Sequence[str]) -> dict[str, str]:
    """The start of the first user message of sessions that have one, on one line."""
    found: dict[str, str] = {}
    for some in in_chunks(session_ids):
        for row in connection.execute(_first_words(some)):
            start = searchable_text(row.content, row.content_format, None)[: 4 * PREVIEW_CHARS]
            if start.strip():
                found[row.id] = _one_line(start)
    return found


def _first_words(session_ids: Sequence[str]) -> Select[Any]:
    """Sessions in the order of their messages as far as the first of the user, and no further."""
    m, first = messages.c, messages.alias("first").c
    earliest = (
        select(first.position)
        .where(first.session_pk == sessions.c.pk, first.role == "user", first.state == 0)
        .order_by(first.position)
        .limit(1)
        .correlate(sessions)
        .scalar_subquery()
    )
    found = sessions.join(messages, (m.session_pk == sessions.c.pk) & (m.position == earliest))
    return select(sessions.c.id, m.content, m.content_format).select_from(found).where(sessions.c.id.in_(session_ids))


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= PREVIEW_CHARS else line[: PREVIEW_CHARS - 1].rstrip() + "…"
