"""What an import writes, inside one write transaction of the store.

Rows are written as they will stand, with counters and lineage, so that a store is whole after every transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import bindparam, delete, insert, select, update

from hermes_state import index, titles
from hermes_state.activity import raise_id_floor
from hermes_state.clock import now_us
from hermes_state.creation import intern_prompt
from hermes_state.edits import release_platform_ids
from hermes_state.importers.digests import GONE, state_in
from hermes_state.importers.hermes_messages import essence_of
from hermes_state.records import MessageState, Relation
from hermes_state.schema import imported_messages, imported_sessions, messages, sessions
from hermes_state.transfer.bulk import Bulk
from hermes_state.transfer.placing import place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from hermes_state.importers.hermes_messages import ForeignMessage

_T = TypeVar("_T")
Row = dict[str, Any]
_m, _c, _known = messages.c, sessions.c, imported_messages.c
# Columns that a change of the foreign message may change here.
_CHANGEABLE = tuple(c.name for c in messages.c if c.name not in ("id", "session_pk", "position", "rewind_number"))
# Ids bound to one statement, well below SQLite's limit.
_CHUNK = 500


class Sink:
    """The writes of one transaction. Call `finish` as the last thing in it.

    Attributes:
        connection: the write transaction.
        source_pk: which foreign store it comes from.
    """

    def __init__(self, connection: Connection, source_pk: int) -> None:
        self.connection = connection
        self.source_pk = source_pk
        self._bulk = Bulk(connection)
        # Rows that are written together at the end, or before something looks at them.
        self._remembered: list[Row] = []
        self._noted: dict[str, Row] = {}
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
        self._bulk.is_new(pk)
        if parent_pk is not None and relation == Relation.COMPRESSION:
            self.retip_later(self.connection.execute(select(_c.conversation_pk).where(_c.pk == pk)).scalar_one())
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
        self._bulk.retip_later(conversation_pk)

    # --- messages -----------------------------------------------------------------------------------------------

    def add(self, session_pk: int, found: Sequence[ForeignMessage], *, remember: bool = True) -> list[int]:
        """Add messages at the end of a session; returns their ids.

        Args:
            remember: note which foreign message each came from.
        """
        ids = self._bulk.add(session_pk, [message.columns for message in found])
        if remember:
            self._remember(session_pk, zip(found, ids, strict=True))
        return ids

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

    def write(self) -> None:
        """Write the rows that wait to be written together."""
        self._bulk.write()
        if self._remembered:
            self.connection.execute(insert(imported_messages), self._remembered)
            self._remembered.clear()

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
        self._bulk.recount_later(session_pk)
        known = (_known.session_pk == session_pk) & (_known.source_pk == self.source_pk)
        self.connection.execute(delete(imported_messages).where(known, _known.foreign_id == message.foreign_id))
        self._remember(session_pk, [(message, message_id)])

    def _put_anew(self, row: Any, values: Mapping[str, Any]) -> int:
        """Another text in the place of a message: a new message, since the index has the text of the old one's id."""
        message_id = self._bulk.take_id()
        raise_id_floor(self.connection)
        index.forget(self.connection, [row])
        self.connection.execute(delete(messages).where(_m.id == row.id))
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
        self._bulk.recount_later(session_pk)

    def order_as_there(self, session_pk: int) -> None:
        """Put a session's messages in the order they have there; those of this store alone follow."""
        self.write()
        known = (_known.session_pk == session_pk) & (_known.source_pk == self.source_pk)
        query = select(_known.message_id).where(known).order_by(_known.foreign_id)
        self.order(session_pk, list(self.connection.execute(query).scalars()))

    def order(self, session_pk: int, message_ids: Sequence[int]) -> None:
        """Put messages first, in this order, and those that are not named behind them."""
        self.write()
        query = select(_m.id).where(_m.session_pk == session_pk).order_by(_m.position)
        first = set(message_ids)
        ids = [*message_ids, *(i for i in self.connection.execute(query).scalars() if i not in first)]
        turn = update(messages).where(_m.id == bindparam("id_")).values(position=bindparam("at"))
        for sign in (-1, 1):  # by way of negative numbers: no two messages may have one position, not for a moment
            rows = [{"id_": message_id, "at": sign * (n + (sign < 0))} for n, message_id in enumerate(ids)]
            if rows:
                self.connection.execute(turn, rows)

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
        """Write what waits, and bring counters and tips up to date."""
        self.write()
        self._write_notes()
        self._bulk.finish()


def _chunks(ids: Sequence[_T]) -> Iterable[Sequence[_T]]:
    return (ids[start : start + _CHUNK] for start in range(0, len(ids), _CHUNK))
