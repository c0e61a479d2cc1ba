"""What a gateway needs: which session a peer's messages go to, and handing a session over to another surface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select, update

from hermes_state.clock import from_us, now_us
from hermes_state.codec import clean, from_json, to_json
from hermes_state.errors import Conflict, InvalidValue
from hermes_state.schema import handoffs, routes, sessions
from hermes_state.session_rows import pk_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import Connection

    from hermes_state.engine import Engine

# How long a surface may take over a session before another may claim it, in seconds: a crashed one is passed over.
HANDOFF_CLAIM_S = 120.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """Where the messages of one peer go. `session_id` is the tip of the conversation, None when it was deleted."""

    key: str
    scope: str
    session_id: str | None
    entry: Mapping[str, Any]
    updated_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Handoff:
    """The hand-over of a session to another surface: `pending`, `running`, `completed` or `failed`."""

    session_id: str
    state: str
    platform: str
    error: str | None
    requested_at: datetime
    updated_at: datetime


class Routes:
    """The routing table of a store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def set(
        self, key: str, session_id: str | None = None, *, scope: str = "", entry: Mapping[str, Any] | None = None
    ) -> Route:
        """Send a peer's messages to a session.

        Args:
            key: the peer, e.g. `agent:main:telegram:dm:42`.
            entry: whatever else the gateway keeps with it; JSON.
        """
        if not key:
            raise InvalidValue("a route needs a key")
        with self._engine.write() as connection:
            values = {
                "session_pk": None if session_id is None else pk_of(connection, session_id),
                "entry": to_json(dict(entry or {}), "entry"),
                "updated_at": now_us(),
            }
            where = (routes.c.scope == scope) & (routes.c.key == key)
            if not connection.execute(update(routes).where(where).values(values)).rowcount:
                connection.execute(insert(routes).values(scope=scope, key=key, **values))
            found = _routes(connection, where)
        return found[0]

    def get(self, key: str, *, scope: str = "") -> Route | None:
        """Where a peer's messages go now: the tip of the routed session's conversation."""
        with self._engine.read() as connection:
            found = _routes(connection, (routes.c.scope == scope) & (routes.c.key == key))
        return found[0] if found else None

    def all(self, *, scope: str = "") -> list[Route]:
        """Every route of a scope, in order of key."""
        with self._engine.read() as connection:
            return _routes(connection, routes.c.scope == scope)

    def delete(self, *keys: str, scope: str = "") -> int:
        """Remove routes; returns how many there were."""
        with self._engine.write() as connection:
            gone = connection.execute(delete(routes).where(routes.c.scope == scope, routes.c.key.in_(keys)))
            return int(gone.rowcount)


def _routes(connection: Connection, where: Any) -> list[Route]:
    tip = sessions.alias("tip")
    query = (
        select(routes, sessions.c.id.label("own_id"), tip.c.id.label("tip_id"))
        .outerjoin(sessions, sessions.c.pk == routes.c.session_pk)
        .outerjoin(tip, (tip.c.conversation_pk == sessions.c.conversation_pk) & tip.c.is_tip)
        .where(where)
        .order_by(routes.c.key)
    )
    return [
        Route(
            key=row.key,
            scope=row.scope,
            session_id=row.tip_id or row.own_id,
            entry=from_json(row.entry),
            updated_at=from_us(row.updated_at),
        )
        for row in connection.execute(query)
    ]


class Handoffs:
    """The hand-overs of a store: asked for by one surface, claimed by another, exactly once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def request(self, session_id: str, platform: str) -> Handoff:
        """Ask for a session to be taken over by `platform`.

        Raises:
            Conflict: one is pending or running already.
        """
        with self._engine.write() as connection:
            pk = pk_of(connection, session_id)
            row = connection.execute(select(handoffs).where(handoffs.c.session_pk == pk)).fetchone()
            if row is not None and (row.state == "pending" or (row.state == "running" and not _stale(row))):
                raise Conflict(f"session {session_id} is being handed over to {row.platform} already ({row.state})")
            connection.execute(delete(handoffs).where(handoffs.c.session_pk == pk))
            now = now_us()
            values = {"state": "pending", "platform": clean(platform), "requested_at": now, "updated_at": now}
            connection.execute(insert(handoffs).values(session_pk=pk, **values))
            return _handoffs(connection, handoffs.c.session_pk == pk)[0]

    def get(self, session_id: str) -> Handoff | None:
        """The newest hand-over of a session."""
        with self._engine.read() as connection:
            found = _handoffs(connection, handoffs.c.session_pk == pk_of(connection, session_id))
        return found[0] if found else None

    def pending(self, platform: str | None = None) -> list[Handoff]:
        """Hand-overs nobody works on, the oldest first; one whose claimer went silent is among them."""
        stale = now_us() - round(HANDOFF_CLAIM_S * 1e6)
        open_ = (handoffs.c.state == "pending") | ((handoffs.c.state == "running") & (handoffs.c.updated_at < stale))
        with self._engine.read() as connection:
            found = _handoffs(connection, open_)
        return [handoff for handoff in found if platform is None or handoff.platform == platform]

    def claim(self, session_id: str) -> bool:
        """Start to take a session over. False when another surface was faster or there is nothing to claim."""
        with self._engine.write() as connection:
            pk = pk_of(connection, session_id)
            row = connection.execute(select(handoffs).where(handoffs.c.session_pk == pk)).fetchone()
            if row is None or not (row.state == "pending" or (row.state == "running" and _stale(row))):
                return False
            _set(connection, pk, state="running")
            return True

    def complete(self, session_id: str) -> None:
        """The session runs on the other surface now."""
        with self._engine.write() as connection:
            _set(connection, pk_of(connection, session_id), state="completed", error=None)

    def fail(self, session_id: str, error: str) -> None:
        """It did not work; it may be asked for again."""
        with self._engine.write() as connection:
            _set(connection, pk_of(connection, session_id), state="failed", error=clean(error))


def _set(connection: Connection, session_pk: int, **values: Any) -> None:
    where = handoffs.c.session_pk == session_pk
    connection.execute(update(handoffs).where(where).values(updated_at=now_us(), **values))


def _stale(row: Any) -> bool:
    return bool(row.updated_at < now_us() - round(HANDOFF_CLAIM_S * 1e6))


def _handoffs(connection: Connection, where: Any) -> list[Handoff]:
    query = select(handoffs, sessions.c.id).join(sessions, sessions.c.pk == handoffs.c.session_pk).where(where)
    return [
        Handoff(
            session_id=row.id,
            state=row.state,
            platform=row.platform,
            error=row.error,
            requested_at=from_us(row.requested_at),
            updated_at=from_us(row.updated_at),
        )
        for row in connection.execute(query.order_by(handoffs.c.requested_at, sessions.c.id))
    ]
