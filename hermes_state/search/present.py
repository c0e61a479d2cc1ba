"""Hits as records: the session each stands in, the snippet, the messages around it."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_state.clock import from_us
from hermes_state.codec import searchable_text
from hermes_state.engine import lookups
from hermes_state.records import MessageState, Relation
from hermes_state.search.excerpt import Excerpts
from hermes_state.search.records import context_message_of, message_hit_of
from hermes_state.search.texts import load_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from hermes_state.search.plan import Plan
    from hermes_state.search.rank import Found, Scored
    from hermes_state.search.records import ContextMessage, MessageHit, Why
    from hermes_state.search.texts import Text

# Characters of a message beside a hit that are shown.
CONTEXT_CHARS = 200
# Shown in place of a neighbour whose text is damaged: it must not cost the answer, and `db check` names it.
UNREADABLE = "[unreadable]"
# Messages on each side of a hit at most.
MAX_CONTEXT = 50

_COMPACTED = int(MessageState.COMPACTED)
_offset = itemgetter(1)


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


def load_sessions(connection: Connection, pks: Iterable[int]) -> dict[int, SessionFacts]:
    """The sessions with these keys."""
    return {row[0]: SessionFacts._make(row) for row in lookups.sessions(connection, pks)}


def present(
    connection: Connection,
    plan: Plan,
    chosen: Sequence[Scored],
    *,
    context: int,
    texts: Mapping[int, Text],
    explain: Callable[[Scored], Why] | None = None,
    context_of: Container[int] | None = None,
) -> list[MessageHit]:
    """The hits for these messages, in their order.

    Args:
        context: Messages to show on each side.
        texts: Texts that are known already.
        explain: Tells why a message stands where it does; None: nobody asked.
        context_of: Only these get a context; None: all.
    """
    if not chosen:
        return []
    known = dict(texts)
    missing = [each.found.id for each in chosen if each.found.id not in known]
    if missing:
        known.update(load_texts(connection, missing))
    sessions = load_sessions(connection, {each.found.session_pk for each in chosen})
    middles = [each.found for each in chosen if context_of is None or each.found.id in context_of]
    contexts = _contexts(connection, middles, known, min(context, MAX_CONTEXT))
    excerpts = Excerpts(plan)
    hits: list[MessageHit] = []
    for each in chosen:
        text = known.get(each.found.id)
        if text is not None:
            shown = excerpts.of(text.original, text.folded), contexts.get(each.found.id, ())
            hits.append(_hit(each, sessions[each.found.session_pk], *shown, explain(each) if explain else None))
    return hits


def _hit(
    scored: Scored, session: SessionFacts, snippet: str, context: tuple[ContextMessage, ...], why: Why | None
) -> MessageHit:
    found = scored.found
    return message_hit_of(
        {
            "message_id": found.id,
            "session_id": session.id,
            "conversation_id": session.tip_id or session.id,
            "role": found.role,
            "snippet": snippet,
            "score": scored.total,
            "created_at": from_us(found.created_at),
            "source": session.source,
            "title": session.title or session.tip_title,
            "position": found.position,
            "tool_name": found.tool_name,
            "model": session.model,
            "context": context,
            "parent_id": session.parent_id,
            "relation": Relation(session.relation) if session.relation else None,
            "is_archived": bool(session.archived),
            "is_compacted": found.state == _COMPACTED,
            "why": why,
        }
    )


def _contexts(
    connection: Connection, middles: Sequence[Found], texts: Mapping[int, Text], count: int
) -> dict[int, tuple[ContextMessage, ...]]:
    """The context of each message, so many on each side. All places are looked up at once; where some are empty or
    were taken back, the message is looked at by itself."""
    if count == 0 or not middles:
        return {}
    sides: dict[int, tuple[list[lookups.Row], list[lookups.Row]]] = {found.id: ([], []) for found in middles}
    for row in sorted(lookups.around(connection, sides, count), key=_offset):
        sides[row[0]][row[1] > 0].append(row[2:])
    contexts: dict[int, tuple[ContextMessage, ...]] = {}
    for found in middles:
        before, after = sides[found.id]
        if len(before) < min(count, found.position):
            before = lookups.before(connection, found.session_pk, found.position, count)[::-1]
        if len(after) < count:
            after = lookups.after(connection, found.session_pk, found.position, count)
        text = texts[found.id].original if found.id in texts else ""
        itself = _shown(found.id, found.role, found.created_at, text)
        itself["is_hit"] = True
        contexts[found.id] = (*map(_neighbour, before), context_message_of(itself), *map(_neighbour, after))
    return contexts


def _neighbour(row: lookups.Row) -> ContextMessage:
    message_id, role, created_at, content, content_format, tool_calls = row
    if isinstance(content, str) and content and content_format is None:
        text = content  # what a message calls is shown only when it says nothing
    elif content and content_format is None:
        text = searchable_text(content, None, None) or UNREADABLE
    else:
        text = searchable_text(content, content_format, tool_calls)
    return context_message_of(_shown(message_id, role, created_at, text))


def _shown(message_id: int, role: str, created_at: int, text: str) -> dict[str, Any]:
    """The fields of a message in a context."""
    line = text[: CONTEXT_CHARS + 1]
    is_cut = len(line) > CONTEXT_CHARS
    if "\n" in line:
        line = line.replace("\n", " ").strip()
    if "  " in line or "\t" in line or (is_cut and len(line) <= CONTEXT_CHARS):
        head = text[: 2 * CONTEXT_CHARS]  # blanks collapse, so a little more than is shown
        line = " ".join(head.split())
        is_cut = len(line) > CONTEXT_CHARS or len(text) > len(head)
    return {
        "message_id": message_id,
        "role": role,
        "text": f"{line[:CONTEXT_CHARS].rstrip()}…" if is_cut else line,
        "created_at": from_us(created_at),
        "is_hit": False,
        "is_cut": is_cut,
    }
