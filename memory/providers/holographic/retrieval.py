"""Search: facts that answer a question, best first. Candidates come from the index, vectors only weigh them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select

from hermes_state.clock import now_us
from hermes_state.schema import fact_vectors, facts
from hermes_state.search.candidates import gather
from hermes_state.search.rank import Scale, best_by_mask, worth
from memory.providers.holographic import relevance, state
from memory.providers.holographic.comparing import Candidate
from memory.providers.holographic.question import Question, ask, ask_each, sentences
from memory.providers.holographic.records import EVERYTHING, Hit, Scope
from memory.providers.holographic.relevance import (
    BESIDE_BEFORE_A_TURN,
    BESIDE_IN_A_LIST,
    BESIDE_WITH_ALL_WORDS,
    GATE,
    GATE_OF_A_LIST,
    Signals,
    Weights,
)
from memory.providers.holographic.rows import fact_of, visible
from memory.providers.holographic.weighing import names, weigh

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import ColumnElement, Connection

    from hermes_state.search.candidates import Pool
    from hermes_state.text.query import Node
    from memory.providers.holographic.store import FactStore

# Candidates whose texts and vectors are looked at: the best ones by what the index knows of them.
WEIGHED = 60
# With so many facts that hold the rarer words, the lists of common ones are not read: the best are found already.
ENOUGH = 4 * WEIGHED
DEFAULT_MIN_TRUST = 0.3
# Sentences that may be one question.
MAX_JOINED = 3
_f, _v = facts.c, fact_vectors.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How facts are weighed.

    Attributes:
        gate: the least relevance for recall, 0 to 1; a search has a lower one.
        beside: the least relevance as a part of the best one's.
        half_life_days: after which a fact counts a half; 0: never.
    """

    weights: Weights = relevance.DEFAULT_WEIGHTS
    gate: float = GATE
    beside: float = BESIDE_IN_A_LIST
    half_life_days: float = 0.0


class Weighed(NamedTuple):
    """A row of `facts` that passed the gate."""

    row: Any
    score: float
    relevance: float
    signals: Signals
    left: float


class Retrieval:
    """Search in one store."""

    def __init__(self, store: FactStore, settings: Settings | None = None) -> None:
        self._store = store
        self.settings = settings or Settings()

    def search(
        self,
        text: str,
        *,
        category: str | None = None,
        min_trust: float = DEFAULT_MIN_TRUST,
        limit: int = 10,
        scope: Scope = EVERYTHING,
        beside: float | None = None,
    ) -> list[Hit]:
        """Facts that answer a question, best first; none when none does.

        Args:
            text: plain words in any script.
            min_trust: facts trusted less are left out.
            beside: the least relevance as a part of the best one's; None: that of the settings.

        The gate is lower than before a turn: whoever asks sees what comes near.

        Raises:
            SearchUnavailable: see `FactIndex.ensure`.
        """
        conditions = [*visible(scope, category=category), _f.trust >= min_trust]
        least = self.settings.beside if beside is None else beside
        gate = self.settings.gate * GATE_OF_A_LIST
        hits = self._answer(ask(text), conditions, limit, least, gate)
        self._store.retrieved.note(hit.fact.id for hit in hits)
        return hits

    def recall(
        self, message: str, *, min_trust: float = DEFAULT_MIN_TRUST, limit: int = 5, scope: Scope = EVERYTHING
    ) -> list[Hit]:
        """What is worth remembering for a message: only facts that stand out.

        A long message asks for several things, and its other words would drown each; so the sentences are asked for
        one by one, and a fact is as relevant as to the one that it answers best. "Whom did they hire? Who teaches
        Figma?" may be one question: it is when a fact answers both together better than any answers one of them.

        Raises:
            SearchUnavailable: see `FactIndex.ensure`.
        """
        conditions = [*visible(scope), _f.trust >= min_trust]
        gate = self.settings.gate
        parts = sentences(message)
        questions = ask_each(parts)
        best: dict[int, Hit] = {}
        for question in questions:
            for hit in self._answer(question, conditions, limit, BESIDE_BEFORE_A_TURN, gate):
                known = best.get(hit.fact.id)
                if known is None or known.relevance < hit.relevance:
                    best[hit.fact.id] = hit
        if 1 < len(parts) <= MAX_JOINED:
            whole = self._answer(ask(" ".join(parts)), conditions, limit, BESIDE_BEFORE_A_TURN, gate)
            if whole and whole[0].relevance >= max((hit.relevance for hit in best.values()), default=0.0):
                best = {hit.fact.id: hit for hit in whole}
        found = sorted(best.values(), key=lambda hit: (-hit.score, -hit.fact.id))[:limit]
        self._store.retrieved.note(hit.fact.id for hit in found)
        return found

    def _answer(
        self,
        question: Question,
        conditions: Sequence[ColumnElement[bool]],
        limit: int,
        least: float,
        gate: float,
    ) -> list[Hit]:
        """The best facts for one question, none of them far behind the best."""
        if question.is_empty or limit <= 0:
            return []
        self._store.index.ensure()
        with self._store.engine.read() as connection:
            kept = self._weigh(connection, question, conditions, gate)
        return _best(kept, least, limit)

    def _weigh(
        self,
        connection: Connection,
        question: Question,
        conditions: Sequence[ColumnElement[bool]],
        gate: float,
    ) -> list[Weighed]:
        """What passes the gate."""
        newest = state.read(connection).newest
        pool, found = self._candidates(connection, question, conditions, newest)
        if not found:
            return []
        scale = Scale(tuple(worth(count, newest) for count in pool.counts), 1.0)
        named = names(connection, question)
        now, settings, kept = now_us(), self.settings, []
        weighed = weigh(question, named, found, pool, scale, with_vectors=settings.weights.vectors > 0)
        for candidate, (signals, against) in zip(found, weighed, strict=True):
            value = settings.weights.mean(signals) * against.left
            if value >= gate:
                row = candidate.row
                age = relevance.decay(now - row.updated_at, settings.half_life_days)
                kept.append(Weighed(row, value * row.trust * age, value, signals, against.left))
        return kept

    def _candidates(
        self, connection: Connection, question: Question, conditions: Sequence[ColumnElement[bool]], newest: int
    ) -> tuple[Pool, list[Candidate]]:
        """The best candidates by their words. Looked for among the visible facts only where many are hidden."""
        for filters in ((), conditions):
            pool = gather(_Matches(self._store, connection, filters, newest), question.plan, newest, enough=ENOUGH)
            scale = Scale(tuple(worth(count, newest) for count in pool.counts), 1.0)
            best = best_by_mask(pool.masks, scale, WEIGHED)
            found = load(connection, best, conditions)
            if len(found) * 2 >= len(best):
                break
        return pool, found


