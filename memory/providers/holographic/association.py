"""Facts by the entities they are about: probe, related, reason. Exact first; what is only reachable is marked as such.

Which facts name an entity is known from the links that were made when they were stored, and from the full-text index
for names that no extractor can know (a Chinese name without context, a plain word). Vectors then say how much a fact is
about the entity: a fact is the bundle of its text and its entities, so the fewer it has the more it is like each.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sqlalchemy import select

from hermes_state.clock import now_us
from hermes_state.errors import InvalidValue, SearchUnavailable
from hermes_state.schema import fact_entities, facts
from memory.providers.holographic import algebra, entity_table, linked, relevance
from memory.providers.holographic.comparing import Vectors
from memory.providers.holographic.entities import normalise
from memory.providers.holographic.records import EVERYTHING, Hit, Scope
from memory.providers.holographic.retrieval import load
from memory.providers.holographic.rows import fact_of, visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from sqlalchemy import ColumnElement, Connection

    from memory.providers.holographic.comparing import Candidate
    from memory.providers.holographic.store import FactStore

# Entities that connect two others which are followed, those with the fewest facts first.
BRIDGES = 8
# What a fact is worth that is only reached over a shared entity, beside one that names what was asked for.
REACHED = 0.3
_MOST_ENTITIES = 8
# Facts that may wait to be banked when an answer asks a bank by the way.
_BANK_BEHIND = 200
_f, _l = facts.c, fact_entities.c


class Neighbour(NamedTuple):
    """An entity that shares facts with another, and how many."""

    name: str
    facts: int


class Association:
    """Entity queries in one store.

    Args:
        half_life_days: after which a fact counts a half; 0: never.
    """

    def __init__(self, store: FactStore, half_life_days: float = 0.0) -> None:
        self._store = store
        self._half_life_days = half_life_days

    def probe(
        self, entity: str, *, category: str | None = None, limit: int = 10, scope: Scope = EVERYTHING
    ) -> list[Hit]:
        """The facts about an entity, in whatever script or case its name is given; those most about it first.

        Raises:
            InvalidValue: no name was given.
        """
        conditions = visible(scope, category=category)
        with self._reading() as connection:
            known = linked.know(connection, entity)
            hits = self._about(connection, known, conditions, limit)
        self._store.retrieved.note(hit.fact.id for hit in hits)
        return hits

    def related(
        self, entity: str, *, category: str | None = None, limit: int = 10, scope: Scope = EVERYTHING
    ) -> tuple[list[Hit], list[Neighbour]]:
        """The facts about an entity, then those about entities that share facts with it (`Hit.via` says which).

        Returns:
            The facts, and the entities that share facts with it, those with most first.
        """
        conditions = visible(scope, category=category)
        with self._reading() as connection:
            known = linked.know(connection, entity)
            hits = self._about(connection, known, conditions, limit)
            direct = {hit.fact.id for hit in hits}
            around = linked.around(connection, known)
            names = entity_table.names_of(connection, around)
            neighbours = [Neighbour(names[pk], count) for pk, count in around.most_common() if pk in names]
            for pk, _ in around.most_common(BRIDGES):
                if len(hits) >= limit:
                    break
                hits += self._reached(connection, pk, names[pk], conditions, direct, limit - len(hits))
        self._store.retrieved.note(hit.fact.id for hit in hits)
        return hits, neighbours

    def reason(
        self,
        entities: Sequence[str],
        *,
        category: str | None = None,
        limit: int = 10,
        scope: Scope = EVERYTHING,
    ) -> list[Hit]:
        """What connects some entities: the facts about all of them, then about several, then over a shared entity.

        A fact of the last kind has `Hit.via`: it is about one of them and another entity, which also shares a fact
        with another one of them.

        Raises:
            InvalidValue: no names, or more than 8.
        """
        if not 1 <= len(entities) <= _MOST_ENTITIES:
            raise InvalidValue(f"reason takes 1 to {_MOST_ENTITIES} entities, not {len(entities)}")
        conditions = visible(scope, category=category)
        with self._reading() as connection:
            known = [linked.know(connection, each) for each in dict.fromkeys(entities)]
            hits = self._shared(connection, known, conditions, limit)
            if len(hits) < limit and len(known) > 1:
                shown = {hit.fact.id for hit in hits}
                hits += self._bridged(connection, known, conditions, shown, limit - len(hits))
        self._store.retrieved.note(hit.fact.id for hit in hits)
        return hits

    def bank_answer(self, entity: str, category: str | None) -> dict[str, Any]:
        """What the category's bank says it knows about an entity, for the end of a probe's answer; {} without one."""
        recall = category and self._store.banks.recall(category, normalise(entity), most_behind=_BANK_BEHIND)
        if not recall:
            return {}
        snr = round(recall.snr, 2) if np.isfinite(recall.snr) else None
        return {"bank": {"facts": [fact for fact, _ in recall.facts], "snr": snr, "reliable": recall.reliable}}

    # --- what is asked for ---------------------------------------------------------------------------------------

    def _reading(self) -> AbstractContextManager[Connection]:
        try:
            self._store.index.ensure()
        except SearchUnavailable:
            if not self._store.engine.read_only:
                raise
        return self._store.engine.read()

    def _about(
        self, connection: Connection, known: linked.Known, conditions: Sequence[ColumnElement[bool]], limit: int
    ) -> list[Hit]:
        found = load(connection, linked.facts_of(connection, known, conditions, limit), conditions)
        return self._ranked(found, _aboutness(found, [known]), [1.0] * len(found), limit)

    def _shared(
        self,
        connection: Connection,
        known: Sequence[linked.Known],
        conditions: Sequence[ColumnElement[bool]],
        limit: int,
    ) -> list[Hit]:
        """Facts about all of the entities, then about at least two."""
        if len(known) == 1:
            return self._about(connection, known[0], conditions, limit)
        counts = dict.fromkeys(linked.facts_of_all(connection, known, conditions, limit), len(known))
        if len(known) > 2 and len(counts) < limit:
            for pair in combinations(known, 2):
                for fact in linked.facts_of_all(connection, pair, conditions, limit):
                    counts.setdefault(fact, 2)
        found = load(connection, list(counts)[: max(limit, linked.LOOKED_AT)], conditions)
        shares = [counts[candidate.row.pk] / len(known) for candidate in found]
        return self._ranked(found, _aboutness(found, known), shares, limit)

    def _ranked(
        self, found: Sequence[Candidate], about: Sequence[float], shares: Sequence[float], limit: int, via: str = ""
    ) -> list[Hit]:
        """Facts by what share of the entities they are about, then by how much, trust and age.

        The share comes first whatever the trust: a fact about all that was asked for is never behind one about less.
        """
        now = now_us()
        ranked = []
        for candidate, near, share in zip(found, about, shares, strict=True):
            row, value = candidate.row, share * (0.5 + 0.5 * near)
            score = value * row.trust * relevance.decay(now - row.updated_at, self._half_life_days)
            ranked.append((-share, -score, -row.pk, value, near, row))
        ranked.sort(key=lambda each: each[:3])
        return [
            Hit(fact_of(row), -score, value, (0.0, 0.0, near), via) for _, score, _, value, near, row in ranked[:limit]
        ]

    # --- what is reached -----------------------------------------------------------------------------------------

    def _reached(
        self,
        connection: Connection,
        pk: int,
        name: str,
        conditions: Sequence[ColumnElement[bool]],
        shown: set[int],
        limit: int,
    ) -> list[Hit]:
        """Facts about another entity."""
        query = (
            select(_l.fact_pk)
            .join(facts, _f.pk == _l.fact_pk)
            .where(_l.entity_pk == pk, *conditions)
            .order_by(_l.fact_pk.desc())
            .limit(limit + len(shown))
        )
        wanted = [fact for fact in connection.execute(query).scalars() if fact not in shown][:limit]
        shown.update(wanted)
        return self._over(connection, wanted, conditions, name)

    def _over(
        self, connection: Connection, wanted: Sequence[int], conditions: Sequence[ColumnElement[bool]], name: str
    ) -> list[Hit]:
        """Facts that are reached over an entity with this name."""
        found = load(connection, wanted, conditions)
        return self._ranked(found, [0.0] * len(found), [REACHED] * len(found), len(found), via=name)

    def _bridged(
        self,
        connection: Connection,
        known: Sequence[linked.Known],
        conditions: Sequence[ColumnElement[bool]],
        shown: set[int],
        limit: int,
    ) -> list[Hit]:
        """Facts about one of the entities and another, which also shares a fact with another one of them."""
        sides = [(each.pk, linked.around(connection, each)) for each in known if each.pk is not None]
        own = {pk for pk, _ in sides}
        reached = Counter(pk for _, around in sides for pk in around if pk not in own)
        weight = {pk: sum(around[pk] for _, around in sides) for pk, times in reached.items() if times > 1}
        rarest = sorted(weight, key=lambda pk: (-reached[pk], weight[pk], pk))[:BRIDGES]
        names = entity_table.names_of(connection, rarest)
        hits: list[Hit] = []
        for bridge in rarest:
            room = limit - len(hits)
            if room <= 0:
                break
            pairs = [linked.linked_to_both(connection, pk, bridge, conditions, room) for pk, _ in sides]
            # In turns, so that both ends of the bridge are there before more of one.
            wanted = [fact for turn in zip_longest(*pairs) for fact in turn if fact is not None and fact not in shown]
            wanted = list(dict.fromkeys(wanted))[:room]
            shown.update(wanted)
            hits += self._over(connection, wanted, conditions, names[bridge])
        return hits


def _aboutness(found: Sequence[Candidate], known: Sequence[linked.Known]) -> list[float]:
    """How much each fact is about the entities, 0 to 1: the mean similarity that is left of each in its bundle."""
    if not found:
        return []
    vectors = Vectors(found)
    near = [np.nan_to_num(vectors.about(each.keys)) for each in known]
    parts = np.array([algebra.part_similarity(candidate.parts) for candidate in found], np.float32)
    return [float(value) for value in np.mean(near, axis=0) * parts]
