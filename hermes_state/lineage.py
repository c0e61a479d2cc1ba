"""How conversations go on: resume, rotate (compression), branch, delegate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, literal, select

from hermes_state import edits, titles
from hermes_state.clock import now_us
from hermes_state.codec import FieldsOf, encode, message_fields, says_something
from hermes_state.conversation import seal, segments_of
from hermes_state.engine.ids import MessageIds
from hermes_state.errors import InvalidValue, LeaseHeld, MessageNotFound
from hermes_state.leases import compression_lease, is_held
from hermes_state.records import MessageState, Relation, Rotation, Session
from hermes_state.schema import messages, sessions
from hermes_state.session_rows import ORIGIN_FIELDS, load, pk_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import Connection

    from hermes_state.engine import Engine
    from hermes_state.records import Message
    from hermes_state.sessions import Sessions

# What a child takes over from its parent, beside the system prompt.
_INHERITED = ("source", *ORIGIN_FIELDS, "model_config", "origin")
_COPIED = [c for c in messages.c if c.name not in ("id", "session_pk", "position")]


class Lineage:
    """The conversations of a store as wholes."""

    def __init__(self, engine: Engine, sessions: Sessions, fields_of: FieldsOf = message_fields) -> None:
        self._engine = engine
        self._sessions = sessions
        self._fields_of = fields_of

    def segments(self, session_id: str) -> list[Session]:
        """All sessions of a conversation, from the first to the newest."""
        with self._engine.read() as connection:
            return [load(connection, pk) for pk in segments_of(connection, pk_of(connection, session_id))]

    def children(self, session_id: str) -> list[Session]:
        """The sessions that came from this one, in order of start, of every relation."""
        c = sessions.c
        with self._engine.read() as connection:
            parent = pk_of(connection, session_id)
            pks = connection.execute(select(c.pk).where(c.parent_pk == parent).order_by(c.started_at, c.pk))
            return [load(connection, pk) for pk in pks.scalars().all()]

    def rotate(
        self, session_id: str, messages: Iterable[Mapping[str, Any] | Message], *, owner: str | None = None
    ) -> Rotation:
        """End a session by compression and go on in a child that starts with `messages`: all of it, or nothing.

        However many callers try, one child is made; the others get that child with `created=False`.

        Args:
            messages: the compressed transcript, with at least one message that says something.
            owner: who holds the lease `compress:<id>`, where there is one.

        Raises:
            InvalidValue: nothing to go on with; the session stays as it is, live.
            LeaseHeld: somebody else is compressing it.
        """
        now = now_us()
        encoded = [encode(self._fields_of(message), now) for message in messages]
        if not any(map(says_something, encoded)):
            raise InvalidValue(
                f"no summary to continue session {session_id} with; it was not compressed",
                hint="keep the session and summarise again",
            )
        with self._engine.write() as connection:
            parent_pk = pk_of(connection, session_id)
            existing = self._compression_child(connection, parent_pk)
            if existing is not None:
                return Rotation(parent=load(connection, parent_pk), child=load(connection, existing), created=False)
            holder = is_held(connection, compression_lease(session_id), by_other_than=owner)
            if holder is not None:
                raise LeaseHeld(compression_lease(session_id), holder)
            seal(connection, parent_pk)
            child = self._child(connection, parent_pk, Relation.COMPRESSION, {})
            child_pk = pk_of(connection, child)
            edits.append_all(connection, child_pk, child, encoded)
            return Rotation(parent=load(connection, parent_pk), child=load(connection, child_pk), created=True)

    def branch(self, session_id: str, *, up_to_message_id: int | None = None, title: str | None = None) -> Session:
        """A new conversation that starts with a copy of this one's active messages.

        Args:
            up_to_message_id: the last message to copy; None: all.
            title: None: the next number of the parent's title, where it has one.
        """
        with self._engine.write() as connection:
            parent_pk = pk_of(connection, session_id)
            last = None
            if up_to_message_id is not None:
                m = messages.c
                where = (m.id == up_to_message_id) & (m.session_pk == parent_pk) & (m.state == MessageState.ACTIVE)
                last = connection.execute(select(m.position).where(where)).scalar()
                if last is None:
                    raise MessageNotFound(up_to_message_id, session_id)
            child = self._child(connection, parent_pk, Relation.BRANCH, {}, title=title)
            _copy_transcript(connection, parent_pk, pk_of(connection, child), last)
            return load(connection, pk_of(connection, child))

    def delegate(self, session_id: str, *, source: str = "subagent", **fields: Any) -> Session:
        """A session for a sub-agent's work: hidden from lists and search unless asked for, deleted with its parent.

        Args:
            fields: as for `Sessions.create`; what is not given is the parent's.
        """
        with self._engine.write() as connection:
            parent_pk = pk_of(connection, session_id)
            title = fields.pop("title", None)
            child = self._child(connection, parent_pk, Relation.DELEGATE, {"source": source} | fields, title=title)
            return load(connection, pk_of(connection, child))

    def _child(
        self,
        connection: Connection,
        parent_pk: int,
        relation: Relation,
        fields: dict[str, Any],
        title: str | None = None,
    ) -> str:
        """Create a child that takes over the parent's origin; returns its id."""
        parent = load(connection, parent_pk)
        inherited = {name: getattr(parent, name) for name in _INHERITED}
        inherited["system_prompt"] = self._sessions.system_prompt(parent.id)
        if title is None and parent.title and relation != Relation.DELEGATE:
            title = titles.next_title(connection, parent.title)
        child = self._sessions.create(parent_id=parent.id, relation=relation, title=title, **(inherited | fields))
        return child.id

    def _compression_child(self, connection: Connection, parent_pk: int) -> int | None:
        c = sessions.c
        children = select(c.pk).where(c.parent_pk == parent_pk, c.relation == Relation.COMPRESSION)
        found = connection.execute(
            children.order_by(c.ended_at.is_(None).desc(), c.started_at.desc(), c.pk.desc())
        ).scalar()
        return None if found is None else int(found)


def _copy_transcript(connection: Connection, source_pk: int, target_pk: int, last_position: int | None) -> None:
    """Copy active messages with every column, in one statement; ids and positions are new."""
    m = messages.c
    ids = MessageIds(connection)
    ranked = select(
        *_COPIED,
        (func.row_number().over(order_by=m.position) - 1).label("offset"),
    ).where(m.session_pk == source_pk, m.state == MessageState.ACTIVE)
    if last_position is not None:
        ranked = ranked.where(m.position <= last_position)
    rows = ranked.subquery()
    columns = [rows.c[c.name] for c in _COPIED]
    copied = select(ids.column(rows.c.offset), literal(target_pk), rows.c.offset, *columns).order_by(rows.c.offset)
    names = ["id", "session_pk", "position", *(c.name for c in _COPIED)]
    connection.execute(insert(messages).from_select(names, copied))
