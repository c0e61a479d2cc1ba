"""A conversation as it is read: turns in order over all segments, with what was compacted, without what was rewound.

Neither Markdown nor HTML here: what there is to show, in plain pieces.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select

from hermes_state.clock import from_us
from hermes_state.codec import decode
from hermes_state.conversation import segments_of
from hermes_state.messages import VISIBLE
from hermes_state.records import MessageState
from hermes_state.replay import call_name
from hermes_state.schema import messages, sessions
from hermes_state.session_rows import load
from hermes_state.transfer.selection import Selection, selected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from sqlalchemy import Connection

    from hermes_state.records import Message, Session
    from hermes_state.redact import Redactor

# Pictures up to so many characters of base64 are shown in HTML; larger ones are only named.
MAX_PICTURE_CHARS = 4_000_000
PICTURES = ("data:image/png;base64,", "data:image/jpeg;base64,", "data:image/gif;base64,", "data:image/webp;base64,")
_FETCH = 200


class Piece(NamedTuple):
    """A part of a turn.

    Attributes:
        kind: `text`, `picture` (text is a data URL), `file` (text says what it is), `reasoning`, `call` or `result`.
        name: of the tool.
    """

    kind: str
    text: str
    name: str = ""


class Turn(NamedTuple):
    """A message as it is shown."""

    role: str
    at: datetime
    compacted: bool
    pieces: tuple[Piece, ...]


class Conversation(NamedTuple):
    """A conversation: its segments, the first one first."""

    segments: tuple[Session, ...]
    pks: tuple[int, ...]

    def redacted(self, text: Callable[[str], str]) -> Conversation:
        """The same with titles without secrets."""
        cleaned = (replace(s, title=text(s.title)) if s.title else s for s in self.segments)
        return Conversation(tuple(cleaned), self.pks)

    @property
    def tip(self) -> Session:
        """The last segment."""
        return self.segments[-1]

    @property
    def title(self) -> str:
        """The newest title; the id where it has none."""
        return next((s.title for s in reversed(self.segments) if s.title), self.tip.id)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What is known of it: names and values, those that have one."""
        first, tip = self.segments[0], self.tip
        found = {
            "Session": tip.id,
            "Started": shown_time(first.started_at),
            "Last active": shown_time(max(s.last_active_at for s in self.segments)),
            "Source": first.source,
            "Model": tip.model,
            "Folder": first.cwd,
            "Branch": first.git_branch,
            "Came from": f"{first.parent_id} ({first.relation})" if first.parent_id else None,
            "Tags": ", ".join(sorted({tag for s in self.segments for tag in s.tags})),
        }
        return [(name, value) for name, value in found.items() if value]


def shown_time(at: datetime) -> str:
    """A time as it stands in a document: UTC, to the minute."""
    return f"{at:%Y-%m-%d %H:%M} UTC"


def conversations(connection: Connection, selection: Selection) -> Iterator[Conversation]:
    """The conversations of a selection, in order of their first start."""
    pks = selected(connection, selection)
    wanted = set(pks)
    done: set[int] = set()
    for pk in pks:
        if pk not in done:
            chain = [segment for segment in segments_of(connection, pk) if segment in wanted]
            done.update(chain)
            yield Conversation(tuple(load(connection, segment) for segment in chain), tuple(chain))


def turns(connection: Connection, session_pk: int, redactor: Redactor | None = None) -> Iterator[Turn]:
    """The messages of a segment that can be seen, in order; those with nothing to show are passed over."""
    m = messages.c
    session_id = connection.execute(select(sessions.c.id).where(sessions.c.pk == session_pk)).scalar_one()
    query = select(messages).where(m.session_pk == session_pk, m.state.in_(VISIBLE)).order_by(m.position)
    for row in connection.execute(query.execution_options(yield_per=_FETCH)):
        message = decode(row, session_id)
        pieces = tuple(_cleaned(piece, redactor) for piece in _pieces(message) if piece.text or piece.name)
        if pieces:
            yield Turn(message.role, from_us(row.created_at), message.state == MessageState.COMPACTED, pieces)


def _cleaned(piece: Piece, redactor: Redactor | None) -> Piece:
    text = piece.text.encode("utf-8", "replace").decode().replace("\0", "")  # a document must be UTF-8
    if redactor is not None and piece.kind != "picture":
        text = redactor.text(text)
    return piece._replace(text=text, name=piece.name.encode("utf-8", "replace").decode())


def _pieces(message: Message) -> Iterator[Piece]:
    reasoning = message.reasoning or message.reasoning_content
    if isinstance(reasoning, str) and reasoning.strip():
        yield Piece("reasoning", reasoning)
    if message.role == "tool":
        yield Piece("result", "\n".join(p.text for p in _content(message.content)), message.tool_name or "tool")
    else:
        yield from _content(message.content)
    for call in message.tool_calls or ():
        yield Piece("call", _arguments(call), call_name(call) or "tool")


def _content(content: Any) -> Iterator[Piece]:
    if isinstance(content, str):
        yield Piece("text", content)
    elif isinstance(content, list):
        for part in content:
            yield from _part(part)
    elif isinstance(content, dict):
        yield from _part(content)
    elif content is not None:
        yield Piece("text", json.dumps(content))


def _part(part: Any) -> Iterator[Piece]:
    if isinstance(part, str):
        yield Piece("text", part)
        return
    if not isinstance(part, dict):
        yield Piece("text", json.dumps(part, ensure_ascii=False))
        return
    text = part.get("text")
    url = _url(part)
    if isinstance(text, str):
        yield Piece("text", text)
    elif url.startswith(PICTURES) and len(url) <= MAX_PICTURE_CHARS:
        yield Piece("picture", url)
    elif url:
        yield Piece("file", _named(url))
    else:
        yield Piece("text", json.dumps(part, ensure_ascii=False, indent=1))


def _url(part: dict[str, Any]) -> str:
    for name in ("image_url", "input_image", "file", "audio", "input_audio"):
        value = part.get(name)
        value = value.get("url") or value.get("file_data") or value.get("data") if isinstance(value, dict) else value
        if isinstance(value, str):
            return value
    return ""


def _named(url: str) -> str:
    """What a file is, without its data."""
    if url.startswith("data:"):
        return f"{url[5:].partition(';')[0].partition(',')[0] or 'data'}, {len(url) * 3 // 4:,} bytes"
    return url if len(url) < 500 else f"{len(url) * 3 // 4:,} bytes"


def _arguments(call: Any) -> str:
    function = call.get("function", call) if isinstance(call, dict) else call
    given = function.get("arguments", function.get("input", "")) if isinstance(function, dict) else function
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return str(given)
    return json.dumps(given, ensure_ascii=False, indent=2) if given or given == 0 else ""
