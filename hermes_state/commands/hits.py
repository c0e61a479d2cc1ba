"""Search hits as text to read on a terminal."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hermes_state.commands.plain import one_line
from hermes_state.commands.table import BOLD, DIM, cut, paint, wrap
from hermes_state.commands.wording import ago, count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hermes_state.commands.invocation import Invocation
    from hermes_state.search import ContextMessage, ConversationHit, Explanation, MessageHit, Why

OPEN, CLOSE = ">>>", "<<<"
_MATCH = (("fg", "bright_red"), ("bold", True))
_ROLE = (("fg", "cyan"),)
_INDENT = "  "
# Best messages of a conversation that are shown.
_BEST = 3


def show_messages(invocation: Invocation, hits: Iterable[MessageHit], *, with_context: bool) -> int:
    """What was said, under where it was said; hits that follow each other in one session share the heading.

    Returns how many there were.
    """
    now = datetime.now(UTC)
    shown, session_id = 0, ""
    for hit in hits:
        if hit.session_id != session_id:
            if shown:
                invocation.say()
            invocation.say(_heading(hit.title, hit.source, ago(hit.created_at, now), hit.session_id, _marks(hit)))
        elif with_context:
            invocation.say()
        shown, session_id = shown + 1, hit.session_id
        lines = _context(invocation, hit.context, hit.snippet) if with_context else _said(invocation, hit)
        for line in lines:
            invocation.say(line)
        if hit.why is not None:
            invocation.say(paint(f"{_INDENT}{_why(hit.why, hit.score)}", DIM))
    return shown


def show_conversations(invocation: Invocation, hits: Iterable[ConversationHit], *, with_context: bool) -> int:
    """A block per conversation: what it is, its best messages. Returns how many there were."""
    now = datetime.now(UTC)
    shown = 0
    for hit in hits:
        if shown:
            invocation.say()
        shown += 1
        marks = [count(hit.hit_count, "hit")] if hit.hit_count else ["title"]
        marks += ["archived"] if hit.is_archived else []
        invocation.say(_heading(hit.title, hit.source, ago(hit.last_active_at, now), hit.conversation_id, marks))
        if with_context:
            lines: Iterable[str] = _context(invocation, hit.context, hit.snippet)
        else:
            lines = (line for message in hit.hits[:_BEST] for line in _said(invocation, message))
        for line in lines:
            invocation.say(line)
    return shown


def _heading(title: str | None, source: str, when: str, session_id: str, marks: Sequence[str]) -> str:
    facts = " · ".join((one_line(source), when, session_id, *marks))
    return f"{paint(one_line(title), BOLD)}  {paint(facts, DIM)}" if title else paint(facts, DIM)


def _marks(hit: MessageHit) -> list[str]:
    marks = [str(hit.relation)] if hit.relation in ("branch", "delegate") else []
    marks += ["archived"] if hit.is_archived else []
    marks += ["compacted"] if hit.is_compacted else []
    return marks


def _said(invocation: Invocation, hit: MessageHit) -> Iterator[str]:
    """Who said it and the stretch of it that was found, wrapped to the terminal."""
    role = one_line(hit.role)
    name = f"{role} {one_line(hit.tool_name)}" if hit.tool_name and role == "tool" else role
    label = f"{_INDENT}{name} #{hit.message_id}  "
    text, spans = unmarked(one_line(hit.snippet))
    first = True
    for line, offset in wrap(text, invocation.width, indent=len(label)):
        head = f"{_INDENT}{paint(name, _ROLE)} {paint(f'#{hit.message_id}', DIM)}  " if first else " " * len(label)
        yield head + highlighted(line, offset, spans)
        first = False


def _context(invocation: Invocation, context: Sequence[ContextMessage], snippet: str) -> Iterator[str]:
    """The messages around a hit, a line each; the hit's own line shows what was found."""
    for message in context:
        mark = paint("▶ ", _MATCH) if message.is_hit else _INDENT
        text, spans = unmarked(one_line(snippet if message.is_hit else message.text))
        head = f"{one_line(message.role)} #{message.message_id}  "
        room = None if invocation.width is None else max(invocation.width - len(head) - 2, 20)
        if room is not None and not message.is_hit:
            text = cut(text, room)
        yield mark + paint(head, DIM) + highlighted(text, 0, spans)


def unmarked(snippet: str) -> tuple[str, list[tuple[int, int]]]:
    """A snippet without its marks, and the spans that they were around."""
    text, spans = "", []
    for n, part in enumerate(snippet.split(OPEN)):
        found, closed, rest = part.partition(CLOSE)
        if n and closed:
            spans.append((len(text), len(text) + len(found)))
            text += found + rest
        else:
            text += (OPEN if n else "") + part
    return text, spans


def highlighted(line: str, offset: int, spans: Sequence[tuple[int, int]]) -> str:
    """A line of a text, with the part of each span that lies in it set off; `offset` is where the line starts."""
    parts, position = [], 0
    for start, end in spans:
        low, high = max(start - offset, position), min(end - offset, len(line))
        if low < high:
            parts += [line[position:low], paint(line[low:high], _MATCH)]
            position = high
    return "".join((*parts, line[position:]))


def _why(why: Why, score: float) -> str:
    pieces = ", ".join(f"{one_line(piece.piece)} {piece.part:.2f}" for piece in why.pieces)
    return (
        f"score {score:.2f} = words {why.own:.2f} × kind {why.factor:.2f} + beside {why.beside:.2f}"
        f" + date {why.date:.2f}; words: {pieces}"
    )


def explain(invocation: Invocation, explanation: Explanation) -> None:
    """How the search went, on stderr."""
    for piece in explanation.pieces:
        at_least = "over " if piece.is_cut else ""
        invocation.note(
            f"{one_line(piece.piece)}: in {at_least}{count(piece.messages, 'message')}, worth {piece.worth:.2f}"
        )
    whole = "all that match" if explanation.is_whole else "the best candidates"
    invocation.note(f"{count(explanation.candidates, 'message')} ranked: {whole}")
