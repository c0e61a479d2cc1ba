"""Messages as text to read on a terminal."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_state.commands.plain import one_line, safe
from hermes_state.commands.table import DIM, bold_in, paint
from hermes_state.commands.wording import count, size
from hermes_state.records import MessageState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hermes_state.records import Message

# Lines of a tool's output, and characters of a call's arguments, that are shown without --full.
TOOL_LINES = 12
ARGUMENT_CHARS = 160
_ROLE_STYLES = {"user": "cyan", "assistant": "green", "tool": "yellow", "system": "magenta"}
_STATES = {MessageState.COMPACTED: "compacted", MessageState.REWOUND: "taken back"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Detail:
    """How much of a message is shown.

    Attributes:
        full: tool output and arguments whole.
        reasoning: also what the model thought.
        marked: the id of a message to point at.
    """

    full: bool = False
    reasoning: bool = False
    marked: int | None = None


def lines_of(messages: Iterable[Message], detail: Detail) -> Iterator[str]:
    """A transcript, line by line; where a conversation goes on in another session, a line says so."""
    session_id = day = None
    for message in messages:
        if session_id is not None:
            yield ""
        if session_id not in (None, message.session_id):
            yield paint(f"·· compressed, continued in {message.session_id}", DIM)
            yield ""
        session_id = message.session_id
        at = message.created_at.astimezone()
        yield _heading(message, detail, f"{at:%H:%M}" if at.date() == day else f"{at:%Y-%m-%d %H:%M}")
        day = at.date()
        yield from _body(message, detail)


def _heading(message: Message, detail: Detail, at: str) -> str:
    role = one_line(message.role)
    name = f"{role} {one_line(message.tool_name)}" if message.tool_name and role == "tool" else role
    facts = [at, f"#{message.id}"]
    if message.state in _STATES:
        facts.append(_STATES[message.state])
    mark = paint("▶ ", bold_in("red")) if message.id == detail.marked else ""
    color = _ROLE_STYLES.get(role, "blue")
    return f"{mark}{paint(name, bold_in(color))} {paint(' · '.join(facts), DIM)}"


def _body(message: Message, detail: Detail) -> Iterator[str]:
    if detail.reasoning:
        for line in _reasoning(message):
            yield paint(line, DIM)
    text = safe(content_text(message.content)).strip("\n")
    lines = text.split("\n") if text else []
    most = None if detail.full or message.role != "tool" else TOOL_LINES
    yield from lines[:most]
    if most is not None and len(lines) > most:
        yield paint(f"… {count(len(lines) - most, 'more line')}; --full shows all", DIM)
    for call in message.tool_calls or ():
        yield _call(call, detail)


def _reasoning(message: Message) -> list[str]:
    thought = message.reasoning_content or message.reasoning
    if not thought:
        return []
    return safe(thought if isinstance(thought, str) else json.dumps(thought, ensure_ascii=False)).split("\n")


def _call(call: Any, detail: Detail) -> str:
    """`→ terminal {"cmd": "ls"}` for a tool call in any provider's shape."""
    function = call.get("function", call) if isinstance(call, dict) else {"name": str(call)}
    if not isinstance(function, dict):
        function = {"name": str(function)}
    arguments = function.get("arguments", function.get("input", ""))
    text = one_line(arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False))
    if not detail.full and len(text) > ARGUMENT_CHARS:
        text = text[:ARGUMENT_CHARS] + "…"
    return f"{paint('→ ' + one_line(str(function.get('name', '?'))), (('fg', 'yellow'),))} {paint(text, DIM)}"


def content_text(content: Any) -> str:
    """The text of a message's content; what is not text is named in brackets."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_part_text(part) for part in content)
    return json.dumps(content, ensure_ascii=False)


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return json.dumps(part, ensure_ascii=False)
    for key in ("text", "input_text", "output_text"):
        if isinstance(part.get(key), str):
            return str(part[key])
    kind = str(part.get("type", "part")).removeprefix("input_").removesuffix("_url")
    address = part.get("image_url", part.get("file_data"))
    if isinstance(address, dict):
        address = address.get("url")
    if not isinstance(address, str):
        return f"[{kind}]"
    if address.startswith("data:"):
        return f"[{kind}, {size(len(address) * 3 / 4)}]"
    return f"[{kind} {address}]"
