"""Rows of a damaged store made valid: what can't be right is left out, what can be told from the rest is told anew.

Every function takes the columns of one row by name and returns them as a sound store has them, or None when nothing of
the row is worth keeping. `mended` says whether anything had to be changed.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from hermes_state.clock import MAX_US, MIN_US
from hermes_state.codec import JSON_FORMAT, clean, from_json, is_plain
from hermes_state.engine.salvage import Undecodable
from hermes_state.packing import pack, unpack
from hermes_state.records import MessageState, Relation

Row = dict[str, Any]
_SESSION_TEXTS = (
    *("title", "end_reason", "model", "user_id", "chat_id", "chat_type", "thread_id", "display_name"),
    *("cwd", "git_branch", "git_root", "profile"),
)
_STATES = frozenset(int(state) for state in MessageState)


class Mended(NamedTuple):
    """A row as it can stand in a sound store."""

    row: Row
    mended: bool


def message(found: Row, *, last_created_at: int) -> Mended | None:
    """A message; a time that can't be right becomes that of the message before it."""
    if not isinstance(found["session_pk"], int) or not isinstance(found["position"], int):
        return None
    row: Row = {"session_pk": found["session_pk"], "position": found["position"]}
    row["created_at"] = found["created_at"] if is_instant(found["created_at"]) else last_created_at
    row["state"] = found["state"] if found["state"] in _STATES else int(MessageState.ACTIVE)
    row["role"] = text(found["role"]) or "unknown"
    for name in ("tool_name", "tool_call_id", "platform_message_id"):
        row[name] = text(found[name])
    row["rewind_number"] = found["rewind_number"] if isinstance(found["rewind_number"], int) else None
    row["content"], row["content_format"] = _content(found["content"], found["content_format"])
    row["tool_calls"] = json_text(found["tool_calls"])
    row["details"] = json_text(found["details"], kind=dict)
    calls = from_json(row["tool_calls"])
    row["tool_call_count"] = len(calls) if isinstance(calls, list) else None
    return Mended(row, any(found[name] != value for name, value in row.items()))


def _content(stored: Any, content_format: Any) -> tuple[Any, int | None]:
    """Content that can be read back, and its format; damaged plain text keeps what is still text."""
    if stored is None:
        return None, None
    if isinstance(stored, Undecodable):
        return pack(stored.decode("utf-8", "replace").replace("\0", "")), None
    readable = readable_text(stored)
    if readable is None:
        return None, None
    if content_format is None:
        return (stored, None) if is_plain(readable) else (pack(readable.replace("\0", "")), None)
    return (stored, JSON_FORMAT) if _is_json(readable) else (pack(readable.replace("\0", "")), None)


def session(found: Row, *, pk: int, fallback_at: int) -> Mended:
    """A session; one whose id is lost gets a name that says so."""
    row: Row = {name: text(found.get(name)) for name in _SESSION_TEXTS}
    row["id"] = text(found.get("id")) or f"recovered-{pk}"
    row["source"] = text(found.get("source")) or "recovered"
    relation = found.get("relation")
    row["parent_pk"] = found.get("parent_pk") if isinstance(found.get("parent_pk"), int) else None
    row["relation"] = relation if relation in set(Relation) and row["parent_pk"] is not None else None
    row["parent_pk"] = row["parent_pk"] if row["relation"] else None
    row["started_at"] = found.get("started_at") if is_instant(found.get("started_at")) else fallback_at
    row["ended_at"] = found.get("ended_at") if is_instant(found.get("ended_at")) else None
    row["last_active_at"] = (
        found.get("last_active_at") if is_instant(found.get("last_active_at")) else row["started_at"]
    )
    row["archived"] = found.get("archived") == 1
    row["sealed"] = found.get("sealed") == 1
    count = found.get("rewind_count")
    row["rewind_count"] = count if isinstance(count, int) and count >= 0 else 0
    row["system_prompt_pk"] = found.get("system_prompt_pk") if isinstance(found.get("system_prompt_pk"), int) else None
    for name in ("model_config", "origin", "extras"):
        row[name] = json_text(found.get(name))
    return Mended(row, any(found.get(name) != value for name, value in row.items()))


def text(stored: Any) -> str | None:
    """A name-like column; None when it does not hold text."""
    if isinstance(stored, Undecodable):
        return clean(stored.decode("utf-8", "replace"))
    return clean(stored) if isinstance(stored, str) else None


def is_instant(value: Any) -> bool:
    """Whether a column holds a time."""
    return isinstance(value, int) and MIN_US <= value <= MAX_US


def json_text(stored: Any, kind: type = object) -> Any:
    """A JSON column as it is stored, when it can be read and holds a value of this kind."""
    readable = None if stored is None else readable_text(stored)
    if readable is None or not _is_json(readable) or not isinstance(json.loads(readable), kind):
        return None
    return stored


def readable_text(stored: Any) -> str | None:
    """The text of a column that may be stored compressed; None when it can't be read back."""
    if not isinstance(stored, str | bytes) or isinstance(stored, Undecodable):
        return None
    try:
        return unpack(stored)
    except Exception:  # noqa: BLE001  damaged bytes make a decoder raise whatever it likes; the text is lost
        return None


def _is_json(readable: str) -> bool:
    try:
        json.loads(readable)
    except (ValueError, RecursionError):
        return False
    return True
