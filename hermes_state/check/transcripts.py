"""Messages: what they add up to, what their columns hold, and whether their content can be read back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, case, func, or_, select

from hermes_state.activity import AS_FOLDED, counted_columns
from hermes_state.check.lineage import unreadable
from hermes_state.check.report import Kind
from hermes_state.clock import MAX_US, MIN_US
from hermes_state.codec import JSON_FORMAT, from_json
from hermes_state.packing import unpack
from hermes_state.records import MessageState
from hermes_state.schema import messages, sessions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from hermes_state.check.report import Collector

# Messages whose content is read when not all are, evenly spread over the store.
SAMPLE = 2_000
# Messages read in one snapshot.
PIECE = 2_000
_m, _s = messages.c, sessions.c


def counters(collector: Collector) -> None:
    """The counters, with the tail of messages that are not in them yet, are what the messages add up to."""
    with collector.snapshot() as connection:
        counted = counted_columns(connection)
        active = case((_m.state == MessageState.ACTIVE, 1), else_=0)
        derived = (
            select(
                _m.session_pk,
                func.sum(active).label("messages"),
                func.sum(active * func.coalesce(_m.tool_call_count, 0)).label("calls"),
                func.max(_m.created_at).label("last_at"),
            )
            .group_by(_m.session_pk)
            .subquery("derived")
        )
        joined = sessions.outerjoin(derived, derived.c.session_pk == _s.pk)
        if counted.tail is not None and counted is not AS_FOLDED:
            joined = joined.outerjoin(counted.tail, counted.tail.c.session_pk == _s.pk)
        query = select(
            _s.id,
            counted.message_count.label("message_count"),
            counted.tool_call_count.label("tool_call_count"),
            counted.last_active_at.label("last_active_at"),
            func.coalesce(derived.c.messages, 0).label("messages"),
            func.coalesce(derived.c.calls, 0).label("calls"),
            derived.c.last_at,
        ).select_from(joined)
        for row in connection.execute(query):
            for name, true in (("message_count", row.messages), ("tool_call_count", row.calls)):
                if getattr(row, name) != true:
                    collector.add(Kind.COUNTER, f"session {row.id}", f"{name} is {getattr(row, name)}, not {true}")
            if row.last_at is not None and row.last_active_at < row.last_at:
                collector.add(Kind.COUNTER, f"session {row.id}", "was active after its last_active_at")


def columns(collector: Collector) -> None:
    """States, times and roles are valid, and no two messages of a session have one position."""
    wrong = or_(
        _m.state.not_in([int(state) for state in MessageState]),
        ~_m.created_at.between(MIN_US, MAX_US),
        _m.role == "",
        _m.position < 0,
        and_(_m.content_format.is_not(None), _m.content_format != JSON_FORMAT),
        and_(_m.content_format.is_not(None), _m.content.is_(None)),
    )
    if collector.is_file:  # SQLite takes any type in any column
        wrong = or_(wrong, func.typeof(_m.created_at) != "integer")
    with collector.snapshot() as connection:
        collector.checked["messages"] += connection.execute(select(func.count()).select_from(messages)).scalar_one()
        for row in connection.execute(select(_m.id, _m.state, _m.role, _m.position, _m.content_format).where(wrong)):
            what = f"state {row.state!r}, role {row.role!r}, position {row.position!r}, format {row.content_format!r}"
            collector.add(Kind.MESSAGE, f"message {row.id}", f"a column holds what it can't: {what}")
        # Grouped by expressions, so that the unique index, which may be what is wrong, is not asked.
        pair = (_m.session_pk + 0, _m.position + 0)
        for pk, position, times in connection.execute(
            select(*pair, func.count()).group_by(*pair).having(func.count() > 1)
        ):
            collector.add(Kind.MESSAGE, f"session {pk}", f"{times} messages have position {position}")


class _Content(NamedTuple):
    id: int
    content_format: int | None
    content: Any
    tool_call_count: int | None
    tool_calls: Any
    details: Any


def content(collector: Collector) -> None:
    """What is stored as JSON or compressed can be read back, and the number of tool calls is right."""
    picked = (_m[name] for name in _Content._fields)
    query = select(*picked)
    for rows in in_pieces(collector, query):
        for row in rows:
            collector.checked["contents"] += 1
            for what in _unreadable(_Content._make(row)):
                collector.add(Kind.CONTENT, f"message {row.id}", what)


def in_pieces(collector: Collector, query: Any) -> Iterator[Sequence[Any]]:
    """The rows of a query over messages, by rising id: all or a sample, each piece from a snapshot of its own."""
    low = 0
    with collector.snapshot() as connection:
        last = connection.execute(select(func.coalesce(func.max(_m.id), 0))).scalar_one()
    while low < last:
        with collector.snapshot() as connection:
            rows, low = _piece(connection, query, low, last, full=collector.full)
        yield rows


def _piece(connection: Connection, query: Any, low: int, last: int, *, full: bool) -> tuple[Sequence[Any], int]:
    """The next rows after id `low`, and the id up to which the store has been looked at."""
    wanted = PIECE if full or last <= SAMPLE else max(SAMPLE // 20, 1)
    rows = connection.execute(query.where(_m.id > low, _m.id <= last).order_by(_m.id).limit(wanted)).fetchall()
    if len(rows) < wanted:
        return rows, last
    return rows, rows[-1].id if full or last <= SAMPLE else max(rows[-1].id, low + last // 20)


def _unreadable(row: _Content) -> Iterator[str]:
    try:
        text = None if row.content is None else unpack(row.content)
    except Exception as error:  # noqa: BLE001  whatever a decoder makes of damaged bytes is the finding
        yield f"content can't be unpacked: {error}"
    else:
        if row.content_format is not None and (why := unreadable(text)):
            yield f"content is no JSON: {why}"
    for name, stored in (("tool_calls", row.tool_calls), ("details", row.details)):
        if why := unreadable(stored):
            yield f"{name} is no JSON: {why}"
        elif name == "tool_calls":
            calls = from_json(stored)
            if isinstance(calls, list) and len(calls) != (row.tool_call_count or 0):
                yield f"has {len(calls)} tool calls, not {row.tool_call_count}"
        elif stored is not None and not isinstance(from_json(stored), dict):
            yield "details are no JSON object"
