"""Which sessions an export is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import select

from hermes_state.activity import counted_columns
from hermes_state.errors import SessionNotFound
from hermes_state.listing import SessionFilter, conditions
from hermes_state.schema import sessions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import ColumnElement, Connection

_T = TypeVar("_T")
_c = sessions.c
# Keys bound to one statement, well below SQLite's limit.
_CHUNK = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """What to export; with neither field set, everything: archived sessions and delegates too.

    Attributes:
        ids: these sessions, by exact id.
        wanted: or those that pass a filter.
        whole_conversations: of each, every segment from the first to the tip, not only the one named.
    """

    ids: Sequence[str] | None = None
    wanted: SessionFilter | None = None
    whole_conversations: bool = True

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out."""
        return self.ids is None and self.wanted is None


EVERYTHING = Selection()


def selected(connection: Connection, selection: Selection) -> list[int]:
    """The keys of the sessions, in order of start and then of id, which is the same in every store.

    Raises:
        SessionNotFound: one of the ids is not here.
    """
    if selection.is_everything:
        return [pk for pk, _, _ in _ordered(connection)]
    found = _named(connection, selection.ids) if selection.ids is not None else _passing(connection, selection.wanted)
    if selection.whole_conversations:
        found = _of_their_conversations(connection, found)
    rows = {row for some in _chunks(found) for row in _ordered(connection, _c.pk.in_(some))}
    return [pk for pk, _, _ in sorted(rows, key=lambda row: row[1:])]


def _ordered(connection: Connection, *where: ColumnElement[bool]) -> list[tuple[int, int, str]]:
    query = select(_c.pk, _c.started_at, _c.id).where(*where).order_by(_c.started_at, _c.id)
    return [(row.pk, row.started_at, row.id) for row in connection.execute(query)]


def _named(connection: Connection, ids: Sequence[str]) -> list[int]:
    found = {
        row.id: row.pk
        for some in _chunks(list(ids))
        for row in connection.execute(select(_c.id, _c.pk).where(_c.id.in_(some)))
    }
    missing = [session_id for session_id in ids if session_id not in found]
    if missing:
        raise SessionNotFound(missing[0])
    return list(found.values())


def _passing(connection: Connection, wanted: SessionFilter | None) -> list[int]:
    counted = counted_columns(connection)
    query = select(_c.pk)
    if counted.tail is not None:
        query = query.outerjoin(counted.tail, counted.tail.c.session_pk == _c.pk)
    return list(connection.execute(query.where(*conditions(wanted or SessionFilter(), counted))).scalars())


def _of_their_conversations(connection: Connection, pks: Sequence[int]) -> list[int]:
    found: set[int] = set()
    for some in _chunks(pks):
        conversations = select(_c.conversation_pk).where(_c.pk.in_(some))
        found.update(connection.execute(select(_c.pk).where(_c.conversation_pk.in_(conversations))).scalars())
    return list(found)


def _chunks(items: Sequence[_T]) -> Iterable[Sequence[_T]]:
    return (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))
