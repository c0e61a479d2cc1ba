"""What a store holds, in numbers: activity over time, and messages by source, model and role."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import BigInteger, case, cast, func, select

from hermes_state.activity import counted_columns
from hermes_state.clock import from_us, to_us
from hermes_state.records import MessageState
from hermes_state.schema import messages, sessions

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date, datetime

    from sqlalchemy import Connection

    from hermes_state.engine import Engine

# Instants are counted in steps of a quarter of an hour: every time zone's midnight falls on one.
_STEP_US = 15 * 60 * 1_000_000
# How many of the longest conversations are named.
LONGEST = 5


class Share(NamedTuple):
    """How much of the store has one name: a source, a model or a role."""

    name: str
    messages: int
    sessions: int = 0


class Day(NamedTuple):
    """One local day with activity: messages, and sessions that started."""

    date: date
    messages: int
    sessions: int


class Longest(NamedTuple):
    """A long conversation, by the session to resume, over all its segments; the title may be an earlier segment's."""

    session_id: str
    title: str | None
    source: str
    messages: int
    segments: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistics:
    """The numbers of a store, or of what happened in it since a moment.

    Attributes:
        conversations: as lists show them, archived ones included; `sessions` counts every segment and delegate.
        messages: by state: active, compacted, rewound.
        first_at, last_at: of the messages; None when there are none.
        days: the days with activity, in order.
        sources, models, roles: the largest share first. A message of no known model counts under "".
        longest: the conversations with the most active messages.
    """

    conversations: int
    sessions: int
    archived: int
    delegates: int
    messages: dict[str, int]
    first_at: datetime | None
    last_at: datetime | None
    days: tuple[Day, ...]
    sources: tuple[Share, ...]
    models: tuple[Share, ...]
    roles: tuple[Share, ...]
    longest: tuple[Longest, ...]


def collect(engine: Engine, *, since: datetime | None = None) -> Statistics:
    """Count everything, or what was said (and which sessions were active) since a moment.

    Rewound messages are counted by state only: they are hidden everywhere else too.
    """
    floor = None if since is None else to_us(since)
    with engine.read() as connection:
        steps = _message_steps(connection, floor)
        started = _started_steps(connection, floor)
        groups = _session_groups(connection, floor)
        first, last = _ends(connection, floor)
        longest = _longest(connection, floor)
    visible = [row for row in steps if row.state != MessageState.REWOUND]
    return Statistics(
        conversations=sum(row.tips for row in groups if not row.delegated),
        sessions=sum(row.sessions for row in groups),
        archived=sum(row.tips for row in groups if row.archived),
        delegates=sum(row.sessions for row in groups if row.delegated),
        messages=_by_state(steps),
        first_at=first,
        last_at=last,
        days=_days(visible, started),
        sources=_shares((row.source, row.messages, row.sessions) for row in groups),
        models=_shares((row.model or "", row.messages, row.sessions) for row in groups),
        roles=_shares((row.role, row.messages, 0) for row in visible),
        longest=tuple(Longest(*row) for row in longest),
    )


def _message_steps(connection: Connection, floor: int | None) -> list[Any]:
    """Messages per step of time, role and state: one pass over the table, which reads no text."""
    m = messages.c
    step = (m.created_at // _STEP_US).label("step")
    query = select(step, m.role, m.state, func.count().label("messages")).group_by(step, m.role, m.state)
    if floor is not None:
        query = query.where(m.created_at >= floor)
    return list(connection.execute(query))


def _started_steps(connection: Connection, floor: int | None) -> list[Any]:
    """Sessions that started per step of time, compression segments left out: they start nothing."""
    c = sessions.c
    step = (c.started_at // _STEP_US).label("step")
    query = select(step, func.count().label("sessions")).where(c.conversation_pk == c.pk).group_by(step)
    if floor is not None:
        query = query.where(c.started_at >= floor)
    return list(connection.execute(query))


def _session_groups(connection: Connection, floor: int | None) -> list[Any]:
    """Sessions and their active messages per source, model and kind."""
    c = sessions.c
    counted = counted_columns(connection)
    keys = (c.source, c.model, c.archived, c.delegated)
    query = select(
        *keys,
        func.count().label("sessions"),
        func.sum(case((c.is_tip, 1), else_=0)).label("tips"),
        cast(func.sum(counted.message_count), BigInteger).label("messages"),
    ).group_by(*keys)
    if counted.tail is not None:
        query = query.outerjoin(counted.tail, counted.tail.c.session_pk == c.pk)
    if floor is not None:
        query = query.where(counted.last_active_at >= floor)
    return list(connection.execute(query))


def _longest(connection: Connection, floor: int | None) -> list[Any]:
    c = sessions.c
    counted = counted_columns(connection)
    # PostgreSQL adds large integers up to a `numeric`.
    total = cast(func.sum(counted.message_count), BigInteger).label("messages")
    whole = select(c.conversation_pk, total, func.count().label("segments"), func.max(c.title).label("title")).where(
        c.delegated.is_(False)
    )
    if counted.tail is not None:
        whole = whole.outerjoin(counted.tail, counted.tail.c.session_pk == c.pk)
    if floor is not None:
        whole = whole.where(counted.last_active_at >= floor)
    top = whole.group_by(c.conversation_pk).order_by(total.desc(), c.conversation_pk).limit(LONGEST).subquery()
    tip = sessions.alias("tip")
    query = (
        select(tip.c.id, func.coalesce(tip.c.title, top.c.title), tip.c.source, top.c.messages, top.c.segments)
        .join(tip, (tip.c.conversation_pk == top.c.conversation_pk) & tip.c.is_tip)
        .order_by(top.c.messages.desc(), top.c.conversation_pk)
    )
    return list(connection.execute(query))


def _ends(connection: Connection, floor: int | None) -> tuple[datetime | None, datetime | None]:
    query = select(func.min(messages.c.created_at), func.max(messages.c.created_at))
    if floor is not None:
        query = query.where(messages.c.created_at >= floor)
    first, last = connection.execute(query).one()
    return (None, None) if first is None else (from_us(first), from_us(last))


def _by_state(steps: Iterable[Any]) -> dict[str, int]:
    found: Counter[int] = Counter()
    for row in steps:
        found[row.state] += row.messages
    return {state.name.lower(): found[state] for state in MessageState}


def _days(message_steps: Iterable[Any], started_steps: Iterable[Any]) -> tuple[Day, ...]:
    said: Counter[date] = Counter()
    started: Counter[date] = Counter()
    for row in message_steps:
        said[_local_day(row.step)] += row.messages
    for row in started_steps:
        started[_local_day(row.step)] += row.sessions
    return tuple(Day(day, said[day], started[day]) for day in sorted({*said, *started}))


def _local_day(step: int) -> date:
    return from_us(step * _STEP_US).astimezone().date()


def _shares(rows: Iterable[tuple[str, int, int]]) -> tuple[Share, ...]:
    said: Counter[str] = Counter()
    held: Counter[str] = Counter()
    for name, number, of_sessions in rows:
        said[name] += number
        held[name] += of_sessions
    return tuple(Share(name, said[name], held[name]) for name in sorted(said, key=lambda n: (-said[n], n)))
