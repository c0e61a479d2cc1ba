"""What an import writes, inside one write transaction of the store.

Rows are written as they will stand, with counters and lineage, so that a store is whole after every transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import bindparam, case, delete, func, insert, select, update

from hermes_state import index, titles
from hermes_state.activity import fold, raise_id_floor, recount
from hermes_state.clock import now_us
from hermes_state.conversation import retip
from hermes_state.edits import next_id, release_platform_ids
from hermes_state.importers.digests import GONE, state_in
from hermes_state.importers.hermes_messages import essence_of
from hermes_state.records import MessageState, Relation
from hermes_state.schema import imported_messages, imported_sessions, messages, sessions, store_state
from hermes_state.sessions import intern_prompt
from hermes_state.transfer.placing import place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from hermes_state.importers.hermes_messages import ForeignMessage

_T = TypeVar("_T")
Row = dict[str, Any]
_m, _c, _known = messages.c, sessions.c, imported_messages.c
_EMPTY: Row = {c.name: None for c in messages.c} | {"state": int(MessageState.ACTIVE)}
# Columns that a change of the foreign message may change here.
_CHANGEABLE = tuple(c.name for c in messages.c if c.name not in ("id", "session_pk", "position", "rewind_number"))
# Ids bound to one statement, well below SQLite's limit.
_CHUNK = 500
_COUNT = (
    update(sessions)
    .where(_c.pk == bindparam("pk_"))
    .values(
        message_count=_c.message_count + bindparam("active"),
        tool_call_count=_c.tool_call_count + bindparam("calls"),
        last_active_at=case((_c.last_active_at < bindparam("last_at"), bindparam("last_at")), else_=_c.last_active_at),
    )
)


class Sink:
    """The writes of one transaction. Call `finish` as the last thing in it.

    Attributes:
        connection: the write transaction.
        source_pk: which foreign store it comes from.
    """

    def __init__(self, connection: Connection, source_pk: int) -> None:
        fold(connection)  # after this every message above the mark is one of ours, counted by us
        self.connection = connection
        self.source_pk = source_pk
        self._free_id = next_id(connection)
        self._conversations: set[int] = set()
        self._recount: set[int] = set()
        # Rows that are written together at the end, or before something looks at them.
        self._messages: list[Row] = []
        self._remembered: list[Row] = []
        self._counted: dict[int, Row] = {}
        self._noted: dict[str, Row] = {}
        self._positions: dict[int, int] = {}
        self._prompts: dict[str, int] = {}

    # --- sessions -----------------------------------------------------------------------------------------------

    def create(
        self,
        session_id: str,
        values: Mapping[str, Any],
        *,
        title: str | None,
        system_prompt: str | None,
        parent_pk: int | None,
        relation: Relation | None,
    ) -> tuple[int, str | None]:
        """Add a session and place it in its conversation; returns its key and the title it got.

        Args:
            title: one that another session has gets the next number.
        """
        given = title and titles.next_title(self.connection, title)
        row = {
            "id": session_id,
            "title": given,
            "system_prompt_pk": None if system_prompt is None else self._prompt(system_prompt),
        }
        pk = place(self.connection, {**values, **row}, parent_pk=parent_pk, relation=relation)
        self._positions[pk] = 0
        if parent_pk is not None and relation == Relation.COMPRESSION:
            self._conversations.add(self.connection.execute(select(_c.conversation_pk).where(_c.pk == pk)).scalar_one())
        return pk, given

    def _prompt(self, text: str) -> int:
        pk = self._prompts.get(text)
        if pk is None:
            pk = self._prompts[text] = intern_prompt(self.connection, text)
        return pk

    def update_session(self, session_pk: int, **values: Any) -> None:
        """Set columns of a session."""
        self.connection.execute(update(sessions).where(_c.pk == session_pk).values(values))

    def retip_later(self, conversation_pk: int) -> None:
        """Find the tip of a conversation again when the transaction ends."""
        self._conversations.add(conversation_pk)

    # --- messages -----------------------------------------------------------------------------------------------

    def add(self, session_pk: int, found: Sequence[ForeignMessage], *, remember: bool = True) -> None:
        """Add messages at the end of a session.

        Args:
            remember: note which foreign message each came from.
        """
        position = self._position(session_pk)
        rows = [
            _EMPTY | message.columns | {"id": self._free_id + n, "session_pk": session_pk, "position": position + n}
            for n, message in enumerate(found)
        ]
        self._positions[session_pk] = position + len(rows)
        self._free_id += len(rows)
        self._messages += rows
        if remember:
            self._remember(session_pk, [(m, row["id"]) for m, row in zip(found, rows, strict=True)])
        self._count(session_pk, rows)

    def _position(self, session_pk: int) -> int:
        if session_pk not in self._positions:
            last = self.connection.execute(select(func.max(_m.position)).where(_m.session_pk == session_pk)).scalar()
            self._positions[session_pk] = 0 if last is None else int(last) + 1
        return self._positions[session_pk]

    def _remember(self, session_pk: int, found: Iterable[tuple[ForeignMessage, int]]) -> None:
        self._remembered += [
            {
                "session_pk": session_pk,
                "source_pk": self.source_pk,
                "foreign_id": message.foreign_id,
                "message_id": message_id,
                "digest": message.digest,
            }
            for message, message_id in found
        ]

    def _count(self, session_pk: int, rows: Sequence[Row]) -> None:
        total = self._counted.setdefault(session_pk, {"pk_": session_pk, "active": 0, "calls": 0, "last_at": 0})
        for row in rows:
            if row["state"] == MessageState.ACTIVE:
                total["active"] += 1
                total["calls"] += row["tool_call_count"] or 0
            total["last_at"] = max(total["last_at"], row["created_at"])

    def write(self) -> None:
        """Write the rows that wait to be written together."""
        for table, waiting in ((messages, self._messages), (imported_messages, self._remembered)):
            if waiting:
                self.connection.execute(insert(table), waiting)
                waiting.clear()
        if self._counted:
            self.connection.execute(_COUNT, list(self._counted.values()))
            self._counted.clear()

    def adopt(self, session_pk: int, found: Iterable[tuple[ForeignMessage, int]]) -> None:
        """Note that messages which are here already are these foreign ones."""
        self._remember(session_pk, found)

    def change(self, session_pk: int, message_id: int, message: ForeignMessage, old_digest: int) -> None:
        """Follow a change of a foreign message; a state that was changed here only stays."""
        self.write()
        row = self.connection.execute(select(messages).where(_m.id == message_id)).one()
        values = {name: message.columns.get(name) for name in _CHANGEABLE}
        values["state"] = values["state"] or int(MessageState.ACTIVE)
        if old_digest != GONE and values["state"] == state_in(old_digest):
            values["state"] = row.state
        elif values["state"] == MessageState.ACTIVE:
            values["rewind_number"] = None
        if essence_of(row._asdict().get) == message.essence:
            self.connection.execute(update(messages).where(_m.id == message_id).values(values))
        else:
            message_id = self._put_anew(row, values)
        self._recount.add(session_pk)
        known = (_known.session_pk == session_pk) & (_known.source_pk == self.source_pk)
        self.connection.execute(delete(imported_messages).where(known, _known.foreign_id == message.foreign_id))
        self._remember(session_pk, [(message, message_id)])

    def _put_anew(self, row: Any, values: Mapping[str, Any]) -> int:
        """Another text in the place of a message: a new message, since the index has the text of the old one's id."""
        message_id = self._free_id
        raise_id_floor(self.connection)
        index.forget(self.connection, [row])
        self.connection.execute(delete(messages).where(_m.id == row.id))
        self._free_id += 1
        self.connection.execute(insert(messages), [{**row._asdict(), **values, "id": message_id}])
        return message_id

    def reassign(self, session_pk: int, moved: Sequence[tuple[int, int, int]]) -> None:
        """Note that messages have other ids there now.

        Args:
            moved: the old foreign id, the new one, and the message's id here.
        """
        self._forget(session_pk, [old for old, _, _ in moved])
        self._remembered += [
            {
                "session_pk": session_pk,
                "source_pk": self.source_pk,
                "foreign_id": new,
                "message_id": message_id,
                "digest": GONE,  # which no row has: the row that comes is taken for a change
            }
            for _, new, message_id in moved
        ]

    def _forget(self, session_pk: int, foreign_ids: Sequence[int]) -> None:
        known = (_known.session_pk == session_pk) & (_known.source_pk == self.source_pk)
        for some in _chunks(foreign_ids):
            self.connection.execute(delete(imported_messages).where(known, _known.foreign_id.in_(some)))

    def lose(self, session_pk: int, foreign_ids: Sequence[int]) -> None:
        """Messages that are no longer there: active ones are taken back, as one rewind that can be undone.

        What was compacted or taken back already stays what it is.
        """
        known = (_known.session_pk == session_pk) & (_known.source_pk == self.source_pk)
        ids: list[int] = []
        for some in _chunks(foreign_ids):
            gone = known & _known.foreign_id.in_(some)
            ids += self.connection.execute(select(_known.message_id).where(gone)).scalars()
            self.connection.execute(update(imported_messages).where(gone).values(digest=GONE))
        number = self.connection.execute(select(_c.rewind_count).where(_c.pk == session_pk)).scalar_one() + 1
        taken = 0
        for some in _chunks(ids):
            lost = update(messages).where(_m.id.in_(some), _m.state == MessageState.ACTIVE)
            values = {"state": int(MessageState.REWOUND), "rewind_number": number}
            taken += self.connection.execute(lost.values(values)).rowcount
        release_platform_ids(self.connection, ids)
        if taken:
            self.update_session(session_pk, rewind_count=number)
        self._recount.add(session_pk)

    # --- the end ------------------------------------------------------------------------------------------------

    def note_session(self, foreign_id: str, session_pk: int, fingerprint: str) -> None:
        """Note how far a session was brought in."""
        self._noted[foreign_id] = {
            "source_pk": self.source_pk,
            "foreign_id": foreign_id,
            "session_pk": session_pk,
            "fingerprint": fingerprint,
            "imported_at": now_us(),
        }

    def _write_notes(self) -> None:
        i = imported_sessions.c
        for some in _chunks(list(self._noted)):
            self.connection.execute(
                delete(imported_sessions).where(i.source_pk == self.source_pk, i.foreign_id.in_(some))
            )
            self.connection.execute(insert(imported_sessions), [self._noted[foreign_id] for foreign_id in some])

    def finish(self) -> None:
        """Bring counters and tips up to date."""
        self.write()
        self._write_notes()
        newest = select(func.coalesce(func.max(_m.id), 0)).scalar_subquery()
        self.connection.execute(update(store_state).values(counted_through=newest))
        for pk in self._recount:
            recount(self.connection, pk)
        for conversation in self._conversations:
            retip(self.connection, conversation)


def _chunks(ids: Sequence[_T]) -> Iterable[Sequence[_T]]:
    return (ids[start : start + _CHUNK] for start in range(0, len(ids), _CHUNK))
