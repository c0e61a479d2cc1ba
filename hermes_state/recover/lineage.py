"""Conversations and tips of a salvaged store, derived anew from who came from whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select, update

from hermes_state.conversation import retip
from hermes_state.records import Relation
from hermes_state.schema import sessions

if TYPE_CHECKING:
    from sqlalchemy import Connection

_s = sessions.c


def derive(connection: Connection) -> None:
    """Cut cycles, put every segment in its conversation, mark sub-agents' sessions, seal and tip."""
    rows = connection.execute(select(_s.pk, _s.parent_pk, _s.relation).order_by(_s.pk)).fetchall()
    came_from: dict[int, tuple[int, str]] = {}
    for pk, parent, relation in rows:
        if parent is not None and not _closes_a_cycle(pk, parent, came_from):
            came_from[pk] = parent, relation
    placed = [_place(pk, came_from) for pk, _, _ in rows]
    continued = [{"key": parent} for parent, relation in came_from.values() if relation == Relation.COMPRESSION]
    if placed:
        names = ("parent_pk", "relation", "conversation_pk", "delegated", "is_tip")
        place = (
            update(sessions).where(_s.pk == bindparam("key")).values({name: bindparam(f"new_{name}") for name in names})
        )
        connection.execute(place, placed)
    if continued:
        connection.execute(update(sessions).where(_s.pk == bindparam("key")).values(sealed=True), continued)
    for conversation in {row["new_conversation_pk"] for row in placed if not row["new_is_tip"]}:
        retip(connection, conversation)


def _closes_a_cycle(pk: int, parent: int, came_from: dict[int, tuple[int, str]]) -> bool:
    above: int | None = parent
    while above is not None and above != pk:
        above = came_from[above][0] if above in came_from else None
    return above == pk


def _place(pk: int, came_from: dict[int, tuple[int, str]]) -> dict[str, Any]:
    """A session's parent, and which conversation it is in: that of the first segment it continues."""
    first = pk
    while first in came_from and came_from[first][1] == Relation.COMPRESSION:
        first = came_from[first][0]
    parent, relation = came_from.get(pk, (None, None))
    return {
        "key": pk,
        "new_parent_pk": parent,
        "new_relation": relation,
        "new_conversation_pk": first,
        "new_delegated": came_from.get(first, (None, None))[1] == Relation.DELEGATE,
        "new_is_tip": first == pk,
    }
