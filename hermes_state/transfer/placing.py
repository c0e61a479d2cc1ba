"""Placing a session that comes from elsewhere in its conversation, with its parent or before its parent is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, insert, select, update

from hermes_state.codec import from_json, to_json
from hermes_state.conversation import move_conversation, retip
from hermes_state.records import Relation
from hermes_state.schema import sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sqlalchemy import Connection

_c = sessions.c
_FREE = select(func.coalesce(func.max(_c.pk), 0) + 1).scalar_subquery()
# The name in a session's `extras` of a parent that was not there when the session came: its id, and how it came from
# it where that is known. When the parent comes, the two are linked and the note goes.
UNRESOLVED = "unresolved_parent"


class Waiting(NamedTuple):
    """A session whose parent was not there."""

    pk: int
    id: str
    parent_id: str
    relation: Relation | None
    extras: dict[str, Any]


def unresolved(parent_id: str, relation: Relation | None) -> dict[str, Any]:
    """What to put into a session's extras under `UNRESOLVED`."""
    return {"id": parent_id, "relation": relation and str(relation)}


def place(
    connection: Connection, values: Mapping[str, Any], *, parent_pk: int | None, relation: Relation | None
) -> int:
    """Add a session, linked to its parent; returns its key. Find the tip of its conversation when its messages are in.

    Args:
        values: every column that does not follow from the parent.
        relation: may be given without a parent, for a delegate whose parent is gone: it stays hidden.
    """
    parent = None
    if parent_pk is not None:
        parent = connection.execute(select(_c.conversation_pk, _c.delegated).where(_c.pk == parent_pk)).one()
    continues = parent is not None and relation == Relation.COMPRESSION
    row = {
        "parent_pk": parent_pk,
        "relation": relation and str(relation),
        "pk": _FREE,
        "conversation_pk": parent.conversation_pk if parent and continues else _FREE,
        "is_tip": not continues,
        "delegated": relation == Relation.DELEGATE or bool(parent and continues and parent.delegated),
        "last_active_at": values["started_at"],
        "message_count": 0,
        "tool_call_count": 0,
    }
    pk = connection.execute(insert(sessions).values({**values, **row}).returning(_c.pk)).scalar_one()
    if continues:
        connection.execute(update(sessions).where(_c.pk == parent_pk).values(sealed=True))
    return int(pk)


def link(connection: Connection, session_pk: int, parent_pk: int, relation: Relation) -> bool:
    """Set where a session that is here already came from. False when it is set so already, or would make a circle."""
    wanted = select(_c.conversation_pk, _c.delegated, _c.parent_pk, _c.relation)
    own = connection.execute(wanted.where(_c.pk == session_pk)).one()
    if (own.parent_pk, own.relation) == (parent_pk, relation) or _is_below(connection, parent_pk, session_pk):
        return False
    parent = connection.execute(wanted.where(_c.pk == parent_pk)).one()
    continues = relation == Relation.COMPRESSION
    delegated = relation == Relation.DELEGATE or (continues and parent.delegated)
    came = {"parent_pk": parent_pk, "relation": str(relation)}
    connection.execute(update(sessions).where(_c.pk == session_pk).values(came))
    if continues:
        connection.execute(update(sessions).where(_c.pk == parent_pk).values(sealed=True))
    target = int(parent.conversation_pk) if continues else session_pk
    move_conversation(connection, session_pk, to=target)
    if own.conversation_pk != target:
        retip(connection, int(own.conversation_pk))
    if delegated:
        connection.execute(update(sessions).where(_c.conversation_pk == target).values(delegated=True))
    return True


def _is_below(connection: Connection, session_pk: int, ancestor_pk: int) -> bool:
    pk: int | None = session_pk
    seen: set[int] = set()
    while pk is not None and pk not in seen:
        if pk == ancestor_pk:
            return True
        seen.add(pk)
        pk = connection.execute(select(_c.parent_pk).where(_c.pk == pk)).scalar()
    return False


def waiting(connection: Connection) -> list[Waiting]:
    """Every session whose parent was not there when it came."""
    rows = connection.execute(select(_c.pk, _c.id, _c.extras).where(_c.extras.contains(f'"{UNRESOLVED}"')))
    return [found for row in rows for found in _noted(row)]


def _noted(row: Any) -> Iterator[Waiting]:
    extras = from_json(row.extras)
    note = extras.get(UNRESOLVED)
    if isinstance(note, dict) and isinstance(note.get("id"), str):
        relation = note.get("relation")
        yield Waiting(row.pk, row.id, note["id"], Relation(relation) if relation in set(Relation) else None, extras)


def link_waiting(
    connection: Connection, relate: Callable[[Connection, int, int], Relation] = lambda *_: Relation.RESET
) -> dict[str, str]:
    """Link the sessions whose parent has come; returns those that still wait: their id and the parent's.

    Args:
        relate: tells how a child (by key) came from a parent (by key), where the note does not.
    """
    left: dict[str, str] = {}
    for found in waiting(connection):
        parent_pk = connection.execute(select(_c.pk).where(_c.id == found.parent_id)).scalar()
        if parent_pk is None:
            left[found.id] = found.parent_id
            continue
        link(connection, found.pk, int(parent_pk), found.relation or relate(connection, found.pk, int(parent_pk)))
        rest = {name: value for name, value in found.extras.items() if name != UNRESOLVED}
        values = {"extras": to_json(rest, "extras") if rest else None}
        connection.execute(update(sessions).where(_c.pk == found.pk).values(values))
    return left
