"""A session that was brought in before and changed there since: which of the changes are taken over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select

from hermes_state import titles
from hermes_state.codec import from_json, to_json
from hermes_state.creation import intern_prompt
from hermes_state.importers.digests import digest
from hermes_state.records import Relation
from hermes_state.schema import handoffs, sessions
from hermes_state.session_rows import ORIGIN_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hermes_state.importers.hermes_sessions import ForeignSession
    from hermes_state.importers.report import Tally
    from hermes_state.importers.sink import Sink

_c = sessions.c
# The part of a fingerprint that tells the title a session was given here; it differs from the foreign one when that
# was taken, and from the session's present one when somebody renamed it here.
KEPT_TITLE = "kept_title"


def kept_title(title: str | None) -> str:
    """What `KEPT_TITLE` is for a title."""
    return digest(title)


def follow(
    sink: Sink, session_pk: int, session: ForeignSession, old: Mapping[str, str], new: dict[str, str], tally: Tally
) -> bool:
    """Take over what changed there since the last import; what did not change there stays as it is here.

    Args:
        old, new: the digests of the session's parts then and now; `KEPT_TITLE` is carried over into `new`.

    Returns:
        Whether anything was to be taken over.
    """
    new[KEPT_TITLE] = old.get(KEPT_TITLE, "")
    changed = [part for part in _FOLLOW if old.get(part) != new.get(part)]
    for part in changed:
        _FOLLOW[part](sink, session_pk, session)
    if old.get("title") != new.get("title"):
        _title(sink, session_pk, session, new, tally)
        changed.append("title")
    return bool(changed)


def _title(sink: Sink, session_pk: int, session: ForeignSession, new: dict[str, str], tally: Tally) -> None:
    own = sink.connection.execute(select(_c.title).where(_c.pk == session_pk)).scalar()
    if own is not None and kept_title(own) != new[KEPT_TITLE]:
        tally.warn("title_kept", session.foreign_id, f"it was renamed there and here; it stays {own!r}")
        return
    if session.title == own:
        return
    sink.update_session(session_pk, title=None)
    given = session.title and titles.next_title(sink.connection, session.title)
    sink.update_session(session_pk, title=given)
    new[KEPT_TITLE] = kept_title(given)
    if given != session.title:
        tally.warn("title_taken", session.foreign_id, f"the title {session.title!r} is taken; it is {given!r} here")


def _archived(sink: Sink, session_pk: int, session: ForeignSession) -> None:
    sink.update_session(session_pk, archived=session.values["archived"])


def _end(sink: Sink, session_pk: int, session: ForeignSession) -> None:
    children = select(func.count()).where(_c.parent_pk == session_pk, _c.relation == Relation.COMPRESSION)
    continued = bool(sink.connection.execute(children).scalar())
    values = {name: session.values[name] for name in ("ended_at", "end_reason", "sealed")}
    sink.update_session(session_pk, **(values | {"sealed": values["sealed"] or continued}))
    sink.retip_later(sink.connection.execute(select(_c.conversation_pk).where(_c.pk == session_pk)).scalar_one())


def _prompt(sink: Sink, session_pk: int, session: ForeignSession) -> None:
    if session.system_prompt is not None:
        sink.update_session(session_pk, system_prompt_pk=intern_prompt(sink.connection, session.system_prompt))


def _handoff(sink: Sink, session_pk: int, session: ForeignSession) -> None:
    store_handoff(sink, session_pk, session)


def store_handoff(sink: Sink, session_pk: int, session: ForeignSession) -> bool:
    """Write the hand-over of a session, where it has one."""
    sink.connection.execute(delete(handoffs).where(handoffs.c.session_pk == session_pk))
    if session.handoff is None:
        return False
    at = session.values["ended_at"] or session.values["started_at"]
    row = {"session_pk": session_pk, "requested_at": at, "updated_at": at, **session.handoff}
    sink.connection.execute(insert(handoffs).values(row))
    return True


def _rest(sink: Sink, session_pk: int, session: ForeignSession) -> None:
    """Where it came from, its model, and all that has no column here; what only this side knows stays."""
    columns = (_c.rewind_count, _c.extras, _c.source)
    own = sink.connection.execute(select(*columns).where(_c.pk == session_pk)).one()
    values: dict[str, Any] = {
        name: session.values[name]
        for name in (*ORIGIN_FIELDS, "model_config", "origin", "source")
        if session.values[name] is not None
    }
    extras = (from_json(own.extras) or {}) | (from_json(session.values["extras"]) or {})
    values["extras"] = to_json(extras, "extras") if extras else None
    values["rewind_count"] = max(own.rewind_count, session.values["rewind_count"])
    sink.update_session(session_pk, **values)


_FOLLOW: dict[str, Callable[[Sink, int, ForeignSession], None]] = {
    "archived": _archived,
    "end": _end,
    "prompt": _prompt,
    "handoff": _handoff,
    "rest": _rest,
}
