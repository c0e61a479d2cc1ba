"""A transcript in the shape that a model provider takes, whole even after a crash between a call and its result.

Strict providers refuse a tool call without a result and a result without a call. A missing result is told as
interrupted, never dropped, so that the model knows the call may have run; an orphan result becomes a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_state.records import Message

INTERRUPTED = "[interrupted: no result was recorded; the call may have run, verify before repeating it]"
# Provider fields that go back verbatim on an assistant message.
_REPLAY_FIELDS = (
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "codex_reasoning_items",
    "codex_message_items",
    "finish_reason",
)


def call_id(call: Any) -> str | None:
    """The id of a tool call in any of the shapes providers use."""
    if not isinstance(call, dict):
        return None
    value = call.get("id") or call.get("call_id") or call.get("tool_call_id")
    return str(value) if value else None


def call_name(call: Any) -> str | None:
    """The tool's name of a tool call in any of the shapes providers use."""
    if not isinstance(call, dict):
        return None
    function = call.get("function")
    name = function.get("name") if isinstance(function, dict) else call.get("name")
    return str(name) if name else None


def replay(transcript: Iterable[Message]) -> list[dict[str, Any]]:
    """Messages as `{"role", "content", …}` dictionaries, every call followed by its result.

    `api_content` (the exact bytes once sent) stands in for `content` where there is any: that keeps prompt caches warm.
    """
    out: list[dict[str, Any]] = []
    open_calls: dict[str, str | None] = {}
    for message in transcript:
        if message.role == "tool":
            _add_result(out, message, open_calls)
            continue
        _close(out, open_calls)
        out.append(_plain(message))
        for call in message.tool_calls or ():
            key = call_id(call)
            if key:
                open_calls[key] = call_name(call)
    _close(out, open_calls)
    return out


def _plain(message: Message) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "role": message.role,
        "content": message.content if message.api_content is None else message.api_content,
    }
    if message.role == "assistant":
        shown |= {name: value for name in _REPLAY_FIELDS if (value := getattr(message, name)) is not None}
        if message.tool_calls:
            shown["tool_calls"] = message.tool_calls
    return shown


def _add_result(out: list[dict[str, Any]], message: Message, open_calls: dict[str, str | None]) -> None:
    if message.tool_call_id in open_calls:
        open_calls.pop(message.tool_call_id)
        result = {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
        out.append(result | ({"name": message.tool_name} if message.tool_name else {}))
        return
    name = f" of {message.tool_name}" if message.tool_name else ""
    _close(out, open_calls)
    out.append({"role": "user", "content": f"[a tool result{name} whose call is no longer here]\n{message.content}"})


def _close(out: list[dict[str, Any]], open_calls: dict[str, str | None]) -> None:
    for key, name in open_calls.items():
        result = {"role": "tool", "tool_call_id": key, "content": INTERRUPTED}
        out.append(result | ({"name": name} if name else {}))
    open_calls.clear()
