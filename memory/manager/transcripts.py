"""A session's messages from the store, as a provider gets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_state.errors import HermesStateError
from memory.context import sanitize

if TYPE_CHECKING:
    from hermes_state.records import Message
    from hermes_state.store import SessionDB


class StoredTranscripts:
    """The transcripts that a store has; without one, none.

    Args:
        db: the store.
    """

    def __init__(self, db: SessionDB | None) -> None:
        self._db = db

    def __call__(self, session_id: str) -> list[dict[str, Any]]:
        """The active messages of a session; empty when the store has no such session or can't be read now."""
        if self._db is None:
            return []
        try:
            return [_plain(message) for message in self._db.messages.list(session_id)]
        except HermesStateError:  # the call is made without: the turn itself is in it
            return []


def _plain(message: Message) -> dict[str, Any]:
    content = sanitize(message.content) if isinstance(message.content, str) else message.content
    plain: dict[str, Any] = {"role": message.role, "content": content}
    for name in ("tool_calls", "tool_call_id", "tool_name"):
        value = getattr(message, name, None)
        if value:
            plain[name] = value
    return plain


def text_of_content(content: object) -> str:
    """The text of a message's content: parts of a multimodal one joined by line ends, fences taken out."""
    if isinstance(content, str):
        return sanitize(content)
    if isinstance(content, list | tuple):
        texts = (
            part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, str | dict)
        )
        return sanitize("\n".join(text for text in texts if isinstance(text, str) and text))
    return ""
