"""Records as JSON: the shapes that `docs/cli.md` promises. Times are ISO 8601 in UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum, IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_state.records import Deletion, Message, Session, Usage
    from hermes_state.search import ConversationHit, Explanation, MessageHit

# Fields of a session that every list has first, in this order; the others follow.
SESSION_FIRST = (
    "id",
    "title",
    "source",
    "model",
    "started_at",
    "last_active_at",
    "message_count",
    "parent_id",
    "relation",
    "archived",
    "preview",
)
# Fields of a message that are always there; the others only where they say something.
MESSAGE_ALWAYS = ("id", "session_id", "position", "role", "content", "created_at", "state")


def time(instant: datetime) -> str:
    """`2026-07-20T10:11:12.345678Z`; always with microseconds, so that times sort as text."""
    return f"{instant.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def plain(value: Any) -> Any:
    """A value of a record as JSON has it."""
    if isinstance(value, datetime):
        return time(value)
    if isinstance(value, IntEnum):
        return value.name.lower()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value


def session(found: Session, preview: str | None = None) -> dict[str, Any]:
    """A session, with the start of its first user message."""
    values = {f.name: plain(getattr(found, f.name)) for f in fields(found)} | {"preview": preview}
    return {name: values.pop(name) for name in SESSION_FIRST} | values


def message(found: Message) -> dict[str, Any]:
    """A message; fields that it does not have are left out."""
    values = {f.name: plain(getattr(found, f.name)) for f in fields(found)}
    return {name: value for name, value in values.items() if name in MESSAGE_ALWAYS or value not in (None, False, {})}


# What every hit of a search has first, in this order.
HIT_FIRST = (
    "message_id",
    "session_id",
    "conversation_id",
    "role",
    "snippet",
    "score",
    "created_at",
    "source",
    "title",
    "context",
)


def record(value: Any) -> Any:
    """A record of plain values, and those inside it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: record(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: record(item) for name, item in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [record(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): record(item) for name, item in value.items()}
    if isinstance(value, Path):
        return str(value)
    return plain(value)


def message_hit(hit: MessageHit) -> dict[str, Any]:
    """A message that was found; `why` only where it was asked for."""
    values: dict[str, Any] = record(hit)
    if values["why"] is None:
        del values["why"]
    return {name: values.pop(name) for name in HIT_FIRST} | values


def conversation_hit(hit: ConversationHit) -> dict[str, Any]:
    """A conversation that was found, with its best messages."""
    values: dict[str, Any] = record(hit)
    return values | {"hits": [message_hit(message) for message in hit.hits]}


def explanation(found: Explanation) -> dict[str, Any]:
    """How a search went."""
    values: dict[str, Any] = record(found)
    return values


def usage(used: Usage) -> dict[str, Any]:
    """Tokens and cost of one model and task over the whole store."""
    left_out = ("session_id", "provider", "base_url", "mode", "cost_status", "cost_source")
    return {f.name: plain(getattr(used, f.name)) for f in fields(used) if f.name not in left_out}


def deletions(records: Iterable[Deletion], *, dry_run: bool) -> dict[str, Any]:
    """What was deleted, or would be, in one sum."""
    records = list(records)
    oldest = [r.oldest_at for r in records if r.oldest_at is not None]
    newest = [r.newest_at for r in records if r.newest_at is not None]
    return {
        "dry_run": dry_run,
        "deleted": list(dict.fromkeys(session_id for r in records for session_id in r.deleted)),
        "messages": sum(r.messages for r in records),
        "kept": {session_id: reason for r in records for session_id, reason in r.kept.items()},
        "oldest_at": time(min(oldest)) if oldest else None,
        "newest_at": time(max(newest)) if newest else None,
    }
