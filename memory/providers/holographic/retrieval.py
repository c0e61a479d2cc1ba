"""Search: facts that answer a question, best first. Candidates come from the index, vectors only weigh them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sqlalchemy import select

from hermes_state.clock import now_us
from hermes_state.schema import fact_vectors, facts
from hermes_state.search.candidates import gather
from hermes_state.search.rank import Scale, best_by_mask, worth, worth_of_mask
from memory.providers.holographic import algebra, entity_table, relevance, state
from memory.providers.holographic.analysis import tag_tokens, tokens
from memory.providers.holographic.entities import mentions
from memory.providers.holographic.question import Question, ask, sentences
from memory.providers.holographic.records import EVERYTHING, Hit, Scope
from memory.providers.holographic.relevance import BESIDE_BEFORE_A_TURN, BESIDE_IN_A_LIST, GATE, Signals, Weights
from memory.providers.holographic.rows import fact_of, visible
from memory.providers.holographic.vector_codec import unpack_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from sqlalchemy import ColumnElement, Connection

    from hermes_state.search.candidates import Pool
    from hermes_state.text.query import Node
    from memory.providers.holographic.store import FactStore

# Candidates whose texts and vectors are looked at: the best ones by what the index knows of them.
WEIGHED = 60
DEFAULT_MIN_TRUST = 0.3
# Similarity to an entity, as a part of what a fact about it has, from which on it is about it.
_HAS = 0.5
_f, _v = facts.c, fact_vectors.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How facts are weighed.

    Attributes:
        gate: the least relevance, 0 to 1.
        beside: the least relevance as a part of the best one's.
        half_life_days: after which a fact counts a half; 0: never.
    """

    weights: Weights = relevance.DEFAULT_WEIGHTS
    gate: float = GATE
    beside: float = BESIDE_IN_A_LIST
    half_life_days: float = 0.0


class Candidate(NamedTuple):
    """A row of `facts` with its vector, if it has one."""

    row: Any
    dim: int
    parts: int
    phases: bytes | None


class Weighed(NamedTuple):
    """A row of `facts` that passed the gate."""

    row: Any
    score: float
    relevance: float
    signals: Signals


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
            kept = self._weigh(connection, question, conditions)
        hits = _best(kept, self.settings.beside if beside is None else beside, limit)
        store.retrieved.note(hit.fact.id for hit in hits)
        return hits

    def recall(
        self, message: str, *, min_trust: float = DEFAULT_MIN_TRUST, limit: int = 5, scope: Scope = EVERYTHING
    ) -> list[Hit]:
        """What is worth remembering for a message: only facts that stand out.

        A long message asks for several things, and its other words would drown each; so the sentences are asked for
        one by one, and a fact is as relevant as to the one that it answers best.

        Raises:
            SearchUnavailable: see `FactIndex.ensure`.
        """
        best: dict[int, Hit] = {}
        for sentence in sentences(message):
            hits = self.search(sentence, min_trust=min_trust, limit=limit, scope=scope, beside=BESIDE_BEFORE_A_TURN)
            for hit in hits:
                known = best.get(hit.fact.id)
                if known is None or known.relevance < hit.relevance:
                    best[hit.fact.id] = hit
        return sorted(best.values(), key=lambda hit: (-hit.score, -hit.fact.id))[:limit]

    def _weigh(
        self, connection: Connection, question: Question, conditions: Sequence[ColumnElement[bool]]
    ) -> list[Weighed]:
        """What passes the gate."""
        newest = state.read(connection).newest
        pool, found = self._candidates(connection, question, conditions, newest)
        if not found:
            return []
        scale = Scale(tuple(worth(count, newest) for count in pool.counts), 1.0)
        named = name_keys(connection, question)
        now, settings, kept = now_us(), self.settings, []
        for candidate, (signals, missing) in zip(found, weigh(question, named, found, pool.masks, scale), strict=True):
            value = settings.weights.mean(signals) * relevance.about_others(missing, len(named))
            if value >= settings.gate:
                row = candidate.row
                age = relevance.decay(now - row.updated_at, settings.half_life_days)
                kept.append(Weighed(row, value * row.trust * age, value, signals))
        return kept

    def _candidates(
        self, connection: Connection, question: Question, conditions: Sequence[ColumnElement[bool]], newest: int
    ) -> tuple[Pool, list[Candidate]]:
        """The best candidates by their words. Looked for among the visible facts only where many are hidden."""
        for filters in ((), conditions):
            pool = gather(_Matches(self._store, connection, filters, newest), question.plan, newest)
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


def _best(kept: list[Weighed], beside: float, limit: int) -> list[Hit]:
    """Best first, without those far behind the most relevant one. How far a fact is trusted changes no relevance."""
    least = beside * max((each.relevance for each in kept), default=0.0)
    near = [each for each in kept if each.relevance >= least]
    near.sort(key=lambda each: (-each.score, -each.relevance, -each.row.pk))
    return [
        Hit(fact_of(row), score, value, (signals.fulltext, signals.overlap, signals.vectors or 0.0))
        for row, score, value, signals in near[:limit]
    ]


def name_keys(connection: Connection, question: Question) -> dict[str, list[str]]:
    """The names that a question has, each with the keys of the entity that it means."""
    known = entity_table.resolve(connection, [entity.key for entity in question.entities])
    return {
        entity.name: list(dict.fromkeys([entity.key, *(entity_table.called(connection, pk)[0] if pk else ())]))
        for entity in question.entities
        for pk in [known.get(entity.key)]
    }


def weigh(
    question: Question,
    named: Mapping[str, list[str]],
    found: Sequence[Candidate],
    masks: Mapping[int, int],
    scale: Scale,
) -> Iterator[tuple[Signals, int]]:
    """The three signals of each candidate, and how many of the question's names are not in it."""
    full = worth_of_mask((1 << len(scale.worth)) - 1, scale) or 1.0
    shares = {mask: worth_of_mask(mask, scale) / full for mask in {masks[each.row.pk] for each in found}}
    asked = set(question.tokens)
    content = similarities(found, lambda dim: algebra.content_probe(question.tokens, dim))
    about = [entity_similarities(found, keys) for keys in named.values()]
    vectors = np.mean([content, *about], axis=0).tolist()
    for place, candidate in enumerate(found):
        row = candidate.row
        told = {*tokens(row.content), *(tag_tokens(row.tags) if row.tags else ())}
        near = None if np.isnan(vectors[place]) else vectors[place]
        missing = sum(
            not (each[place] >= _HAS or mentions(row.content, name)) for name, each in zip(named, about, strict=True)
        )
        yield Signals(shares[masks[row.pk]], relevance.overlap(asked, told), near), missing


def entity_similarities(found: Sequence[Candidate], keys: Iterable[str]) -> NDArray[np.float32]:
    """How far each candidate is about an entity with these keys, 0 to 1; NaN for one without a readable vector."""
    best = np.full(len(found), np.nan, np.float32)
    for key in keys:
        best = np.fmax(best, similarities(found, partial(algebra.entity_probe, key)))
    return best


def similarities(found: Sequence[Candidate], probe: Callable[[int], algebra.Phases]) -> NDArray[np.float32]:
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
