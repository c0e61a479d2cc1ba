"""The content of a message: text, or a list of parts of which some are text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_state.records import Content


def text_of(content: Content) -> str:
    """The words of a content, its text parts joined by line ends; pictures and the like say nothing."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text for part in content if (text := _part_text(part)))
    return _part_text(content)


def with_text(content: Content, change: Callable[[str], str]) -> Content:
    """The content with every text in it changed; other parts stay as they are."""
    if isinstance(content, str):
        return change(content)
    if isinstance(content, list):
        return [
            part | {"text": change(part["text"])} if _is_text(part) else change(part) if isinstance(part, str) else part
            for part in content
        ]
    return content


def joined(first: Content, second: Content) -> Content:
    """Two contents as one: texts with a blank line between, anything else as a list of parts."""
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_parts(first), *_parts(second)]


def _parts(content: Content) -> list[Any]:
    if content is None or content == "":
        return []
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if isinstance(content, str) else [content]


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    return str(part["text"]) if _is_text(part) else ""
