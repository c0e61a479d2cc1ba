"""What a person's reference to a session means: an id, the start of one, or a title."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from hermes_state import titles
from hermes_state.codec import is_plain
from hermes_state.errors import Ambiguous, SessionNotFound
from hermes_state.schema import sessions

if TYPE_CHECKING:
    from sqlalchemy import Connection


def resolve(connection: Connection, ref: str) -> int:
    """The key of the session that `ref` names; see `Sessions.resolve`."""
    c = sessions.c
    if not ref or not is_plain(ref):  # neither ids nor titles hold a NUL or a lone surrogate
        raise SessionNotFound(ref)
    exact = connection.execute(select(c.pk).where(c.id == ref)).scalar()
    if exact is not None:
        return int(exact)
    # A range over the id index: no wildcard of the text has a meaning, and no table is scanned.
    rows = connection.execute(
        select(c.pk, c.id).where(c.id >= ref, c.id < ref + "\U0010ffff").order_by(c.id)
    ).fetchall()
    if len(rows) == 1:
        return int(rows[0].pk)
    titled = titles.find_by_title(connection, ref)
    if titled is not None:
        return titled
    if rows:
        raise Ambiguous(ref, [row.id for row in rows])
    raise SessionNotFound(ref)


def tip_of(connection: Connection, session_pk: int) -> int:
    """The key of the session in which the conversation of this one goes on."""
    c = sessions.c
    conversation = select(c.conversation_pk).where(c.pk == session_pk).scalar_subquery()
    tip = connection.execute(select(c.pk).where(c.conversation_pk == conversation, c.is_tip)).scalar()
    return session_pk if tip is None else int(tip)
