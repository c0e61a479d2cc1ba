"""`Search`: finding messages and conversations again."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from hermes_state.errors import DiskFull, HermesStateError, ReadOnlyStore
from hermes_state.index import MessageIndex, is_index_fault, mark
from hermes_state.index_zones import all_zones
from hermes_state.search.answers import Page, Request, conversation_answer, message_answer
from hermes_state.search.plan import Plan, make_plan
from hermes_state.search.rank import DEFAULT_WEIGHTS
from hermes_state.search.ranking import Corpus
from hermes_state.search.scope import EVERYTHING, Wanted, make_scope
from hermes_state.search.sources import MAX_SCANNED
from hermes_state.text import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Unpack

    from sqlalchemy import Connection

    from hermes_state.engine import Engine
    from hermes_state.index import Mark
    from hermes_state.search.fusion import Ranker
    from hermes_state.search.rank import Weights
    from hermes_state.search.records import ConversationHit, Hits, MessageHit
    from hermes_state.search.scope import Filters

# Seconds a search spends on bringing the index up to date; what is not in it then is read message by message.
CATCH_UP_S = 2.0
# Seconds of those that it waits for other writers.
LOCK_S = 0.5

_Hit = TypeVar("_Hit")


@lru_cache(maxsize=256)
def _plan(query: str) -> Plan:
    """A person pages through answers and repeats queries; reading one costs as much as a small search."""
    return make_plan(parse(query))


class Search:
    """Search in one store.

    Args:
        weights: The parameters of ranking.
        rankers: Other opinions on what is relevant, such as embeddings; see `hermes_state.search.fusion`.

    Attributes:
        index: The full-text index.
    """

    def __init__(
        self,
        engine: Engine,
        index: MessageIndex | None = None,
        *,
        weights: Weights = DEFAULT_WEIGHTS,
        rankers: Sequence[Ranker] = (),
    ) -> None:
        self._engine = engine
        self.index = index or MessageIndex(engine)
        self._weights = weights
        self._rankers = tuple(rankers)

    def messages(
        self,
        query: str,
        *,
        limit: int = 20,
        offset: int = 0,
        sort: str = "relevance",
        context: int = 1,
        explain: bool = False,
        **filters: Unpack[Filters],
    ) -> Hits[MessageHit]:
        """Messages that answer a query, in the language of `docs/search.md`. Never raises for any query text.

        What was rewound is never found; what was compacted is. Every filter holds before the limit is applied.

        Args:
            limit, offset: A page.
            sort: `relevance`, `newest` or `oldest`. By time, a query of several words lists the messages with all of
                them; only if there are none, those with any.
            context: Messages to show on each side of a hit, from its own session.
            explain: Say for each hit why it stands where it does.
            filters: As `hermes_state.search.scope.Wanted`: role, source, exclude_sources, session,
                exclude_conversation, tool, model, cwd, title, after, before, include_children, include_archived.

        Raises:
            InvalidValue: A limit, offset, context or sort that there is not.
            SessionNotFound, Ambiguous: `session` or `exclude_conversation` names no session, or several.
        """
        page = Page(limit, offset, sort, context, explain)
        return self._answer(query, page, Wanted(**filters) if filters else EVERYTHING, message_answer)

    def conversations(
        self,
        query: str,
        *,
        limit: int = 10,
        offset: int = 0,
        sort: str = "relevance",
        context: int = 1,
        explain: bool = False,
        **filters: Unpack[Filters],
    ) -> Hits[ConversationHit]:
        """Conversations that answer a query, each once, with their best messages. Titles count.

        All segments of a compressed conversation are one; `conversation_id` is the session to resume.

        Args, Raises: As `messages`; `context` is around the best message.
        """
        page = Page(limit, offset, sort, context, explain)
        return self._answer(query, page, Wanted(**filters) if filters else EVERYTHING, conversation_answer)

    def rebuild(self, *, progress: Callable[[int, int], object] | None = None) -> None:
        """Build the index anew from the messages; see `MessageIndex.rebuild`."""
        self.index.rebuild(progress=progress)

    def _answer(self, query: str, page: Page, wanted: Wanted, answer: Callable[[Request], Hits[_Hit]]) -> Hits[_Hit]:
        """Answer from one snapshot of the store; when the index turns out to be damaged, once more without it."""
        page.check()
        plan = _plan(query)
        try:
            return self._answer_once(plan, page, wanted, answer)
        except HermesStateError as error:
            if not is_index_fault(error):
                raise
            self.index.report_damage(error)
            return self._answer_once(plan, page, wanted, answer)

    def _answer_once(
        self, plan: Plan, page: Page, wanted: Wanted, answer: Callable[[Request], Hits[_Hit]]
    ) -> Hits[_Hit]:
        with self._engine.read() as connection:
            stand = mark(connection)
            if stand.is_current and stand.rebuild_from is None:
                return self._from_snapshot(connection, stand, plan, page, wanted, answer)
        with suppress(DiskFull, ReadOnlyStore):  # then what is not in the index is read message by message
            self.index.try_catch_up(budget_s=CATCH_UP_S, lock_budget_s=LOCK_S)
        with self._engine.read() as connection:
            return self._from_snapshot(connection, mark(connection), plan, page, wanted, answer)

    def _from_snapshot(
        self,
        connection: Connection,
        stand: Mark,
        plan: Plan,
        page: Page,
        wanted: Wanted,
        answer: Callable[[Request], Hits[_Hit]],
    ) -> Hits[_Hit]:
        corpus = Corpus(connection, stand, self._can_ask(stand))
        scope = make_scope(connection, wanted, plan.query.filters)
        if corpus.has_index and (scope.after_us is not None or scope.before_us is not None):
            scope.within(all_zones(connection))
        hits = answer(Request(corpus, plan, scope, page, self._weights, self._rankers))
        if not corpus.is_complete:
            hits.degraded = tuple(self._degraded(corpus, hits.explanation.scanned))
        return hits

    def _can_ask(self, stand: Mark) -> bool:
        """Whether the index can be asked. A damaged one that may not be written anew is as good as none."""
        is_broken = bool(self.index.damage) and self._engine.read_only
        return stand.is_usable and not is_broken and self.index.is_available

    def _degraded(self, corpus: Corpus, scanned: int) -> list[str]:
        reasons: list[str] = []
        if not self.index.is_available:
            reasons.append("This SQLite was built without FTS5: there is no index, and messages were read one by one.")
        elif not corpus.has_index:
            reasons.append(
                f"There is no usable index ({self.index.damage or 'none yet'}): messages were read one by one."
            )
        elif corpus.mark.rebuild_from is not None:
            reasons.append(f"The index is being built anew ({self.index.damage or 'on request'}).")
        if scanned and corpus.has_index:
            reasons.append(f"{scanned} messages are not in the index yet and were read one by one.")
        if scanned > MAX_SCANNED:
            reasons.append(f"Only the newest {MAX_SCANNED} of those messages were read.")
        return reasons
