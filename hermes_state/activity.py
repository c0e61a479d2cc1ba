"""Counters of a session: how many messages, how many tool calls, when last active.

They are derived from the messages and kept in the session's row up to `store_state.counted_through`. An append only
adds the message; messages above that mark, the *tail*, are folded into the rows in batches, and whoever reads in
between adds the tail up. So an append touches no second row, and a counter is right at every moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import bindparam, case, func, literal_column, select, update

from hermes_state.schema import messages, sessions, store_state

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Subquery

    from hermes_state.engine import Engine

# Whoever adds a message whose id is a multiple of it folds the tail, so that it stays cheap to add up.
FOLD_EVERY = 512
# The same for single appends to a server, whose clients all wait until it is done; to add up more costs it little.
FOLD_EVERY_ON_SERVER = 2048

# The server's own function for it.
_FOLD = "SELECT hermes_fold()"

_NEWEST_ID = select(func.coalesce(func.max(messages.c.id), 0)).scalar_subquery()
_COUNTED_THROUGH = select(store_state.c.counted_through).scalar_subquery()
# Only active messages count, but any message shows activity.
_IS_ACTIVE = case((messages.c.state == 0, 1), else_=0)
# The tail is found by id. A term that is no plain column keeps the planner from walking the session's index instead,
# which would look at every message of a session, or of the store.
_owner = messages.c.session_pk + 0
_TAIL = (
    select(
        _owner.label("session_pk"),
        func.sum(_IS_ACTIVE).label("messages"),
        func.sum(_IS_ACTIVE * func.coalesce(messages.c.tool_call_count, 0)).label("tool_calls"),
        func.max(messages.c.created_at).label("last_at"),
    )
    .where(messages.c.id > _COUNTED_THROUGH)
    .group_by(_owner)
)


_TAIL_OF = _TAIL.where(_owner == bindparam("pk"))


class Tail(NamedTuple):
    """What one session gained since the counters were last folded. `last_at` is in microseconds, 0 for none."""

    messages: int = 0
    tool_calls: int = 0
    last_at: int = 0


_NOTHING = Tail()


def tail_of(connection: Connection, session_pk: int) -> Tail:
    """The tail of one session."""
    row = connection.execute(_TAIL_OF, {"pk": session_pk}).fetchone()
    return Tail(*row[1:]) if row else _NOTHING


def tails(connection: Connection) -> dict[int, Tail]:
    """The tail of every session that has one, by its key."""
    return {row[0]: Tail(*row[1:]) for row in connection.execute(_TAIL)}


def has_tail(connection: Connection) -> bool:
    """Whether any message is not yet in its session's counters."""
    return bool(connection.execute(select(_NEWEST_ID > _COUNTED_THROUGH)).scalar())


class CountedColumns(NamedTuple):
    """Expressions for a query over `sessions` that are right whether or not there is a tail.

    `tail` is to be outer-joined when it is not None.
    """

    message_count: ColumnElement[int]
    tool_call_count: ColumnElement[int]
    last_active_at: ColumnElement[int]
    tail: Subquery | None


# The plain columns: right for a query that looks at no counter, and for all when there is no tail.
AS_FOLDED = CountedColumns(
    message_count=sessions.c.message_count,
    tool_call_count=sessions.c.tool_call_count,
    last_active_at=sessions.c.last_active_at,
    tail=None,
)


def counted_columns(connection: Connection) -> CountedColumns:
    """The plain columns when everything is folded (and `last_active_at` has its index), else sums with the tail."""
    c = sessions.c
    if not has_tail(connection):
        return AS_FOLDED
    tail = _TAIL.subquery("tail")
    last = func.coalesce(tail.c.last_at, 0)
    return CountedColumns(
        c.message_count + func.coalesce(tail.c.messages, 0),
        c.tool_call_count + func.coalesce(tail.c.tool_calls, 0),
        case((last > c.last_active_at, last), else_=c.last_active_at),
        tail,
    )


def fold_every(engine: Engine) -> int:
    """After how many single appends the tail is folded."""
    return FOLD_EVERY_ON_SERVER if engine.dialect == "postgresql" else FOLD_EVERY


def fold(connection: Connection) -> None:
    """Bring every session's counters up to date, inside the caller's write transaction."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_FOLD)
        return
    if not has_tail(connection):
        return
    tail = _TAIL.subquery("tail")
    connection.execute(
        update(sessions)
        .where(sessions.c.pk == tail.c.session_pk)
        .values(
            message_count=sessions.c.message_count + tail.c.messages,
            tool_call_count=sessions.c.tool_call_count + tail.c.tool_calls,
            last_active_at=case(
                (tail.c.last_at > sessions.c.last_active_at, tail.c.last_at), else_=sessions.c.last_active_at
            ),
        )
    )
    connection.execute(update(store_state).values(counted_through=_NEWEST_ID))


def recount(connection: Connection, session_pk: int) -> None:
    """Set one session's counters from its messages, after its messages changed. The tail must have been folded."""
    totals = connection.execute(
        select(
            func.coalesce(func.sum(_IS_ACTIVE), literal_column("0")),
            func.coalesce(func.sum(_IS_ACTIVE * func.coalesce(messages.c.tool_call_count, 0)), literal_column("0")),
        ).where(messages.c.session_pk == session_pk)
    ).one()
    connection.execute(
        update(sessions).where(sessions.c.pk == session_pk).values(message_count=totals[0], tool_call_count=totals[1])
    )


def raise_id_floor(connection: Connection) -> None:
    """Before messages are deleted: no id given out so far is ever given out again."""
    connection.execute(
        update(store_state).values(
            id_floor=case((store_state.c.id_floor < _NEWEST_ID, _NEWEST_ID), else_=store_state.c.id_floor)
        )
    )
