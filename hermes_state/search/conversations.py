"""Conversations that answer a query: the ranked messages gathered, and titles that match."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import exists, or_, select

from hermes_state.clock import from_us
from hermes_state.records import Relation
from hermes_state.schema import messages, sessions
from hermes_state.search.present import load_sessions, present
from hermes_state.search.rank import ConversationScore, score_conversations
from hermes_state.search.records import ConversationHit
from hermes_state.text.matches import find_term
from hermes_state.text.offsets import FoldedText

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection

    from hermes_state.search.plan import Piece, Plan
    from hermes_state.search.present import SessionFacts
    from hermes_state.search.rank import Scored
    from hermes_state.search.ranking import Ranking
    from hermes_state.search.records import MessageHit
    from hermes_state.search.scope import Scope

# Messages shown of a conversation.
SHOWN_HITS = 3
# Titles compared at most; a query that fits more of them says little.
MAX_TITLES = 500
# Words of a query that titles are compared with: the first ones.
MAX_TITLE_PIECES = 12
# What a word in the title counts beside one in a message: a title says what all of it is about.
TITLE_WEIGHT = 1.5


class Title(NamedTuple):
    """A title that holds words of the query. `worth` is theirs, `share` the part of the query they are."""

    session_pk: int
    conversation_pk: int
    worth: float
    share: float


class Candidate(NamedTuple):
    """A conversation with what it is worth; `messages` are best first."""

    conversation_pk: int
    total: float
    messages: Sequence[Scored]
    title: Title | None


def rank_conversations(connection: Connection, ranking: Ranking, plan: Plan, scope: Scope) -> list[Candidate]:
    """All conversations in the ranking or with a title that matches, best first; ties by time of the best message."""
    scored = score_conversations(ranking.scored, ranking.scale)
    titles = matching_titles(connection, plan, scope, ranking.scale.worth)
    best = max((each.total for each in scored.values()), default=0.0)
    none = ConversationScore(0.0, ())
    candidates = [
        _candidate(key, scored.get(key, none), titles.get(key), best) for key in dict.fromkeys((*scored, *titles))
    ]
    return sorted(candidates, key=_order)


def by_first_message(scored: Sequence[Scored]) -> list[Candidate]:
    """The conversations of messages, each in the place of its first."""
    groups: dict[int, list[Scored]] = {}
    for each in scored:
        groups.setdefault(each.found.conversation_pk, []).append(each)
    return [Candidate(key, members[0].total, members, None) for key, members in groups.items()]


def _candidate(key: int, score: ConversationScore, title: Title | None, best: float) -> Candidate:
    """A title that holds all of the query is worth as much as the best conversation without one, times its weight."""
    extra = TITLE_WEIGHT * max(title.worth, title.share * title.share * best) if title else 0.0
    return Candidate(key, score.total + extra, score.messages, title)


def _order(each: Candidate) -> tuple[float, int, int]:
    newest = max((message.found.created_at for message in each.messages), default=0)
    return -each.total, -newest, -each.conversation_pk


def matching_titles(connection: Connection, plan: Plan, scope: Scope, worth: Sequence[float]) -> dict[int, Title]:
    """The best matching title of each conversation that has one, by its key."""
    pieces = plan.pieces[:MAX_TITLE_PIECES]
    if not pieces:
        return {}
    s = sessions.c
    query = select(s.pk, s.conversation_pk, s.title).where(s.title.is_not(None), or_(*_likes(pieces)))
    query = query.where(*scope.session_conditions).order_by(s.last_active_at.desc(), s.pk).limit(MAX_TITLES)
    if scope.asks_for_messages:
        query = query.where(exists().where(messages.c.session_pk == s.pk, *scope.message_conditions))
    titles: dict[int, Title] = {}
    full = sum(worth[: len(pieces)]) or 1.0
    for pk, conversation_pk, text in connection.execute(query):
        held = _held(text, pieces)
        total = sum(worth[index] for index in held)
        if not held or (not plan.is_open and len(held) < len(pieces)):
            continue
        title = Title(pk, conversation_pk, total, total / full)
        if conversation_pk not in titles or titles[conversation_pk].worth < total:
            titles[conversation_pk] = title
    return titles


def _likes(pieces: Iterable[Piece]) -> Iterable[ColumnElement[bool]]:
    """What SQL can tell of a title: it holds the needle of some piece, whatever the case of English letters."""
    return (
        sessions.c.title.ilike(f"%{_escaped(needle)}%", escape="\\") for piece in pieces for needle in piece.needles
    )


def _escaped(needle: str) -> str:
    return needle.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _held(title: str, pieces: Sequence[Piece]) -> list[int]:
    text = FoldedText(title)
    return [index for index, piece in enumerate(pieces) if any(any(find_term(text, term)) for term in piece.node.exact)]


def present_conversations(
    connection: Connection,
    plan: Plan,
    ranking: Ranking,
    candidates: Sequence[Candidate],
    *,
    context: int,
    explain: bool,
) -> list[ConversationHit]:
    """The records of conversations, in their order."""
    shown = [message for each in candidates for message in each.messages[:SHOWN_HITS]]
    firsts = {each.messages[0].found.id for each in candidates if each.messages}
    why = ranking.why if explain else None
    found = present(connection, plan, shown, context=context, texts=ranking.texts, explain=why, context_of=firsts)
    hits = {hit.message_id: hit for hit in found}
    pks = [_session_pk(each) for each in candidates]
    facts = load_sessions(connection, pks)
    return [_record(each, facts[pk], hits) for each, pk in zip(candidates, pks, strict=True) if pk in facts]


def _session_pk(each: Candidate) -> int:
    if each.messages:
        return each.messages[0].found.session_pk
    assert each.title is not None
    return each.title.session_pk


def _record(each: Candidate, facts: SessionFacts, hits: Mapping[int, MessageHit]) -> ConversationHit:
    shown = tuple(hits[message.found.id] for message in each.messages[:SHOWN_HITS] if message.found.id in hits)
    return ConversationHit(
        conversation_id=facts.tip_id or facts.id,
        session_id=facts.id,
        title=facts.tip_title or facts.title,
        source=facts.source,
        score=each.total,
        started_at=from_us(facts.started_at),
        last_active_at=from_us(facts.last_active_at),
        hits=shown,
        hit_count=len(each.messages),
        snippet=shown[0].snippet if shown else "",
        context=shown[0].context if shown else (),
        model=facts.model,
        parent_id=facts.parent_id,
        relation=Relation(facts.relation) if facts.relation else None,
        is_archived=bool(facts.archived),
        title_matches=each.title is not None,
    )
