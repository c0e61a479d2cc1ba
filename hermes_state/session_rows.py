"""Rows of the `sessions` table as `Session` records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Select, bindparam, select

from hermes_state.activity import Tail, tail_of
from hermes_state.clock import from_us, from_us_or_none
from hermes_state.codec import from_json, is_plain
from hermes_state.errors import SessionNotFound
from hermes_state.records import Relation, Session
from hermes_state.schema import session_tags, sessions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import Connection

_Key = TypeVar("_Key", int, str)

# Where a session came from; text columns that `create` and `update` take as they are.
ORIGIN_FIELDS = (
    "model",
    "user_id",
    "chat_id",
    "chat_type",
    "thread_id",
    "display_name",
    "cwd",
    "git_branch",
    "git_root",
    "profile",
)

# Statements that run with every session are made once: building one costs more than running it.
_parent = sessions.alias("parent")
_tip = sessions.alias("tip")


def session_query() -> Select[Any]:
    """Every column of a session with its parent's id and its conversation's tip."""
    c = sessions.c
    return (
        select(sessions, _parent.c.id.label("parent_id"), _tip.c.id.label("tip_id"))
        .outerjoin(_parent, _parent.c.pk == c.parent_pk)
        .outerjoin(_tip, (_tip.c.conversation_pk == c.conversation_pk) & _tip.c.is_tip)
    )


def session_from_row(row: Any, tail: Tail, tags: tuple[str, ...] = ()) -> Session:
    """The record of a row of `session_query`, with the counters brought up to date by `tail`."""
    return Session(
        conversation_id=row.tip_id or row.id,
        parent_id=row.parent_id,
        relation=None if row.relation is None else Relation(row.relation),
        started_at=from_us(row.started_at),
        ended_at=from_us_or_none(row.ended_at),
        last_active_at=from_us(max(row.last_active_at, tail.last_at)),
        message_count=row.message_count + tail.messages,
        tool_call_count=row.tool_call_count + tail.tool_calls,
        model_config=from_json(row.model_config),
        origin=from_json(row.origin),
        extras=from_json(row.extras) or {},
        tags=tags,
        **{name: getattr(row, name) for name in _SAME_NAME},
    )


_SAME_NAME = ("id", "source", "title", "delegated", "end_reason", "rewind_count", "archived", *ORIGIN_FIELDS)


def tags_of(connection: Connection, session_pks: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """The tags of sessions, sorted, for those that have any."""
    t = session_tags.c
    found: dict[int, list[str]] = {}
    for some in in_chunks(list(session_pks)):
        rows = select(t.session_pk, t.tag).where(t.session_pk.in_(some)).order_by(t.session_pk, t.tag)
        for pk, tag in connection.execute(rows):
            found.setdefault(pk, []).append(tag)
    return {pk: tuple(tags) for pk, tags in found.items()}


def in_chunks(keys: Sequence[_Key]) -> Iterator[Sequence[_Key]]:
    """Keys in groups that one statement can bind."""
    return (keys[start : start + _BOUND] for start in range(0, len(keys), _BOUND))


# Well below 32,766, SQLite's limit of parameters.
_BOUND = 500


def pk_of(connection: Connection, session_id: str) -> int:
    """The key of a session by its exact id.

    Raises:
        SessionNotFound: there is none.
    """
    # A lone surrogate can't even be looked up, and no session has one in its id.
    pk = connection.execute(_PK_OF, {"id": session_id}).scalar() if is_plain(session_id) else None
    if pk is None:
        raise SessionNotFound(session_id)
    return int(pk)


def load(connection: Connection, session_pk: int) -> Session:
    """One session by its key."""
    row = connection.execute(_SESSION, {"pk": session_pk}).one()
    tags = tuple(connection.execute(_TAGS, {"pk": session_pk}).scalars())
    return session_from_row(row, tail_of(connection, session_pk), tags)


def load_new(connection: Connection, session_pk: int) -> Session:
    """One session by its key that was just made: nothing is tagged or said in it."""
    return session_from_row(connection.execute(_SESSION, {"pk": session_pk}).one(), Tail())


_PK_OF = select(sessions.c.pk).where(sessions.c.id == bindparam("id"))
_SESSION = session_query().where(sessions.c.pk == bindparam("pk"))
_TAGS = select(session_tags.c.tag).where(session_tags.c.session_pk == bindparam("pk")).order_by(session_tags.c.tag)
