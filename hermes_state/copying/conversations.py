"""Sessions and messages into an empty store, or one that an earlier run began to fill.

Messages go in order of their ids, as they were said, and get ids of the target. Sessions come first and bare; what
they say of each other and of their messages is set when all messages are there. A run that was killed leaves a mark;
the next one goes on behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, func, insert, select, update

from hermes_state.activity import Tail, tails
from hermes_state.codec import PACKED_COLUMNS
from hermes_state.copying.keys import PROMPTS, SESSIONS, find
from hermes_state.copying.mark import Mark
from hermes_state.copying.streaming import batches
from hermes_state.copying.tables import SESSION_REFERENCES
from hermes_state.engine.bulk import COLUMNS, insert_messages
from hermes_state.engine.ids import MessageIds
from hermes_state.errors import Conflict
from hermes_state.packing import pack, unpack
from hermes_state.schema import messages, sessions, store_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from hermes_state.copying.keys import Keys
    from hermes_state.engine import Engine
    from hermes_state.transfer.progress import Progress

Row = dict[str, Any]
_c, _m = sessions.c, messages.c
# Rows of a transaction: some 50 ms, so that others who write to the target's database wait no longer.
_BATCH = 1000
# Places in a row of `messages`.
_ID, _SESSION_PK = COLUMNS.index("id"), COLUMNS.index("session_pk")
_LONG = tuple(map(COLUMNS.index, PACKED_COLUMNS))
# What a session has until all messages are there.
_BARE: Row = {
    "title": None,
    "parent_pk": None,
    "conversation_pk": 0,
    "is_tip": False,
    "message_count": 0,
    "tool_call_count": 0,
}
_SET = (
    update(sessions)
    .where(_c.pk == bindparam("of_pk"))
    .values({c.name: bindparam(f"new_{c.name}") for c in _c if c.name not in ("pk", "id")})
)


class Conversations:
    """The sessions and messages of a snapshot on their way.

    Args:
        mark: where an earlier run stopped, or a new one.
    """

    def __init__(self, source: Connection, target: Engine, keys: Keys, mark: Mark) -> None:
        self._source, self._target, self._keys, self._mark = source, target, keys, mark
        self.sessions_added = self.messages_added = 0

    def add_sessions(self) -> None:
        """Every session that is not there, without what it says of others."""
        with batches(self._source, select(sessions).order_by(_c.pk), _BATCH) as found:
            for rows in found:
                self._keys.begin()
                with self._target.write() as connection:
                    here = find(connection, SESSIONS, [(row["id"],) for row in rows])
                    new = [self._bare(connection, row) for row in rows if (row["id"],) not in here]
                    if new:
                        connection.execute(insert(sessions), new)
                        self.sessions_added += len(new)

    def _bare(self, target: Connection, row: Any) -> Row:
        self._keys.learn(target, PROMPTS, [row["system_prompt_pk"]])
        prompt = self._keys.of(PROMPTS, row["system_prompt_pk"])
        bare = {**row, **_BARE, "system_prompt_pk": prompt}
        del bare["pk"]
        return bare

    def add_messages(self, progress: Progress) -> None:
        """Every message behind the mark, which moves with them."""
        count = select(func.count()).select_from(messages)
        total = self._source.execute(count).scalar_one()
        before = self._source.execute(count.where(_m.id <= self._mark.through)).scalar_one()
        query = select(messages).where(_m.id > self._mark.through).order_by(_m.id)
        with batches(self._source, query, _BATCH, plain=True) as found:
            for rows in found:
                with self._target.write() as connection:
                    self._add(connection, rows)
                self.messages_added += len(rows)
                progress(before + self.messages_added, total)

    def _refuse_others(self, target: Connection) -> None:
        """Nobody else may write to a store that is being filled: what it says of itself would not hold."""
        newest = target.execute(select(func.coalesce(func.max(_m.id), 0))).scalar_one()
        if Mark.read(target) != self._mark or newest > self._mark.newest:
            raise Conflict(
                f"somebody else writes to {self._target.shown} while it is being filled",
                hint="wait until the copy is done; or copy into a store that nobody uses yet",
            )

    def _add(self, target: Connection, rows: Sequence[Any]) -> None:
        self._refuse_others(target)
        self._keys.begin()
        self._keys.learn(target, SESSIONS, [row[_SESSION_PK] for row in rows])
        ids = MessageIds(target, len(rows))
        other, stored = (str, pack) if self._target.packs_texts else (bytes, unpack)
        new = []
        for row in rows:
            message = list(row)
            message[_ID], message[_SESSION_PK] = ids.take(), self._keys.of(SESSIONS, row[_SESSION_PK])
            for place in _LONG:
                if isinstance(message[place], other):
                    message[place] = stored(message[place])
            new.append(message)
        insert_messages(target, new)
        newest = new[-1][_ID]
        target.execute(update(store_state).values(counted_through=newest))
        self._mark = Mark(source=self._mark.source, through=rows[-1][_ID], newest=newest)
        self._mark.write(target)

    def link(self) -> None:
        """Give every session its title, parent, conversation and counters, in one transaction.

        Raises:
            Conflict: the target has sessions that the source has not.
        """
        tail = tails(self._source)
        count = select(func.count()).select_from(sessions)
        with self._target.write() as connection:
            self._refuse_others(connection)
            if connection.execute(count).scalar_one() > self._source.execute(count).scalar_one():
                raise Conflict(
                    f"{self._target.shown} has sessions that the source does not have, or not any more",
                    hint="copy into another store",
                )
            connection.execute(update(sessions).values(title=None, is_tip=False))
            with batches(self._source, select(sessions).order_by(_c.pk), _BATCH) as found:
                for rows in found:
                    self._keys.begin()
                    self._keys.learn(connection, SESSIONS, _keys_in(rows, "pk", "parent_pk", "conversation_pk"))
                    self._keys.learn(connection, PROMPTS, _keys_in(rows, "system_prompt_pk"))
                    connection.execute(_SET, [self._linked(row, tail.get(row["pk"], Tail())) for row in rows])

    def _linked(self, row: Any, tail: Tail) -> Row:
        values = {f"new_{name}": value for name, value in row.items() if name not in ("pk", "id")}
        values |= {f"new_{name}": self._keys.of(named, row[name]) for name, named in SESSION_REFERENCES.items()}
        values["new_message_count"] += tail.messages
        values["new_tool_call_count"] += tail.tool_calls
        values["new_last_active_at"] = max(row["last_active_at"], tail.last_at)
        return values | {"of_pk": self._keys.of(SESSIONS, row["pk"])}


def _keys_in(rows: Sequence[Any], *names: str) -> list[int | None]:
    return [row[name] for row in rows for name in names]
