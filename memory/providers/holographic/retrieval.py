"""Search: facts that answer a question, best first. Candidates come from the index, vectors only weigh them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sqlalchemy import select

from hermes_state.clock import now_us
from hermes_state.engine.match import match_expression
from hermes_state.schema import fact_vectors, facts
from hermes_state.search.candidates import gather
from hermes_state.search.rank import Scale, best_by_mask, worth, worth_of_mask
from memory.providers.holographic import algebra, relevance, state
from memory.providers.holographic.analysis import tag_tokens, tokens
from memory.providers.holographic.question import Question, ask
from memory.providers.holographic.records import EVERYTHING, Hit, Scope
from memory.providers.holographic.relevance import GATE, Signals, Weights
from memory.providers.holographic.rows import fact_of, visible
from memory.providers.holographic.vector_codec import unpack_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from sqlalchemy import ColumnElement, Connection

    from hermes_state.search.candidates import Pool
    from hermes_state.text.query import Node
    from memory.providers.holographic.store import FactStore

# Candidates whose texts and vectors are looked at: the best ones by what the index knows of them.
WEIGHED = 120
DEFAULT_MIN_TRUST = 0.3
_f, _v = facts.c, fact_vectors.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How facts are weighed.

    Attributes:
        gate: the least relevance, 0 to 1.
        half_life_days: after which a fact counts a half; 0: never.
    """

    weights: Weights = relevance.DEFAULT_WEIGHTS
    gate: float = GATE
    half_life_days: float = 0.0


class Candidate(NamedTuple):
    """A row of `facts` with its vector, if it has one."""

    row: Any
    dim: int
    parts: int
    phases: bytes | None


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
        gate: float | None = None,
    ) -> list[Hit]:
        """Facts that answer a question, best first; none when none does.

        Args:
            text: plain words in any script.
            min_trust: facts trusted less are left out.
            gate: the least relevance; None: that of the settings.

        Raises:
            SearchUnavailable: see `FactIndex.ensure`.
        """
        question = ask(text)
        if question.is_empty or limit <= 0:
            return []
        store = self._store
        store.index.ensure()
        conditions = [*visible(scope, category=category), _f.trust >= min_trust]
        with store.engine.read() as connection:
            hits = self._weigh(connection, question, conditions, self.settings.gate if gate is None else gate)
        hits = hits[:limit]
        store.retrieved.note(hit.fact.id for hit in hits)
        return hits

    def _weigh(
        self, connection: Connection, question: Question, conditions: Sequence[ColumnElement[bool]], gate: float
    ) -> list[Hit]:
        newest = state.read(connection).newest
        pool, found = self._candidates(connection, question, conditions, newest)
        if not found:
            return []
        scale = Scale(tuple(worth(count, newest) for count in pool.counts), 1.0)
        signals = weigh(question, found, pool.masks, scale)
        return self.ranked(found, signals, gate)

    def _candidates(
        self, connection: Connection, question: Question, conditions: Sequence[ColumnElement[bool]], newest: int
    ) -> tuple[Pool, list[Candidate]]:
        """The best candidates by their words. Looked for among the visible facts only where many are hidden."""
        for filters in ((), conditions):
            pool = gather(_Matches(self._store, connection, filters), question.plan, newest)
            scale = Scale(tuple(worth(count, newest) for count in pool.counts), 1.0)
            best = best_by_mask(pool.masks, scale, WEIGHED)
            found = load(connection, best, conditions)
            if len(found) * 2 >= len(best):
                break
        return pool, found

    def ranked(self, found: Sequence[Candidate], signals: Sequence[Signals], gate: float) -> list[Hit]:
        """What passes the gate, best first."""
        now, settings = now_us(), self.settings
        hits = []
        for candidate, each in zip(found, signals, strict=True):
            value = settings.weights.mean(each)
            if value < gate:
                continue
            fact = fact_of(candidate.row)
            score = value * fact.trust * relevance.decay(now - candidate.row.updated_at, settings.half_life_days)
            hits.append(Hit(fact, score, value, (each.fulltext, each.overlap, each.vectors or 0.0)))
        hits.sort(key=lambda hit: (-hit.score, -hit.relevance, -hit.fact.id))
        return hits


class _Matches:
    """Where `gather` reads its lists: the index of facts."""

    def __init__(self, store: FactStore, connection: Connection, conditions: Sequence[ColumnElement[bool]]) -> None:
        self._index = store.index
        self._connection = connection
        self._conditions = conditions

    def matches(self, node: Node, *, below: int | None = None, limit: int) -> list[int]:
        """The highest ids of facts that meet the node, below an id, in falling order."""
        return self._index.matches(
            self._connection, match_expression(node), conditions=self._conditions, below=below, limit=limit
        )

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
    found = {row.pk: Candidate(row, row.dim or 0, row.parts or 1, row.phases) for row in connection.execute(query)}
    return [found[pk] for pk in wanted if pk in found]


def weigh(question: Question, found: Sequence[Candidate], masks: Mapping[int, int], scale: Scale) -> list[Signals]:
    """The three signals of each candidate."""
    full = worth_of_mask((1 << len(scale.worth)) - 1, scale) or 1.0
    asked = set(question.tokens)
    near = content_similarities(found, question.tokens)
    signals = []
    for candidate, similarity in zip(found, near, strict=True):
        row = candidate.row
        told = {*tokens(row.content), *(tag_tokens(row.tags) if row.tags else ())}
        vectors = None if np.isnan(similarity) else float(similarity)
        signals.append(Signals(worth_of_mask(masks[row.pk], scale) / full, relevance.overlap(asked, told), vectors))
    return signals


def content_similarities(found: Sequence[Candidate], words: Sequence[str]) -> NDArray[np.float32]:
    """How like the words each candidate's text is, 0 to 1; NaN for one without a readable vector."""
    return similarities(found, lambda dim: algebra.content_probe(words, dim))


def similarities(found: Sequence[Candidate], probe: Any) -> NDArray[np.float32]:
    """The similarity of each candidate to a probe, as a part of what its own parts have; NaN without a vector.

    Args:
        probe: gives the vector to compare with for a dimension; stores whose dimension is being changed have several.
    """
    result = np.full(len(found), np.nan, np.float32)
    for dim in {candidate.dim for candidate in found if candidate.phases is not None}:
        places = [i for i, candidate in enumerate(found) if candidate.dim == dim]
        rows, readable = unpack_rows([found[i].phases for i in places], dim)
        near = algebra.similarities(rows, probe(dim))
        near /= np.array([algebra.part_similarity(found[i].parts) for i in places], np.float32)
        near[~readable] = np.nan
        result[places] = np.clip(near, 0.0, 1.0)
    return result
