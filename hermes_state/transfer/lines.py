"""The lines of an export: rows of the store as JSON objects. `docs/export-format.md` describes them.

Every name whose value would be null, empty or the default is left out, and names stand in a fixed order, so that the
same content always gives the same bytes.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hermes_state.clock import from_us, to_us
from hermes_state.codec import DETAIL_FIELDS, from_json, is_plain
from hermes_state.errors import InvalidValue
from hermes_state.packing import unpack
from hermes_state.records import MessageState, Relation
from hermes_state.session_rows import ORIGIN_FIELDS
from hermes_state.transfer.placing import UNRESOLVED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Line = dict[str, Any]
FORMAT = "hermes-state-sessions"
# Raised when a line can no longer be read as before; a reader refuses files of a newer version.
VERSION = 1
HEADER: Line = {"type": "header", "format": FORMAT, "version": VERSION}
# Columns of `sessions` that are in a line as they are.
PLAIN = ("end_reason", "rewind_count", *ORIGIN_FIELDS)
FLAGS = ("archived", "delegated", "sealed")
OBJECTS = ("model_config", "origin", "extras")
USAGE_KEYS = ("model", "task", "provider", "base_url", "mode")
USAGE_NUMBERS = (
    "api_calls",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
USAGE_COSTS = ("estimated_cost_usd", "actual_cost_usd")
USAGE_TEXTS = ("cost_status", "cost_source")
STATES = {state: state.name.lower() for state in MessageState}
TOOL_FIELDS = ("tool_name", "tool_call_id", "platform_message_id")


def to_line(line: Line) -> str:
    """A line as text that UTF-8 can hold, with its line feed."""
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    return (text if is_plain(text) else json.dumps(line, separators=(",", ":"))) + "\n"


def moment(microseconds: int) -> str:
    """An instant as ISO 8601 in UTC."""
    return from_us(microseconds).isoformat()


def instant(text: Any) -> int:
    """The microseconds of an instant as ISO 8601; without an offset it is UTC.

    Raises:
        InvalidValue: it is none.
    """
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError) as error:
        raise InvalidValue(f"{text!r} is not a time", hint="write it as 2026-01-31T12:00:00+00:00") from error
    return to_us(found if found.tzinfo else found.replace(tzinfo=UTC))


def session_line(
    row: Any, *, prompt: str | None, tags: Sequence[str], usage: Sequence[Line], handoff: Line | None, messages: int
) -> Line:
    """The line of a session.

    Args:
        row: every column of `sessions`, and `parent_id`.
        prompt: the SHA-256 of its system prompt in hex.
        messages: how many message lines follow.
    """
    extras = from_json(row.extras) or {}
    parent_id, relation = row.parent_id, row.relation
    if UNRESOLVED in extras and parent_id is None:
        note = extras.pop(UNRESOLVED)
        parent_id, relation = note["id"], note["relation"]
    values: Line = {"type": "session", "id": row.id, "source": row.source, "title": row.title, "parent_id": parent_id}
    values["relation"] = relation
    values["started_at"] = moment(row.started_at)
    values["ended_at"] = None if row.ended_at is None else moment(row.ended_at)
    values |= {name: getattr(row, name) for name in PLAIN}
    values |= {name: True if getattr(row, name) else None for name in FLAGS}
    values |= {"model_config": from_json(row.model_config), "origin": from_json(row.origin), "extras": extras or None}
    values |= {"system_prompt": prompt, "tags": list(tags) or None, "usage": list(usage) or None, "handoff": handoff}
    values["rewind_count"] = row.rewind_count or None
    return {name: value for name, value in values.items() if value is not None} | {"messages": messages}


def usage_line(row: Any) -> Line:
    """A row of usage, as part of its session's line."""
    values: Line = {name: getattr(row, name) or None for name in (*USAGE_KEYS, *USAGE_NUMBERS)}
    values |= {name: getattr(row, name) for name in (*USAGE_COSTS, *USAGE_TEXTS)}
    values |= {"first_at": moment(row.first_at), "last_at": moment(row.last_at)}
    return {name: value for name, value in values.items() if value is not None}


def handoff_line(row: Any) -> Line:
    """A hand-over, as part of its session's line."""
    times = {"requested_at": moment(row.requested_at), "updated_at": moment(row.updated_at)}
    values = {"state": row.state, "platform": row.platform, "error": row.error} | times
    return {name: value for name, value in values.items() if value is not None}


def message_line(row: Any) -> Line:
    """The line of a message: every column that has a value, and the fields in `details` beside them."""
    details: Mapping[str, Any] = from_json(row.details) or {}
    content = None if row.content is None else unpack(row.content)
    values: Line = {
        "type": "message",
        "position": row.position,
        "role": row.role,
        "created_at": moment(row.created_at),
        "state": STATES[MessageState(row.state)] if row.state else None,
        "rewind_number": row.rewind_number,
        "content": content if content is None or row.content_format is None else json.loads(content),
        "tool_name": row.tool_name,
        "tool_call_id": row.tool_call_id,
        "tool_calls": from_json(row.tool_calls),
        "platform_message_id": row.platform_message_id,
    }
    values |= {name: details[name] for name in DETAIL_FIELDS if name in details}
    values["extras"] = details.get("extras")
    return {name: value for name, value in values.items() if value is not None}


def route_line(row: Any) -> Line:
    """The line of a route."""
    values = {"type": "route", "scope": row.scope or None, "key": row.key, "session_id": row.session_id}
    values |= {"updated_at": moment(row.updated_at), "entry": from_json(row.entry)}
    return {name: value for name, value in values.items() if value is not None}


def relation_of(name: Any) -> Relation | None:
    """The relation a line names.

    Raises:
        InvalidValue: there is no such relation.
    """
    if name is None:
        return None
    if name not in set(Relation):
        raise InvalidValue(f"{name!r} is no relation", hint=f"one of {', '.join(Relation)}")
    return Relation(name)
