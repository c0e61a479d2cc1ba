"""One search by relevance: candidates from the index, what they are worth, and the best of them looked at closely."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from hermes_state.engine import fts, lookups
from hermes_state.schema import messages, sessions
from hermes_state.search import dates
from hermes_state.search.candidates import gather
from hermes_state.search.fusion import FUSED, fuse
from hermes_state.search.rank import (
    DEFAULT_WEIGHTS,
    Found,
    Scale,
    Scored,
    best_by_mask,
    first_scores,
    parts_of,
    refine,
    scored_of,
    settle,
    worth,
)
from hermes_state.search.records import Explanation, PieceScore, Why
from hermes_state.search.sources import IndexSource, TailSource
from hermes_state.search.texts import Look, load_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlalchemy import Connection

    from hermes_state.index import Mark
    from hermes_state.search.candidates import Pool
    from hermes_state.search.fusion import Ranker
    from hermes_state.search.plan import Piece, Plan
    from hermes_state.search.rank import Evidence, Weights
    from hermes_state.search.scope import Scope
    from hermes_state.search.texts import Text


class Depth(NamedTuple):
    """How many candidates are looked at, step by step, each step closer than the one before.

    Attributes:
        listed: Taken from the index where all must meet one condition: the newest ones.
        measured: Their length is looked up: 0.5 ms per 1,000. Where all hold the same words, they are the newest ones.
        scored: Scored with their place, role, source and neighbours: 3 ms per 1,000.
        read: Their text is read.
    """

    listed: int
    measured: int
    scored: int
    read: int


# A page of messages, at the least cost.
PAGE = Depth(60, 40, 40, 20)
# Conversations are judged by several messages each.
WIDE = Depth(200, 150, 60, 20)
# With optional words more are needed, since the neighbours that hold some of them carry evidence: with 100 scored the
# public conversations lose 3 points of recall, beyond 500 they gain 1. Reading more than 30 changes nothing measurable.
OPEN = Depth(0, 2_000, 500, 30)
# With fewer visible candidates than this, hidden ones are filtered out while collecting and not after.
_FEW_VISIBLE = 20


class Corpus(NamedTuple):
    """What a search may read.

    Attributes:
        mark: Where the index stands.
        has_index: Whether it can be asked; else every message is read.
    """

    connection: Connection
    mark: Mark
    has_index: bool

    @property
    def is_complete(self) -> bool:
        """Whether the index holds every message, and is not being built anew."""
        return self.has_index and self.mark.newest <= self.mark.indexed_through and self.mark.rebuild_from is None

    @property
    def above(self) -> int:
        """Messages with a higher id are not in the index."""
        return self.mark.indexed_through if self.has_index else 0

    def source(self, plan: Plan, scope: Scope, *, is_filtered: bool) -> IndexSource | TailSource:
        """Where to read lists of matches."""
        index = IndexSource(self.connection, scope, is_filtered=is_filtered) if self.has_index else None
        if index is not None and self.mark.newest <= self.above:
            return index
        nodes = [
            node for node in (plan.node, plan.excluded, *(piece.node for piece in plan.pieces)) if node is not None
        ]
        return TailSource(self.connection, scope, nodes, self.above, index)


@dataclass(slots=True)
class Ranking:
    """The outcome: messages best first, and what explains them."""

    scored: list[Scored] = field(default_factory=list)
    scale: Scale = field(default_factory=lambda: Scale((), 1.0))
    pool: Pool | None = None
    plan: Plan | None = None
    texts: dict[int, Text] = field(default_factory=dict)
    is_whole: bool = True
    scanned: int = 0

    def explainer(self) -> Callable[[], Explanation]:
        """Tells how it went, as often as asked, and keeps no message for it."""
        pool, plan = self.pool, self.plan
        if pool is None or plan is None:
            return partial(Explanation, scanned=self.scanned)
        facts = (plan.pieces, pool.counts, pool.cut, self.scale.worth, len(pool.masks), self.is_whole, self.scanned)
        return partial(_explanation, *facts)

    def why(self, each: Scored) -> Why:
        """Why a message stands where it does."""
        parts = each.parts or parts_of(each, self.scale)
        told = self.explainer()().pieces
        pieces = tuple(replace(told[index], part=part) for index, part in sorted(parts.items()))
        return Why(own=each.own, factor=each.factor, beside=each.beside, date=each.date, pieces=pieces)


def _explanation(
    pieces: Sequence[Piece],
    counts: Sequence[float],
    cut: frozenset[int],
    worths: Sequence[float],
    candidates: int,
    is_whole: bool,
    scanned: int,
) -> Explanation:
    told = [
        PieceScore(piece=piece.label, messages=round(count), worth=worth_of, part=0.0, is_cut=index in cut)
        for index, (piece, count, worth_of) in enumerate(zip(pieces, counts, worths, strict=True))
    ]
    return Explanation(pieces=tuple(told), candidates=candidates, is_whole=is_whole, scanned=scanned)


def rank(
    corpus: Corpus,
    plan: Plan,
    scope: Scope,
    need: int,
    weights: Weights = DEFAULT_WEIGHTS,
    rankers: Sequence[Ranker] = (),
    depth: Depth = PAGE,
) -> Ranking:
    """The best messages for a plan with a node; at least `need` of them where there are so many.

    Args:
        depth: How closely to look when all hits must meet one condition.
    """
    source = corpus.source(plan, scope, is_filtered=scope.is_narrow)
    ranking, hidden = _rank(corpus, plan, scope, source, need, weights, depth)
    is_short = len(ranking.scored) < max(need, _FEW_VISIBLE)
    if is_short and hidden and not scope.is_narrow:
        ranking, _ = _rank(corpus, plan, scope, corpus.source(plan, scope, is_filtered=True), need, weights, depth)
    if rankers:
        _fuse(corpus, scope, ranking, plan, rankers)
    return ranking


def place(corpus: Corpus, ids: Sequence[int], scope: Scope) -> list[Scored]:
    """Messages in the order given, without scores; those that the scope hides are left out."""
    found = {each.id: each for each in _found(corpus.connection, ids, scope)}
    return [Scored(found[message_id], 0.0, 1.0) for message_id in ids if message_id in found]


def _fuse(corpus: Corpus, scope: Scope, ranking: Ranking, plan: Plan, rankers: Sequence[Ranker]) -> None:
    """Put the messages in the order on which this ranking and the others agree best."""
    known = {each.found.id: each for each in ranking.scored}
    opinions = [(1.0, list(known)), *((each.weight, each.rank(plan.query, FUSED)) for each in rankers)]
    fused = fuse(opinions)
    allowed = set(_allowed(corpus, scope, [message_id for message_id in fused if message_id not in known]))
    known.update({each.found.id: each for each in place(corpus, [i for i in fused if i in allowed], scope)})
    ranking.scored = [known[message_id] for message_id in fused if message_id in known]
    for each in ranking.scored:
        each.total = fused[each.found.id]


def _allowed(corpus: Corpus, scope: Scope, ids: Sequence[int]) -> Iterable[int]:
    query = select(messages.c.id).join(sessions).where(messages.c.id.in_(ids), *scope.conditions)
    return corpus.connection.execute(query).scalars()


def _rank(
    corpus: Corpus,
    plan: Plan,
    scope: Scope,
    source: IndexSource | TailSource,
    need: int,
    weights: Weights,
    depth: Depth,
) -> tuple[Ranking, int]:
    """The ranking, and how many candidates turned out to be hidden."""
    scanned = source.scanned if isinstance(source, TailSource) else 0
    pool = gather(source, plan, corpus.mark.reach, max(need, depth.listed))
    if pool.is_mixed:
        depth = OPEN
    if not pool.masks:
        return Ranking(pool=pool, plan=plan, scale=Scale(_worths(pool, 0), 1.0), scanned=scanned), 0
    tokens = fts.tokens_in(corpus.connection)
    totals = tokens.totals(corpus.connection) if corpus.has_index else fts.Totals(0, 0)
    scale = Scale(_worths(pool, totals.documents + scanned), totals.mean_length, weights)
    order = best_by_mask(pool.masks, scale, max(depth.measured, need))
    measured, limit = order[: depth.measured], depth.scored
    lengths = tokens.lengths(corpus.connection, measured) if corpus.has_index else {}
    if isinstance(source, TailSource):
        lengths.update(source.lengths)
    own = first_scores(measured, pool.masks, lengths, scale)
    order[: depth.measured] = own
    found = _found(corpus.connection, order[:limit], scope)
    hidden = min(limit, len(order)) - len(found)
    scored = scored_of(found, own, pool.masks, lengths, weights)
    is_whole = pool.is_whole and len(pool.masks) <= depth.measured
    ranking = Ranking(scale=scale, pool=pool, plan=plan, is_whole=is_whole, scanned=scanned)
    _settle(corpus.connection, ranking, scored, depth.read)
    if need > len(scored):
        # Deeper pages go on where the scored ones end, so that an answer is the same however it is paged.
        ranking.scored += place(corpus, order[limit : limit + need], scope)
    return ranking, hidden


def _worths(pool: Pool, documents: int) -> tuple[float, ...]:
    return tuple([worth(count, documents) for count in pool.counts])


def _found(connection: Connection, ids: Iterable[int], scope: Scope) -> list[Found]:
    """The candidates that may be seen, with their places."""
    return list(map(Found._make, lookups.places(connection, ids, with_delegated=scope.shows_children)))


def _dated(plan: Plan) -> Callable[[int], float] | None:
    if not plan.may_name_dates:
        return None
    found = dates.mentions(plan.query.text.strip(), datetime.now().astimezone().date())
    return (lambda created_at: dates.fit(found, created_at)) if found else None


def _settle(connection: Connection, ranking: Ranking, scored: list[Scored], count: int) -> None:
    """Order the messages by what the index knows, read the texts of the best, and order them by what those show."""
    plan, scale = ranking.plan, ranking.scale
    assert plan is not None
    is_dated = _dated(plan)
    best = settle(scored, scale.weights, is_dated)[:count]
    ranking.texts = load_texts(connection, [each.found.id for each in best])
    # Nothing is looked up for words without a subject. The texts read tell roughly how common they are.
    look = Look(plan)
    shown = [look.at(ranking.texts[each.found.id].folded) for each in best]
    stop_worth = [worth(sum(index in each.stops for each in shown), len(shown)) for index in range(len(plan.stops))]
    for each, what in zip(best, shown, strict=True):
        each.mask |= _seen(ranking, what)
        refine(each, what, scale, stop_worth, len(plan.characters))
    ranking.scored = settle(scored, scale.weights, is_dated)


def _seen(ranking: Ranking, shown: Evidence) -> int:
    """The words a text shows whose lists may have been cut off before this message."""
    assert ranking.pool is not None
    return sum([1 << index for index in ranking.pool.cut if index in shown.repeats])
