"""One page of an answer: by relevance or by time, of messages or of conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hermes_state.errors import InvalidValue
from hermes_state.search.conversations import by_first_message, present_conversations, rank_conversations
from hermes_state.search.plan import together
from hermes_state.search.present import present
from hermes_state.search.ranking import PAGE, WIDE, Ranking, place, rank
from hermes_state.search.records import ConversationHit, Hits, MessageHit
from hermes_state.search.timeline import by_time, everything

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_state.search.fusion import Ranker
    from hermes_state.search.plan import Plan
    from hermes_state.search.rank import Weights
    from hermes_state.search.ranking import Corpus, Depth
    from hermes_state.search.scope import Scope
    from hermes_state.search.timeline import Dated

SORTS = ("relevance", "newest", "oldest")
# Hits in one answer at most; more are on later pages.
MAX_LIMIT = 1_000
# Messages looked at for each conversation of a page by time.
_MESSAGES_PER_CONVERSATION = 20


class Page(NamedTuple):
    """Which part of an answer is wanted, and how."""

    limit: int
    offset: int
    sort: str
    context: int
    explain: bool

    def check(self) -> None:
        """Refuse a page that there is not.

        Raises:
            InvalidValue: A limit, offset, context or sort that there is not.
        """
        if self.sort not in SORTS:
            raise InvalidValue(f"can't sort by {self.sort!r}", hint=f"one of {', '.join(SORTS)}")
        if not 0 <= self.limit <= MAX_LIMIT:
            raise InvalidValue(f"limit can't be {self.limit}", hint=f"0 to {MAX_LIMIT}; more are on later pages")
        if self.offset < 0 or self.context < 0:
            raise InvalidValue("offset and context can't be negative")

    @property
    def end(self) -> int:
        """How many hits there must be for the page to be full."""
        return self.offset + self.limit


class Request(NamedTuple):
    """One search, ready to be answered from a snapshot of the store."""

    corpus: Corpus
    plan: Plan
    scope: Scope
    page: Page
    weights: Weights
    rankers: Sequence[Ranker]


def message_answer(request: Request) -> Hits[MessageHit]:
    """The page of messages."""
    page, plan = request.page, request.plan
    ranking, notes = _ranked(request, page.end)
    chosen = ranking.scored[page.offset : page.end]
    explain = ranking.why if page.explain else None
    hits = present(request.corpus.connection, plan, chosen, context=page.context, texts=ranking.texts, explain=explain)
    return Hits(hits, query=plan.query.text, notes=notes, explain=ranking.explainer())


def conversation_answer(request: Request) -> Hits[ConversationHit]:
    """The page of conversations."""
    page, plan, connection = request.page, request.plan, request.corpus.connection
    if page.sort == "relevance" and plan.node is not None:
        ranking, notes = _ranked(request, page.end, WIDE)
        candidates = rank_conversations(connection, ranking, plan, request.scope)
    else:
        ranking, notes = _ranked(request, page.end * _MESSAGES_PER_CONVERSATION)
        candidates = by_first_message(ranking.scored)
    chosen = candidates[page.offset : page.end]
    hits = present_conversations(connection, plan, ranking, chosen, context=page.context, explain=page.explain)
    return Hits(hits, query=plan.query.text, notes=notes, explain=ranking.explainer())


def _ranked(request: Request, need: int, depth: Depth = PAGE) -> tuple[Ranking, list[str]]:
    """Messages in the order asked for, as many as needed where there are so many; and notes on how they were found."""
    plan, scope, page = request.plan, request.scope, request.page
    notes = [*plan.query.notes, *scope.notes]
    if plan.node is None and plan.excluded is None and not scope.is_narrow:
        return Ranking(), notes
    if plan.node is not None and page.sort == "relevance":
        return rank(request.corpus, plan, scope, need, request.weights, request.rankers, depth), notes
    return _timed(request, need, notes), notes


def _timed(request: Request, need: int, notes: list[str]) -> Ranking:
    """Messages by time. For several optional words these are the ones with all of them, if there are any."""
    corpus, plan, scope, page = request.corpus, request.plan, request.scope, request.page
    source = corpus.source(plan, scope, is_filtered=scope.is_narrow)
    oldest = page.sort == "oldest"
    dated: list[Dated]
    if plan.node is None:
        dated = everything(corpus.connection, source, plan.excluded, scope, need=need, oldest=oldest)
    else:
        find = (corpus, source, scope, need, oldest)
        dated = by_time(*find, together(plan.pieces)) if plan.is_open else []
        if dated:
            notes.append("By time, only messages with all the words are listed; OR between them lists those with any.")
        else:
            dated = by_time(*find, plan.node)
    return Ranking(scored=place(corpus, [each.id for each in dated], scope), plan=plan)
