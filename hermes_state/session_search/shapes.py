"""How sessions and messages look in the tool's answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hermes_state.session_search.budget import cut

if TYPE_CHECKING:
    from hermes_state.records import Message, Session

# Roles whose text makes the start and end of a conversation worth showing.
SPEAKING = ("user", "assistant")


def message_shape(
    message: Message, cap: int, *, anchor: int | None = None, around: int | None = None
) -> dict[str, Any]:
    """A message with its long fields cut to `cap` characters; a cut field says so and how long it was.

    Args:
        anchor: the id of the message that was found or asked for.
        around: where in the anchor's text the match is, so that the cut keeps it.
    """
    text = _text(message.content)
    shown: dict[str, Any] = {
        "id": message.id,
        "role": message.role,
        "content": cut(text, cap, around if message.id == anchor else None),
        "timestamp": message.created_at.isoformat(),
    }
    if len(text) > cap:
        shown |= {"content_truncated": True, "content_chars": len(text)}
    if message.tool_name:
        shown["tool_name"] = message.tool_name
    if message.tool_call_id:
        shown["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        shown |= _calls(message.tool_calls, cap)
    if message.id == anchor:
        shown["anchor"] = True
    return shown


def _text(content: Any) -> str:
    """The words of a content; parts that are data are named, not shown."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    return "\n".join(_part(part) for part in parts)


def _part(part: Any) -> str:
    if isinstance(part, dict):
        text = part.get("text") or part.get("content")
        return text if isinstance(text, str) else f"[{part.get('type', 'data')}]"
    return str(part)


def _calls(calls: list[Any], cap: int) -> dict[str, Any]:
    text = json.dumps(calls, ensure_ascii=False)
    if len(text) <= cap:
        return {"tool_calls": calls}
    return {"tool_calls": cut(text, cap), "tool_calls_truncated": True, "tool_calls_chars": len(text)}


def session_shape(session: Session) -> dict[str, Any]:
    """What a model wants to know of a session; what it does not have is left out."""
    shown = {
        "session_id": session.conversation_id,
        "title": session.title,
        "source": session.source,
        "model": session.model,
        "started_at": session.started_at.isoformat(),
        "last_active": session.last_active_at.isoformat(),
        "message_count": session.message_count,
    }
    if session.parent_id:
        shown["parent_session_id"] = session.parent_id
    return {name: value for name, value in shown.items() if value is not None}
