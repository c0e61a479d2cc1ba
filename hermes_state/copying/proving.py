"""A step of `db check`: whether what digests kept is what the messages say."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from hermes_state.check import Kind
from hermes_state.copying.content import messages_behind
from hermes_state.copying.digest import NO_MESSAGES, Chain
from hermes_state.errors import StoreDamaged
from hermes_state.schema import session_digests, sessions

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from hermes_state.check import Collector

# Sessions that are compared in one snapshot.
_PIECE = 100
_d = session_digests.c
_KEPT = select(session_digests, sessions.c.id).join(sessions).order_by(_d.session_pk).limit(_PIECE)


def kept_chains(collector: Collector) -> None:
    """Every chain that is kept is that of the messages; a full check reads them all, another one none."""
    after = 0
    while collector.full:
        with collector.snapshot() as connection:
            rows = connection.execute(_KEPT.where(_d.session_pk > after)).fetchall()
            wrong = [row for row in rows if not _holds(connection, row)]
        for row in wrong:
            what = f"what a digest kept of the first {row.messages} messages is not what they say"
            collector.add(Kind.DIGEST, f"session {row.id}", what)
        collector.checked["kept_digests"] += len(rows)
        if not rows:
            return
        after = rows[-1].session_pk


def _holds(connection: Connection, row: Any) -> bool:
    its = messages_behind(connection, row.session_pk, NO_MESSAGES.position)
    try:
        chain = NO_MESSAGES.extended(islice(its, row.messages))
    except (StoreDamaged, ValueError, TypeError):  # a message can't be read; the step about contents tells which
        return False
    return chain == Chain(row.messages, row.position, row.chain)