class _Matches:
    """Where `gather` reads its lists: the index of facts."""

    def __init__(
        self, store: FactStore, connection: Connection, conditions: Sequence[ColumnElement[bool]], documents: int
    ) -> None:
        self.documents = documents
        self._index = store.index
        self._connection = connection
        self._conditions = conditions

    def matches(self, node: Node, *, below: int | None = None, limit: int) -> list[int]:
        """The highest ids of facts that meet the node, below an id, in falling order."""
        return self._index.matches(self._connection, node, conditions=self._conditions, below=below, limit=limit)

    def spelled_out(self, node: Node) -> Node:
        """Facts are few enough to let FTS5 merge the lists of a prefix."""
        return node


def load(connection: Connection, pks: Iterable[int], conditions: Sequence[ColumnElement[bool]] = ()) -> list[Candidate]:
    """Facts with their vectors, in the order of the keys; those that do not meet the conditions are left out."""
    wanted = list(pks)
    query = (
        select(facts, _v.dim, _v.parts, _v.phases)
        .outerjoin(fact_vectors, _v.fact_pk == _f.pk)
        .where(_f.pk.in_(wanted), *conditions)
    )
    found = {
        row.pk: Candidate(row, row.dim or 0, row.parts or 1, row.phases) for row in connection.execute(query).all()
    }
    return [found[pk] for pk in wanted if pk in found]


def _is_near(one: Weighed, top: Weighed, beside: float) -> bool:
    """Whether it answers nearly as well as the best. One that has all the same words does, however long it is."""
    if one.relevance >= beside * top.relevance:
        return True
    has_as_much = one.left >= top.left and one.signals.fulltext >= top.signals.fulltext
    return has_as_much and one.relevance >= BESIDE_WITH_ALL_WORDS * top.relevance


def _best(kept: list[Weighed], beside: float, limit: int) -> list[Hit]:
    """Best first, without those far behind the most relevant one. How far a fact is trusted changes no relevance."""
    top = max(kept, key=lambda each: each.relevance, default=None)
    near = [each for each in kept if top is not None and _is_near(each, top, beside)]
    near.sort(key=lambda each: (-each.score, -each.relevance, -each.row.pk))
    return [
        Hit(fact_of(row), score, value, (signals.fulltext, signals.overlap, signals.vectors or 0.0))
        for row, score, value, signals, _ in near[:limit]
    ]
