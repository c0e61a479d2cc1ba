"""What a provider of checkpoint version 2 gets before a compression: the conversation as the two sides had it.

Normalised evidence has only what the user and the assistant said: no system and tool rows, no summaries of earlier
compressions, no tool calls. The transcript is never changed, by us or through us: what is given is a copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memory.provider import Message

SUMMARY_FLAG = "_compressed_summary"
_ROLES = ("user", "assistant")


def evidence(messages: Iterable[object]) -> list[Message]:
    """The normalised evidence of a transcript.

    Args:
        messages: the transcript, in order; rows that are no dicts are left out.

    Returns:
        Copies of the rows. An assistant row loses its tool calls, and is left out if it says nothing beside them.
    """
    rows: list[Message] = []
    for row in messages:
        if not isinstance(row, dict) or row.get("role") not in _ROLES or row.get(SUMMARY_FLAG):
            continue
        calls = row["role"] == "assistant" and row.get("tool_calls")
        if calls and not _says_something(row.get("content")):
            continue
        rows.append({name: _copied(value) for name, value in row.items() if not (calls and name == "tool_calls")})
    return rows


def _copied(value: Any) -> Any:
    """A copy of what JSON can hold; anything else is taken for immutable."""
    if isinstance(value, dict):
        return {name: _copied(part) for name, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list) else value


def _says_something(content: Any) -> bool:
    """Whether a message's content has text; of multimodal content any part that is no blank text counts."""
    if isinstance(content, str):
        return bool(content.strip())
    if isinstance(content, Mapping):
        return _says_something(content["text"]) if isinstance(content.get("text"), str) else bool(content)
    if isinstance(content, list | tuple):
        return any(_says_something(part) for part in content)
    return content is not None
