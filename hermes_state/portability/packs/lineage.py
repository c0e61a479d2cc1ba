"""The sessions that belong to chosen ones: their conversations, what these started, and where they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from hermes_state.records import Relation
from hermes_state.schema import sessions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection, Select

_c = sessions.c
# Keys bound to one statement, well below SQLite's limit.
_CHUNK = 500


def with_lineage(connection: Connection, chosen: Iterable[int]) -> list[str]:
    """The ids of the chosen sessions and of all that belong to them.

    Args:
        chosen: keys of sessions.
    """
    found: set[int] = set()
    waiting = {*chosen}
    while waiting:
        found |= waiting
        waiting = _near(connection, waiting) - found
    ancestors = {*found}
    while ancestors:
        ancestors = _parents(connection, ancestors) - found
        found |= ancestors
    return sorted(_all(connection, select(_c.id), found))


def _near(connection: Connection, pks: set[int]) -> set[int]:
    """All segments of their conversations, and the sub-agents these started."""
    conversations = set(_all(connection, select(_c.conversation_pk), pks))
    found: set[int] = set()
    for some in _chunks(conversations):
        found |= set(connection.execute(select(_c.pk).where(_c.conversation_pk.in_(some))).scalars())
    for some in _chunks(found | pks):
        delegates = (_c.relation == str(Relation.DELEGATE)) & _c.parent_pk.in_(some)
        found |= set(connection.execute(select(_c.pk).where(delegates)).scalars())
    return found


def _parents(connection: Connection, pks: set[int]) -> set[int]:
    return {pk for pk in _all(connection, select(_c.parent_pk), pks) if pk is not None}


def _all(connection: Connection, query: Select[Any], pks: set[int]) -> Iterator[Any]:
    for some in _chunks(pks):
        yield from connection.execute(query.where(_c.pk.in_(some))).scalars()


def _chunks(items: set[int]) -> Iterator[list[int]]:
    ordered = sorted(items)
    return (ordered[start : start + _CHUNK] for start in range(0, len(ordered), _CHUNK))
