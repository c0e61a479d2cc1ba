"""Messages: append, read, take back, compact."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Unpack

from sqlalchemy import select
from sqlalchemy.sql import func

from hermes_state import edits
from hermes_state.activity import FOLD_EVERY, fold, fold_every
from hermes_state.clock import from_us, now_us
from hermes_state.codec import Columns, FieldsOf, decode, encode, message_fields
from hermes_state.conversation import COMPRESSION_END, segments_of
from hermes_state.errors import DiskFull, LeaseHeld, MessageNotFound, SessionMoved, SessionNotFound, StoreBusy
from hermes_state.leases import compression_lease, is_held
from hermes_state.records import MESSAGE_FIELDS, Message, MessageState, Relation, Rewind, Window, message_of
from hermes_state.replay import replay
from hermes_state.schema import messages, sessions
from hermes_state.session_rows import pk_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from hermes_state.engine import Engine
    from hermes_state.records import Content, MessageFields

VISIBLE = (MessageState.ACTIVE, MessageState.COMPACTED)
ANY_STATE = tuple(MessageState)
# Names whose values a record has as they are given; others go to its extras.
_RECORDED = MESSAGE_FIELDS | {"role", "content", "state"}
# How long an append may wait to fold the tail, in seconds: it is stored already, only its caller waits.
_FOLD_BUDGET_S = 0.02
MessageList = list[Message]  # inside the class, `list` is the method
AnyList = list[Any]
Replay = list[dict[str, Any]]


class Messages:
    """The messages of a store."""

    def __init__(
        self, engine: Engine, fields_of: FieldsOf = message_fields, on_append: Callable[[int], object] | None = None
    ) -> None:
        self._engine = engine
        self._on_append = on_append or (lambda _count: None)
        self._fields_of = fields_of
        self._fold_every = fold_every(engine)

    # --- writing ------------------------------------------------------------------------------------------------

    def append(
        self,
        session_id: str,
        *,
        role: str,
        content: Content = None,
        **fields: Unpack[MessageFields],
    ) -> Message:
        """Add a message at the end of a session; it is committed when this returns.

        A second append with the same `platform_message_id` adds nothing and returns the first one's message. A tool
        result without a `tool_name` gets it from the call it answers.

        Args:
            content: text, a list of multimodal parts, or None; comes back equal.
            fields: what else is known of it; None is as if not given.

        Raises:
            SessionNotFound: there is no such session.
            SessionMoved: it was compressed; append to `error.tip`.
            LeaseHeld: it is being compressed at this moment.
            InvalidValue, StoreBusy, DiskFull, StoreDamaged: nothing was written.
        """
        given: dict[str, Any] = {"role": role, "content": content}
        if fields:
            given.update(_given(fields))
        said = self._fields_of(given)
        encoded = encode(said, now_us(), is_packed=self._engine.packs_texts)
        if role == "tool" and "tool_name" not in encoded and "tool_call_id" in encoded:
            self._fill_tool_name(session_id, encoded)
        placed = self._engine.append_message(session_id, encoded)
        if placed is None:
            return self._append_or_explain(session_id, encoded)
        self._on_append(1)
        if placed[0] % self._fold_every == 0:
            self._fold()
        return _record(session_id, placed, said, encoded)

    def append_many(self, session_id: str, messages: Iterable[Mapping[str, Any] | Message]) -> MessageList:
        """Add messages in one transaction: all of them, or none.

        Args:
            messages: mappings with the fields of `append`, or `Message` records of any session; names the store does
                not know are kept in `extras`. One whose `platform_message_id` the session has already is not added;
                the stored one is returned in its place.

        Raises:
            As `append`.
        """
        now = now_us()
        said = [self._fields_of(message) for message in messages]
        encoded = [encode(fields, now, is_packed=self._engine.packs_texts) for fields in said]
        for columns in encoded:
            columns.pop("state", None)  # what is appended is active, whatever became of the message it copies
        with self._engine.write() as connection:
            if not encoded:
                self._writable(connection, session_id)
            edits.name_tools(connection, session_id, encoded)
            added = [self._append_part(connection, session_id, *each) for each in zip(said, encoded, strict=True)]
            if len({message.id // FOLD_EVERY for message in added}) > 1:
                fold(connection)
        self._on_append(len(added))
        return added

    def _append_part(
        self, connection: Connection, session_id: str, said: Mapping[str, Any], columns: Columns
    ) -> Message:
        """Append inside a transaction; what the engine's statement does not take is looked into."""
        placed = self._engine.append_message(session_id, columns)
        if placed is None:
            pk = self._writable(connection, session_id)
            return edits.append_all(connection, pk, session_id, [columns])[0]
        if said.keys() <= _RECORDED:
            given = {name: value for name, value in said.items() if value is not None and name != "state"}
            return _record(session_id, placed, given, columns)
        return edits.record_of(session_id, columns | {"id": placed[0], "position": placed[1]})

    def _fill_tool_name(self, session_id: str, encoded: Columns) -> None:
        with self._engine.read() as connection:
            name = edits.called_tool(connection, session_id, encoded["tool_call_id"])
        if name is not None:
            encoded["tool_name"] = name

    def _append_or_explain(self, session_id: str, encoded: Columns) -> Message:
        """The append statement added nothing: find out why, and do what is right."""
        with self._engine.write() as connection:
            pk = self._writable(connection, session_id)
            return edits.append_all(connection, pk, session_id, [encoded])[0]

    def _writable(self, connection: Connection, session_id: str) -> int:
        """The key of a session that may be appended to; one left sealed by a crash, without a child, is reopened."""
        c = sessions.c
        row = connection.execute(select(c.pk, c.sealed, c.conversation_pk).where(c.id == session_id)).fetchone()
        if row is None:
            raise SessionNotFound(session_id)
        if row.sealed:
            child = select(func.count()).where(c.parent_pk == row.pk, c.relation == Relation.COMPRESSION)
            if connection.execute(child).scalar():
                tip = select(c.id).where(c.conversation_pk == row.conversation_pk, c.is_tip)
                raise SessionMoved(session_id, str(connection.execute(tip).scalar()))
            owner = is_held(connection, compression_lease(session_id))
            if owner is not None:
                raise LeaseHeld(compression_lease(session_id), owner)
            reopened = {"sealed": False, "ended_at": None, "end_reason": None}
            connection.execute(
                sessions.update().where(c.pk == row.pk, c.end_reason == COMPRESSION_END).values(reopened)
            )
            connection.execute(sessions.update().where(c.pk == row.pk).values(sealed=False))
        return int(row.pk)

    def _fold(self) -> None:
        """Keep the tail of uncounted messages short. When it does not work now, whoever is next does it.

        The message that brought us here is stored, so its append must not fail any more.
        """
        with suppress(StoreBusy, DiskFull), self._engine.write(budget_s=_FOLD_BUDGET_S) as connection:
            fold(connection)

    # --- reading ------------------------------------------------------------------------------------------------

    def get(self, message_id: int) -> Message:
        """One message by its id, in whatever state.

        Raises:
            MessageNotFound: there is none.
        """
        query = select(messages, sessions.c.id.label("owner")).join(sessions).where(messages.c.id == message_id)
        with self._engine.read() as connection:
            row = connection.execute(query).fetchone()
        if row is None:
            raise MessageNotFound(message_id)
        return decode(row, row.owner)

    def list(
        self,
        session_id: str,
        *,
        states: Sequence[MessageState] = (MessageState.ACTIVE,),
        roles: Sequence[str] | None = None,
        limit: int | None = None,
        offset: int = 0,
        newest_first: bool = False,
    ) -> MessageList:
        """The messages of one session, in order.

        Args:
            states: which ones; by default the active transcript, `VISIBLE` adds what was compacted.
            limit, offset: a page; None: all.
            newest_first: last message first, pages counted from the end.
        """
        m = messages.c
        order = m.position.desc() if newest_first else m.position
        with self._engine.read() as connection:
            query = select(messages).where(m.session_pk == pk_of(connection, session_id), m.state.in_(states))
            if roles is not None:
                query = query.where(m.role.in_(roles))
            rows = connection.execute(query.order_by(order).limit(limit).offset(offset)).fetchall()
        return [decode(row, session_id) for row in rows]

    def history(self, session_id: str, *, states: Sequence[MessageState] = VISIBLE) -> MessageList:
        """Everything said in the conversation of a session, over all its segments, from the first to the tip."""
        m = messages.c
        with self._engine.read() as connection:
            segments = segments_of(connection, pk_of(connection, session_id))
            rows = [
                row
                for pk in segments
                for row in connection.execute(
                    select(messages, sessions.c.id.label("owner"))
                    .join(sessions)
                    .where(m.session_pk == pk, m.state.in_(states))
                    .order_by(m.position)
                )
            ]
        return [decode(row, row.owner) for row in rows]

    def window(self, session_id: str, anchor_id: int, *, before: int = 5, after: int = 5) -> Window:
        """The messages around one of a session, in order, without what was rewound (but for the anchor itself).

        Raises:
            MessageNotFound: the session has no such message.
        """
        m = messages.c
        with self._engine.read() as connection:
            pk = pk_of(connection, session_id)
            anchor = connection.execute(select(messages).where(m.id == anchor_id, m.session_pk == pk)).fetchone()
            if anchor is None:
                raise MessageNotFound(anchor_id, session_id)
            visible = (m.session_pk == pk) & m.state.in_(VISIBLE)
            earlier, later = visible & (m.position < anchor.position), visible & (m.position > anchor.position)
            head = connection.execute(
                select(messages).where(earlier).order_by(m.position.desc()).limit(before)
            ).fetchall()
            rest = connection.execute(select(messages).where(later).order_by(m.position).limit(after)).fetchall()
            counts = [connection.execute(select(func.count()).where(side)).scalar_one() for side in (earlier, later)]
        rows = [*reversed(head), anchor, *rest]
        return Window(
            messages=tuple(decode(row, session_id) for row in rows),
            anchor_id=anchor_id,
            before=counts[0] - len(head),
            after=counts[1] - len(rest),
        )

    def count(self, session_id: str | None = None, *, states: Sequence[MessageState] = (MessageState.ACTIVE,)) -> int:
        """How many messages a session, or the whole store, holds."""
        query = select(func.count()).select_from(messages).where(messages.c.state.in_(states))
        with self._engine.read() as connection:
            if session_id is not None:
                query = query.where(messages.c.session_pk == pk_of(connection, session_id))
            return int(connection.execute(query).scalar_one())

    def replay(self, session_id: str) -> Replay:
        """The active transcript as a provider takes it; see `hermes_state.replay`."""
        return replay(self.list(session_id))

    # --- editing ------------------------------------------------------------------------------------------------

    def amend(self, message_id: int, *, api_content: Any = None, extras: Mapping[str, Any] | None = None) -> Message:
        """Add what is known of a message only after it was stored; what it says never changes.

        Args:
            api_content: the form in which it was sent to the model; None: as it is.
            extras: further fields; others that it has stay.

        Raises:
            MessageNotFound: there is no such message.
        """
        given = {name: value for name, value in (("api_content", api_content), ("extras", extras)) if value is not None}
        with self._engine.write() as connection:
            return edits.amend(connection, message_id, self._fields_of(given))

    def rewind(self, session_id: str, *, to_message_id: int | None = None, last: int | None = None) -> Rewind:
        """Take back the end of a transcript: hidden everywhere, until `undo_rewind`.

        Args:
            to_message_id: this message and all after it.
            last: or the last so many active messages; fewer when there are fewer.

        Raises:
            MessageNotFound: the session has no such active message.
            InvalidValue: neither or both were given.
        """
        with self._engine.write() as connection:
            pk = pk_of(connection, session_id)
            return edits.rewind(connection, pk, session_id, to_message_id, last)

    def undo_rewind(self, session_id: str) -> MessageList:
        """Bring back what the newest rewind took; what was appended since stays, after it. [] when there is none."""
        with self._engine.write() as connection:
            return edits.undo_rewind(connection, pk_of(connection, session_id), session_id)

    def compact(
        self, session_id: str, summary: Iterable[Mapping[str, Any] | Message], *, keep_last: int = 0
    ) -> MessageList:
        """Summarise in place: the active messages become compacted (still searchable), the summary takes their place.

        Args:
            summary: the messages that stand for them.
            keep_last: so many of the newest stay active, as the same messages, after the summary.

        Returns:
            The summary's messages as stored.

        Raises:
            InvalidValue: the summary is empty; nothing was changed.
        """
        now = now_us()
        encoded = [encode(self._fields_of(message), now) for message in summary]
        with self._engine.write() as connection:
            pk = self._writable(connection, session_id)
            return edits.compact(connection, pk, session_id, encoded, keep_last)

    def replace(self, session_id: str, messages: Iterable[Mapping[str, Any] | Message]) -> MessageList:
        """Put another transcript in the place of the active one. The old one counts as rewound; archives stay.

        Messages at the start that are equal in both are kept as they are.

        Returns:
            The whole new active transcript.
        """
        now = now_us()
        encoded = [encode(self._fields_of(message), now) for message in messages]
        with self._engine.write() as connection:
            pk = self._writable(connection, session_id)
            return edits.replace(connection, pk, session_id, encoded)


def _record(session_id: str, placed: tuple[int, int], said: Mapping[str, Any], columns: Columns) -> Message:
    """The record of a message that was just stored, from what was said of it: reading it back would cost as much."""
    return message_of(
        {
            **said,
            "id": placed[0],
            "session_id": session_id,
            "position": placed[1],
            "role": columns["role"],
            "created_at": from_us(columns["created_at"]),
            "tool_name": columns.get("tool_name"),
            "tool_call_id": columns.get("tool_call_id"),
            "platform_message_id": columns.get("platform_message_id"),
        }
    )


def _given(fields: MessageFields) -> dict[str, Any]:
    """The fields that have a value; the other names are taken as a call with named parameters takes them."""
    if not MESSAGE_FIELDS.issuperset(fields):
        unknown = ", ".join(sorted(fields.keys() - MESSAGE_FIELDS))
        raise TypeError(f"append() takes no {unknown}; further fields are given as extras")
    return {name: value for name, value in fields.items() if value is not None}


__all__ = ["ANY_STATE", "VISIBLE", "Messages"]
