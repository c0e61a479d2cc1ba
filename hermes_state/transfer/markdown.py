"""Conversations as Markdown for reading."""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING

from hermes_state.transfer.document import shown_time

if TYPE_CHECKING:
    from hermes_state.transfer.document import Conversation, Piece, Turn

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_SPECIAL = re.compile(r"([\\`*\[\]<>#|]|(?<![^\W_])_|_(?![^\W_]))")  # a `_` inside a word is no markup
_ROLES = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}


def fenced(text: str, language: str = "") -> str:
    """A block of code that no text can end early: its fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def escaped(text: str) -> str:
    """A text in which nothing is markup, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def prose(text: str) -> str:
    """A text that is Markdown already: a fence it left open is closed, and HTML outside of code is shown as typed."""
    out: list[str] = []
    plain: list[str] = []
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            out.append(line)
            if found and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif found:
            out += _without_tags(plain)
            plain = []
            out.append(line)
            fence = found[1]
        else:
            plain.append(line)
    out += _without_tags(plain)
    return "\n".join(out + ([fence] if fence else []))


def _without_tags(lines: list[str]) -> list[str]:
    if not lines:
        return []
    text, done, at = "\n".join(lines), [], 0
    for span in _CODE_SPAN.finditer(text):
        done += [_TAG.sub("&lt;", text[at : span.start()]), span[0]]
        at = span.end()
    return ["".join([*done, _TAG.sub("&lt;", text[at:])])]


class MarkdownWriter:
    """Writes conversations one after the other into one document."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._first = True

    def start(self, title: str) -> None:
        """Begin the document; a document of one conversation needs no other title."""

    def conversation(self, found: Conversation) -> None:
        """Begin a conversation."""
        if not self._first:
            self._out.write("\n---\n\n")
        self._first = False
        self._out.write(f"# {escaped(found.title)}\n\n")
        self._out.writelines(f"- **{name}:** {escaped(value)}\n" for name, value in found.facts)

    def segment(self, number: int) -> None:
        """Begin a further segment of the conversation."""
        self._out.write(f"\n---\n\n*The conversation was compressed here and went on (part {number}).*\n")

    def turn(self, turn: Turn) -> None:
        """Write a message."""
        mark = " · compacted" if turn.compacted else ""
        name = _ROLES.get(turn.role) or escaped(turn.role)
        self._out.write(f"\n## {name} · {shown_time(turn.at)}{mark}\n")
        for piece in turn.pieces:
            self._out.write(f"\n{_piece(piece)}\n")

    def finish(self) -> None:
        """End the document."""


def _piece(piece: Piece) -> str:
    match piece.kind:
        case "text":
            return prose(piece.text)
        case "reasoning":
            return "\n".join(["**Reasoning**", "", *(f"> {line}" for line in prose(piece.text).splitlines())])
        case "call":
            return f"**Calls {escaped(piece.name)}**" + (f"\n\n{fenced(piece.text, 'json')}" if piece.text else "")
        case "result":
            return f"**Result of {escaped(piece.name)}**\n\n{fenced(piece.text)}"
        case "picture":
            return f"*[picture: {piece.text[5:].partition(';')[0]}]*"
        case _:
            return f"*[file: {escaped(piece.text)}]*"
