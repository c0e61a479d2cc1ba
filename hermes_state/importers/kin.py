"""What decides how sessions came from each other, of foreign sessions and of those that are here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from hermes_state.codec import from_json
from hermes_state.importers.hermes_lineage import Kin, relation
from hermes_state.importers.hermes_sessions import markers_in
from hermes_state.schema import sessions

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from hermes_state.importers.hermes_sessions import ForeignSession
    from hermes_state.records import Relation


def kin_of(session: ForeignSession) -> Kin:
    """Of a foreign session."""
    values = session.values
    return Kin(
        id=session.foreign_id,
        source=values["source"],
        started_at=values["started_at"],
        ended_at=values["ended_at"],
        end_reason=values["end_reason"],
        markers=session.markers,
    )


def _kin_here(connection: Connection, session_pk: int) -> Kin:
    row = connection.execute(select(sessions).where(sessions.c.pk == session_pk)).one()
    return Kin(
        id=row.id,
        source=row.source,
        started_at=row.started_at,
        ended_at=row.ended_at,
        end_reason=row.end_reason,
        markers=markers_in(from_json(row.model_config) or {}),
    )


def relate(connection: Connection, child_pk: int, parent_pk: int) -> Relation:
    """How a session that is here came from another one that is here, when both came from Hermes."""
    return relation(_kin_here(connection, child_pk), _kin_here(connection, parent_pk))
