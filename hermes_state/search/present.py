"""Hits as records: the session each stands in, the snippet, the messages around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_state.clock import from_us
from hermes_state.codec import searchable_text
from hermes_state.engine import lookups
from hermes_state.records import MessageState, Relation
from hermes_state.search.excerpt import excerpt
from hermes_state.search.records import ContextMessage, MessageHit
from hermes_state.search.texts import load_texts

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from hermes_state.search.plan import Plan
    from hermes_state.search.records import Why
    from hermes_state.search.texts import Text

# Characters of a message beside a hit that are shown.
CONTEXT_CHARS = 200
# Messages on each side of a hit at most.
MAX_CONTEXT = 50


class SessionFacts(NamedTuple):
    """What a hit tells of its session."""

    pk: int
    id: str
    source: str
    title: str | None
    model: str | None
    relation: str | None
    archived: int
    conversation_pk: int
    started_at: int
    last_active_at: int
    parent_id: str | None
    tip_id: str | None
    tip_title: str | None


class Scores(NamedTuple):
    """The score of a hit, and why, when that was asked for."""

    score: float
    why: Why | None = None


def load_sessions(connection: Connection, pks: Iterable[int]) -> dict[int, SessionFacts]:
    """The sessions with these keys."""
    return {row[0]: SessionFacts._make(row) for row in lookups.sessions(connection, pks)}


def present(
    connection: Connection,
    plan: Plan,
    scores: Mapping[int, Scores],
    *,
    context: int,
    texts: Mapping[int, Text] | None = None,
    context_of: Container[int] | None = None,
) -> list[MessageHit]:
    """The hits for these message ids, in their order.

    Args:
        context: Messages to show on each side.
        texts: Texts that are known already.
        context_of: Only these get a context; None: all.
    """
    known = dict(texts or {})
    missing = [message_id for message_id in scores if message_id not in known]
    if missing:
        known.update(load_texts(connection, missing))
    rows = {row[0]: row for row in lookups.messages(connection, scores)}
    sessions = load_sessions(connection, {row[1] for row in rows.values()})
    wanted = rows if context_of is None else [message_id for message_id in rows if message_id in context_of]
    contexts = _contexts(connection, [rows[message_id] for message_id in wanted], known, min(context, MAX_CONTEXT))
    hits: list[MessageHit] = []
    for message_id, scored in scores.items():
        row = rows.get(message_id)
        if row is not None:
            snippet = excerpt(*known[message_id], plan)
            hits.append(_hit(row, sessions[row[1]], scored, snippet, contexts.get(message_id, ())))
    return hits


def _hit(
    row: Any, session: SessionFacts, scored: Scores, snippet: str, context: Sequence[ContextMessage]
) -> MessageHit:
    message_id, _, position, role, created_at, state, tool_name = row
    return MessageHit(
        message_id=message_id,
        session_id=session.id,
        conversation_id=session.tip_id or session.id,
        role=role,
        snippet=snippet,
        score=scored.score,
        created_at=from_us(created_at),
        source=session.source,
        title=session.title or session.tip_title,
        position=position,
        tool_name=tool_name,
        model=session.model,
        context=tuple(context),
        parent_id=session.parent_id,
        relation=Relation(session.relation) if session.relation else None,
        is_archived=bool(session.archived),
        is_compacted=state == MessageState.COMPACTED,
        why=scored.why,
    )


def _contexts(
    connection: Connection, middles: Sequence[lookups.Row], texts: Mapping[int, Text], count: int
) -> dict[int, list[ContextMessage]]:
    """The context of each message, so many on each side. All places are looked up at once; where some are empty or
    were taken back, the message is looked at by itself."""
    if count == 0 or not middles:
        return {}
    sides: dict[int, dict[int, lookups.Row]] = {row[0]: {} for row in middles}
    for row in lookups.around(connection, list(sides), count):
        if row[2] != MessageState.REWOUND:
            sides[row[0]][row[1]] = row[3:]
    contexts: dict[int, list[ContextMessage]] = {}
    for message_id, session_pk, position, role, created_at, *_ in middles:
        side = sides[message_id]
        before = [side[at] for at in range(-min(count, position), 0) if at in side]
        after = [side[at] for at in range(1, count + 1) if at in side]
        if len(before) < min(count, position):
            before = lookups.before(connection, session_pk, position, count)[::-1]
        if len(after) < count:
            after = lookups.after(connection, session_pk, position, count)
        itself = _context_message(message_id, role, created_at, texts[message_id].original, is_hit=True)
        contexts[message_id] = [*map(_neighbour, before), itself, *map(_neighbour, after)]
    return contexts


def _neighbour(row: lookups.Row) -> ContextMessage:
    message_id, role, created_at, content, content_format, tool_calls = row
    return _context_message(message_id, role, created_at, searchable_text(content, content_format, tool_calls))


def _context_message(message_id: int, role: str, created_at: int, text: str, *, is_hit: bool = False) -> ContextMessage:
    head = text[: 2 * CONTEXT_CHARS]  # blanks collapse, so a little more than is shown
    line = " ".join(head.split())
    is_cut = len(line) > CONTEXT_CHARS or len(text) > len(head)
    return ContextMessage(
        message_id=message_id,
        role=role,
        text=f"{line[:CONTEXT_CHARS].rstrip()}…" if is_cut else line,
        created_at=from_us(created_at),
        is_hit=is_hit,
        is_cut=is_cut,
    )
