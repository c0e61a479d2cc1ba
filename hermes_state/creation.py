"""How a session comes to be: a new row in its place among the others, or what an existing one still lacks."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, insert, select, update

from hermes_state.codec import clean
from hermes_state.conversation import infer_relation, move_conversation, retip, seal
from hermes_state.errors import InvalidValue, SessionExists, SessionNotFound
from hermes_state.records import Relation
from hermes_state.schema import sessions, system_prompts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

UNKNOWN_SOURCE = "unknown"
# Statements that run with every session are made once.
_BY_ID = select(sessions).where(sessions.c.id == bindparam("session_id"))
_INSERT = insert(sessions)
_ALONE = update(sessions).where(sessions.c.pk == bindparam("session")).values(conversation_pk=bindparam("session"))


class Origin(NamedTuple):
    """The session another one came from, as its row, and how."""

    parent: Any
    relation: Relation

    @property
    def continues(self) -> bool:
        """Whether the child is a further segment of the parent's conversation."""
        return self.relation == Relation.COMPRESSION

    @property
    def delegated(self) -> bool:
        """Whether the child does a sub-agent's work."""
        return self.relation == Relation.DELEGATE or (self.continues and bool(self.parent.delegated))


class Put(NamedTuple):
    """What became of a session that was to be made."""

    pk: int
    is_new: bool
    has_title: bool


def find_origin(
    connection: Connection, parent_id: str | None, relation: Relation | str | None, source: str
) -> Origin | None:
    """Where a session with this parent comes from; see `Sessions.create`."""
    if relation is not None and relation not in set(Relation):
        raise InvalidValue(f"no relation {relation!r}", hint=f"one of {', '.join(Relation)}")
    if parent_id is None:
        if relation:
            raise InvalidValue(f"relation {relation!r} needs a parent_id")
        return None
    parent = connection.execute(_BY_ID, {"session_id": parent_id}).fetchone()
    if parent is None:
        raise SessionNotFound(parent_id)
    return Origin(parent, Relation(relation) if relation else infer_relation(parent.end_reason, source))


def put_session(
    connection: Connection,
    session_id: str,
    source: str,
    started_at: int,
    origin: Origin | None,
    values: Mapping[str, Any],
) -> Put:
    """Add a session, or complete the one with this id."""
    row = connection.execute(_BY_ID, {"session_id": session_id}).fetchone()
    if row is None:
        pk = _insert(connection, session_id, check_source(source), started_at, origin, values)
        return Put(pk, is_new=True, has_title=False)
    _complete(connection, row, source, origin, values)
    return Put(int(row.pk), is_new=False, has_title=row.title is not None)


def _insert(
    connection: Connection,
    session_id: str,
    source: str,
    started_at: int,
    origin: Origin | None,
    values: Mapping[str, Any],
) -> int:
    """Add a session, in the conversation that it continues or in one of its own; returns its key."""
    continued = origin.parent if origin and origin.continues else None
    result = connection.execute(
        _INSERT,
        {
            "id": session_id,
            "source": source,
            "parent_pk": origin.parent.pk if origin else None,
            "relation": str(origin.relation) if origin else None,
            "conversation_pk": continued.conversation_pk if continued else 0,
            "is_tip": continued is None,
            "delegated": origin is not None and origin.delegated,
            "sealed": False,
            "archived": bool(continued and continued.archived),
            "started_at": started_at,
            "last_active_at": started_at,
            "message_count": 0,
            "tool_call_count": 0,
            "rewind_count": 0,
            **values,
        },
    )
    assert result.inserted_primary_key is not None
    pk = int(result.inserted_primary_key[0])
    if continued:
        seal(connection, continued.pk)
        retip(connection, continued.conversation_pk)
    else:
        connection.execute(_ALONE, {"session": pk})
    return pk


def _complete(connection: Connection, row: Any, source: str, origin: Origin | None, values: Mapping[str, Any]) -> None:
    """Fill what an existing session lacks; one first met without its source or its parent learns it.

    Raises:
        SessionExists: it belongs to another user.
        InvalidValue: the parent came from this very session.
    """
    user = values.get("user_id")
    if user is not None and row.user_id is not None and row.user_id != user:
        raise SessionExists(row.id)
    missing = {name: value for name, value in values.items() if getattr(row, name) is None}
    if row.source == UNKNOWN_SOURCE and source != UNKNOWN_SOURCE:
        missing["source"] = check_source(source)
    if missing:
        connection.execute(update(sessions).where(sessions.c.pk == row.pk).values(missing))
    if origin is not None and row.parent_pk is None:
        _adopt(connection, row, origin)


def _adopt(connection: Connection, row: Any, origin: Origin) -> None:
    c = sessions.c
    above: int | None = origin.parent.pk
    while above is not None:
        if above == row.pk:
            raise InvalidValue(f"session {origin.parent.id} came from {row.id} and can't be its parent")
        above = connection.execute(select(c.parent_pk).where(c.pk == above)).scalar()
    known = update(sessions).where(c.pk == row.pk)
    connection.execute(known.values(parent_pk=origin.parent.pk, relation=str(origin.relation)))
    if origin.delegated:
        connection.execute(update(sessions).where(c.conversation_pk == row.conversation_pk).values(delegated=True))
    if origin.continues:
        seal(connection, origin.parent.pk)
        move_conversation(connection, row.pk, to=origin.parent.conversation_pk)


def check_source(source: str) -> str:
    """The name of a surface: a non-empty word.

    Raises:
        InvalidValue: empty or not a string.
    """
    if not isinstance(source, str) or not (cleaned := (clean(source) or "").strip()):
        raise InvalidValue(f"a source is a word such as 'cli' or 'telegram', not {source!r}")
    return cleaned


def intern_prompt(connection: Connection, text: str) -> int:
    """The key of a system prompt, stored once per distinct text."""
    text = clean(text) or ""
    digest = hashlib.sha256(text.encode()).digest()
    p = system_prompts.c
    pk = connection.execute(select(p.pk).where(p.sha256 == digest)).scalar()
    if pk is None:
        inserted = connection.execute(insert(system_prompts).values(sha256=digest, text=text)).inserted_primary_key
        assert inserted is not None
        pk = inserted[0]
    return int(pk)
