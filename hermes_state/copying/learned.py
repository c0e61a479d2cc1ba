"""What digests learned of a store's sessions, so that the next one reads only the messages that were added since.

A row of `session_digests` says: *the first so many messages of this session, the last of which is at that position,
have this chain*. It goes in the transaction that changes, moves or deletes a message of the session, through triggers
of the database, which hold for every program that writes to it. An append leaves it as it is, and it stays true. So a
row that is there is right. While the session has as many messages, it speaks of all of them; when there are more, and
they are not all behind that position, the session is read anew.

A row must not be written from what was read before such a change. So each session without a row gets one before the
snapshot that is read, which says that its first 0 messages have the empty chain. What was read then takes the place of
the row that the snapshot has, by its stamp, which is never used again: where the row went meanwhile, or another digest
was faster, nothing is written. So a row holds for as long as it is there, and what follows from it does too.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, exists, insert, literal, select, update

from hermes_state.copying.digest import NO_MESSAGES, Chain
from hermes_state.copying.keys import chunks
from hermes_state.engine.catalog import trigger_names
from hermes_state.errors import DiskFull, ReadOnlyStore, StoreBusy, StoreUnavailable
from hermes_state.schema import TRIGGERS, messages, session_digests, sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection, Insert, Update

    from hermes_state.store import SessionDB

_d = session_digests.c
# Sessions whose chains are written in one transaction: a few milliseconds.
_TOGETHER = 500
# Seconds that a transaction may wait for others, who have better things to do. Without it the digest is as right.
_BUDGET_S = 2.0
# Random numbers that a signed 64-bit integer holds.
_STAMP_BITS = 63
_WITHOUT_ROW = select(sessions.c.pk).where(~exists().where(_d.session_pk == sessions.c.pk)).order_by(sessions.c.pk)
_MOVE = (
    update(session_digests)
    .where(_d.session_pk == bindparam("of_pk"), _d.stamp == bindparam("seen"))
    .values({name: bindparam(f"new_{name}") for name in ("stamp", *Chain._fields[:2], "chain")})
)


class Keeper:
    """Keeps what a digest learns, in short transactions; when one is not possible, it leaves it.

    Attributes:
        problem: why something was not kept; "" when all was.
    """

    def __init__(self, opened: Callable[[], SessionDB]) -> None:
        self._opened = opened
        self._db: SessionDB | None = None
        self.problem = ""

    def close(self) -> None:
        """Close the store, if it was needed."""
        if self._db is not None:
            self._db.close()

    def make_rows(self, pks: Sequence[int]) -> None:
        """Give sessions a row that knows of no message. Before the snapshot that is read."""
        chain = NO_MESSAGES
        for some in chunks(pks):
            values = (sessions.c.pk, *map(literal, (_stamp(), chain.messages, chain.position, chain.digest)))
            query = select(*values).where(sessions.c.pk.in_(some), ~exists().where(_d.session_pk == sessions.c.pk))
            self._write(insert(session_digests).from_select(list(_d.keys()), query))

    def move(self, changes: Sequence[tuple[int, int, Chain]]) -> None:
        """Put chains in the place of the rows that were seen.

        Args:
            changes: the session's key, the stamp of the row in the snapshot that was read, what is known now.
        """
        rows = [
            {"of_pk": pk, "seen": seen, "new_stamp": _stamp(), "new_messages": chain.messages}
            | {"new_position": chain.position, "new_chain": chain.digest}
            for pk, seen, chain in changes
        ]
        self._write(_MOVE, rows)

    def _write(self, statement: Insert | Update, rows: Sequence[dict[str, Any]] | None = None) -> None:
        if self.problem:
            return
        try:
            if self._db is None:
                self._db = self._opened()
            with self._db.engine.write(budget_s=_BUDGET_S) as connection:
                connection.execute(statement, rows)
        except (StoreBusy, ReadOnlyStore, DiskFull, StoreUnavailable) as error:
            self.problem = error.message


class Learned:
    """What is known of the sessions of a store, in one snapshot.

    Args:
        connection: the snapshot.
        keeper: keeps what is learned; None: nothing is kept.
        anew: read everything, whatever is known.
    """

    def __init__(self, connection: Connection, keeper: Keeper | None = None, *, anew: bool = False) -> None:
        self._connection, self._keeper, self._anew = connection, keeper, anew
        self._lacking = sorted(TRIGGERS.keys() - trigger_names(connection, messages.name))
        self._stamps: dict[int, int] = {}
        self._new: list[tuple[int, int, Chain]] = []

    @property
    def not_kept(self) -> str:
        """Why what was learned is not kept; "" when it is, or was not to be."""
        if self._keeper is None:
            return ""
        if self._lacking:
            return f"the table messages lacks the trigger {self._lacking[0]}"
        return self._keeper.problem

    def of(self, pks: Sequence[int]) -> dict[int, Chain]:
        """What is known of these sessions, which follow one another."""
        if self._lacking:
            return {}
        query = select(session_digests).where(_d.session_pk.between(pks[0], pks[-1]))
        rows = self._connection.execute(query).fetchall()
        if self._keeper is not None:
            self._stamps = {row.session_pk: row.stamp for row in rows}
        if self._anew:
            return {}
        return {row.session_pk: Chain(row.messages, row.position, row.chain) for row in rows}

    def note(self, pk: int, chain: Chain) -> None:
        """Something was learned of a session that was asked for last."""
        if pk in self._stamps:
            self._new.append((pk, self._stamps[pk], chain))
            if len(self._new) >= _TOGETHER:
                self.keep()

    def keep(self) -> None:
        """Write down what was learned."""
        if self._keeper is not None and self._new:
            self._keeper.move(self._new)
        self._new = []


def sessions_without_row(connection: Connection) -> list[int]:
    """The keys of sessions that have no row yet, as those that are new or had a message changed."""
    return list(connection.execute(_WITHOUT_ROW).scalars())


def _stamp() -> int:
    return secrets.randbits(_STAMP_BITS)
