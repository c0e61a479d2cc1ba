"""The lines of an export back into rows of the store, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_state.codec import Columns, clean, encode, to_json
from hermes_state.creation import check_source
from hermes_state.errors import InvalidValue
from hermes_state.ids import check_session_id
from hermes_state.records import MessageState
from hermes_state.session_rows import ORIGIN_FIELDS
from hermes_state.titles import clean_title
from hermes_state.transfer.lines import (
    FLAGS,
    OBJECTS,
    STATES,
    USAGE_COSTS,
    USAGE_KEYS,
    USAGE_NUMBERS,
    USAGE_TEXTS,
    Line,
    instant,
    relation_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_STATE_OF = {name: state for state, name in STATES.items()}
_MAX_NUMBER = 2**63 - 1
# Names of a message line that are columns of their own; the others are fields as `codec.encode` takes them.
_PLACED = frozenset(("type", "position", "created_at", "state", "rewind_number"))
_HANDOFF_STATES = frozenset(("pending", "running", "completed", "failed"))


def number(line: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """A whole number that is not negative.

    Raises:
        InvalidValue: it is none.
    """
    value = line.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MAX_NUMBER:
        raise InvalidValue(f"{name} is {value!r}, not a whole number from 0")
    return value


def _text(line: Mapping[str, Any], name: str) -> str | None:
    value = line.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidValue(f"{name} is {value!r}, not a text")
    return clean(value)


def _object(line: Mapping[str, Any], name: str) -> str | None:
    value = line.get(name)
    if value is None:
        return None
    if not isinstance(value, dict):
        raise InvalidValue(f"{name} is {value!r}, not an object")
    return to_json(value, name)


def _dollars(line: Mapping[str, Any], name: str) -> float | None:
    value = line.get(name)
    if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
        raise InvalidValue(f"{name} is {value!r}, not a number of dollars")
    return None if value is None else float(value)


def session_values(line: Line) -> dict[str, Any]:
    """The columns of `sessions` that a line gives, but for its place and its prompt.

    Raises:
        InvalidValue: one of them can't be stored.
    """
    relation_of(line.get("relation"))
    values: dict[str, Any] = {
        "id": check_session_id(line.get("id", "")),
        "source": check_source(line.get("source", "")),
        "title": clean_title(_text(line, "title")),
        "started_at": instant(line.get("started_at")),
        "ended_at": None if line.get("ended_at") is None else instant(line["ended_at"]),
        "end_reason": _text(line, "end_reason"),
        "rewind_count": number(line, "rewind_count", 0),
    }
    values |= {name: _text(line, name) for name in ORIGIN_FIELDS}
    values |= {name: line.get(name) is True for name in FLAGS}
    values |= {name: _object(line, name) for name in OBJECTS}
    return values


def tags_in(line: Line) -> list[str]:
    """The tags a session line names.

    Raises:
        InvalidValue: they are not a list of texts.
    """
    tags = line.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) and tag for tag in tags):
        raise InvalidValue(f"tags are {tags!r}, not a list of texts")
    return sorted({clean(tag) or "" for tag in tags} - {""})


def usage_rows(line: Line) -> list[dict[str, Any]]:
    """The rows of `usage` a session line gives.

    Raises:
        InvalidValue: one of them can't be stored, or two are for the same model, task and route.
    """
    rows = []
    for used in _objects(line, "usage"):
        row: dict[str, Any] = {name: _text(used, name) or "" for name in USAGE_KEYS}
        row |= {name: number(used, name, 0) for name in USAGE_NUMBERS}
        row |= {name: _dollars(used, name) for name in USAGE_COSTS}
        row |= {name: _text(used, name) for name in USAGE_TEXTS}
        row |= {name: instant(used.get(name)) for name in ("first_at", "last_at")}
        rows.append(row)
    if len({tuple(row[name] for name in USAGE_KEYS) for row in rows}) < len(rows):
        raise InvalidValue("usage has two entries for the same model, task and route")
    return rows


def _objects(line: Line, name: str) -> list[dict[str, Any]]:
    found = line.get(name, [])
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise InvalidValue(f"{name} is not a list of objects")
    return found


def handoff_row(line: Line) -> dict[str, Any] | None:
    """The row of `handoffs` a session line gives.

    Raises:
        InvalidValue: it can't be stored.
    """
    given = line.get("handoff")
    if given is None:
        return None
    if not isinstance(given, dict) or given.get("state") not in _HANDOFF_STATES or not _text(given, "platform"):
        raise InvalidValue(f"handoff is {given!r}, not one with a state and a platform")
    times = {name: instant(given.get(name)) for name in ("requested_at", "updated_at")}
    return {"state": given["state"], "platform": _text(given, "platform"), "error": _text(given, "error")} | times


def message_columns(line: Line) -> Columns:
    """The columns of `messages` that a line gives.

    Raises:
        InvalidValue: one of them can't be stored.
    """
    state = line.get("state", STATES[MessageState.ACTIVE])
    if state not in _STATE_OF:
        raise InvalidValue(f"state is {state!r}", hint=f"one of {', '.join(_STATE_OF)}")
    fields = {name: value for name, value in line.items() if name not in _PLACED}
    calls = fields.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise InvalidValue(f"tool_calls is {calls!r}, not a list")
    columns = encode(fields | {"state": _STATE_OF[state]}, instant(line.get("created_at")))
    columns["position"] = number(line, "position")
    if line.get("rewind_number") is not None:
        columns["rewind_number"] = number(line, "rewind_number")
    return columns


def route_values(line: Line) -> dict[str, Any]:
    """The columns of `routes` that a line gives, but for the session.

    Raises:
        InvalidValue: one of them can't be stored.
    """
    key, entry = _text(line, "key"), _object(line, "entry")
    if not key or entry is None:
        raise InvalidValue("a route needs a key and an entry")
    return {
        "scope": _text(line, "scope") or "",
        "key": key,
        "entry": entry,
        "updated_at": instant(line.get("updated_at")),
    }
