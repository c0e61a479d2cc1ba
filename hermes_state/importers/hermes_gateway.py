"""What a Hermes gateway keeps beside its sessions: the routing table, and named values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from hermes_state.codec import to_json
from hermes_state.importers import moments
from hermes_state.importers.values import json_object, kept, text
from hermes_state.schema import meta, routes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sqlalchemy import Connection

    from hermes_state.importers.hermes_reader import Row
    from hermes_state.importers.report import Tally

# Named values of the foreign store get this before their name, so that they never meet ours.
SETTINGS_PREFIX = "hermes:"


def store_routes(connection: Connection, rows: Iterable[Row], pk_of: Callable[[str], int | None], tally: Tally) -> int:
    """Write the routes that are not here, or are older here; returns how many."""
    written = 0
    for row in rows:
        key, scope = text(row.get("session_key")), text(row.get("scope")) or ""
        if key is None:
            tally.warn("bad_route", repr(row), "a route without a key was left out")
            continue
        values = _values(row, key, pk_of, tally)
        where = (routes.c.scope == scope) & (routes.c.key == key)
        own = connection.execute(select(routes.c.updated_at).where(where)).scalar()
        if own is None:
            connection.execute(insert(routes).values(scope=scope, key=key, **values))
        elif own < values["updated_at"]:
            connection.execute(update(routes).where(where).values(values))
        else:
            continue
        written += 1
    return written


def _values(row: Row, key: str, pk_of: Callable[[str], int | None], tally: Tally) -> dict[str, Any]:
    entry = json_object(row.get("entry_json"))
    if entry is None:
        entry = {"entry_json": kept(row.get("entry_json"))}
        tally.warn("bad_route", key, "its entry is not a JSON object; kept as it stands")
    session_id = entry.get("session_id")
    pk = pk_of(session_id) if isinstance(session_id, str) else None
    if pk is None and session_id:
        tally.warn("route_without_session", key, f"it leads to session {session_id}, which is not here")
    updated = moments.instant(row.get("updated_at")) or moments.guess(row.get("updated_at")) or 0
    return {"session_pk": pk, "entry": to_json(entry, "entry"), "updated_at": updated}


def store_settings(connection: Connection, pairs: Mapping[str, str], profile: str | None) -> int:
    """Write the named values that differ, under `hermes:<name>` or `hermes:<profile>/<name>`; returns how many."""
    prefix = f"{SETTINGS_PREFIX}{profile}/" if profile else SETTINGS_PREFIX
    own = {row.key: row.value for row in connection.execute(select(meta).where(meta.c.key.startswith(prefix)))}
    changed = {prefix + name: value for name, value in pairs.items() if own.get(prefix + name) != value}
    for key, value in changed.items():
        if key in own:
            connection.execute(update(meta).where(meta.c.key == key).values(value=value))
        else:
            connection.execute(insert(meta).values(key=key, value=value))
    return len(changed)
