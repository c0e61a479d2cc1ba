"""Facts by the entities they are about: probe, related, reason. Exact first; what is only reachable is marked as such.

Which facts name an entity is known from the links that were made when they were stored, and from the full-text index
for names that no extractor can know (a Chinese name without context, a plain word). Vectors then say how much a fact is
about the entity: a fact is the bundle of its text and its entities, so the fewer it has the more it is like each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sqlalchemy import func, select

from hermes_state.clock import now_us
from hermes_state.engine.match import match_expression
from hermes_state.errors import InvalidValue, SearchUnavailable
from hermes_state.schema import entities, fact_entities, facts
from hermes_state.text import Phrase
from hermes_state.text.query import make_leaf
from memory.providers.holographic import algebra, entity_table, relevance
from memory.providers.holographic.entities import mentions, normalise
from memory.providers.holographic.fulltext import INDEX
from memory.providers.holographic.records import EVERYTHING, Hit, Scope
from memory.providers.holographic.retrieval import entity_similarities, load
from memory.providers.holographic.rows import fact_of, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

    from sqlalchemy import ColumnElement, Connection

    from hermes_state.text.query import Node
    from memory.providers.holographic.retrieval import Candidate
    from memory.providers.holographic.store import FactStore

# Facts of one entity that are looked at: the most trusted and newest. An entity of which more is said is a topic.
MOST = 300
# Facts of each entity that are looked through for what connects it with another.
MOST_CONNECTED = 2_000
# Entities that connect two others which are followed, those with the fewest facts first.
BRIDGES = 8
# What a fact is worth that is only reached over a shared entity, beside one that names what was asked for.
REACHED = 0.3
_MOST_ENTITIES = 8
# Facts that may wait to be banked when an answer asks a bank by the way.
_BANK_BEHIND = 200
_e, _f, _l = entities.c, facts.c, fact_entities.c


class Known(NamedTuple):
    """One entity that was asked for.

    Attributes:
        pk: None when no fact was linked to it; it may still be mentioned.
        keys: its own and those of its aliases.
        names: as asked, and as facts write it.
    """

    pk: int | None
    keys: tuple[str, ...]
    names: tuple[str, ...]


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
            known = _know(connection, entity)
            hits = self._about(connection, known, conditions)[:limit]
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
            known = _know(connection, entity)
            hits = self._about(connection, known, conditions)
            direct = {hit.fact.id for hit in hits}
            around = _around(connection, [known], direct)
            names = entity_table.names_of(connection, around)
            neighbours = [Neighbour(names[pk], count) for pk, count in around.most_common() if pk in names]
            hits = hits[:limit]
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
            known = [_know(connection, each) for each in dict.fromkeys(entities)]
            held = [_facts_of(connection, each, conditions, MOST_CONNECTED) for each in known]
            hits = self._shared(connection, known, held, conditions)[:limit]
            if len(hits) < limit and len(known) > 1:
                shown = {hit.fact.id for hit in hits}
                hits += self._bridged(connection, known, held, conditions, shown, limit - len(hits))
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

    def _about(self, connection: Connection, known: Known, conditions: Sequence[ColumnElement[bool]]) -> list[Hit]:
        found = load(connection, _facts_of(connection, known, conditions, MOST), conditions)
        return self._ranked(found, [_aboutness(found, [known])] if found else [], [1.0] * len(found))

    def _shared(
        self,
        connection: Connection,
        known: Sequence[Known],
        held: Sequence[Sequence[int]],
        conditions: Sequence[ColumnElement[bool]],
    ) -> list[Hit]:
        """Facts about all of the entities, then about at least two."""
        counts = Counter(fact for each in held for fact in each)
        least = min(2, len(known))
        best = sorted((fact for fact, count in counts.items() if count >= least), key=lambda f: (-counts[f], -f))
        found = load(connection, best[:MOST], conditions)
        shares = [counts[candidate.row.pk] / len(known) for candidate in found]
        return self._ranked(found, [_aboutness(found, [each]) for each in known], shares)

    def _ranked(
        self, found: Sequence[Candidate], near: Sequence[Sequence[float]], shares: Sequence[float], via: str = ""
    ) -> list[Hit]:
        """Facts by what share of the entities they are about, then by how much, trust and age.

        The share comes first whatever the trust: a fact about all that was asked for is never behind one about less.
        """
        now = now_us()
        hits = []
        for place, candidate in enumerate(found):
            about = float(np.mean([each[place] for each in near])) if near else 0.0
            value = shares[place] * (0.5 + 0.5 * about)
            fact = fact_of(candidate.row)
            score = value * fact.trust * relevance.decay(now - candidate.row.updated_at, self._half_life_days)
            hits.append((-shares[place], -score, -fact.id, Hit(fact, score, value, (0.0, 0.0, about), via)))
        return [hit for *_, hit in sorted(hits, key=lambda each: each[:3])]

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
        found = load(connection, wanted, conditions)
        return self._ranked(found, [], [REACHED] * len(found), via=name)

    def _bridged(
        self,
        connection: Connection,
        known: Sequence[Known],
        held: Sequence[Sequence[int]],
        conditions: Sequence[ColumnElement[bool]],
        shown: set[int],
        limit: int,
    ) -> list[Hit]:
        """Facts about one of the entities and another, which also shares a fact with another one of them."""
        own = {each.pk for each in known}
        around = [_entities_of(connection, each) for each in held]
        sides: defaultdict[int, list[set[int]]] = defaultdict(list)
        for side in around:
            for pk, of in side.items():
                if pk not in own:
                    sides[pk].append(of)
        bridges = {pk: each for pk, each in sides.items() if len(each) > 1}
        rarest = sorted(bridges, key=lambda pk: (-len(bridges[pk]), sum(map(len, bridges[pk])), pk))[:BRIDGES]
        names = entity_table.names_of(connection, rarest)
        hits: list[Hit] = []
        for pk in rarest:
            some = [max(of - shown, default=0) for of in bridges[pk]]  # the newest of each side
            rest = sorted({fact for of in bridges[pk] for fact in of} - {*some, *shown}, reverse=True)
            wanted = [fact for fact in dict.fromkeys([*some, *rest]) if fact][: limit - len(hits)]
            shown.update(wanted)
            found = load(connection, wanted, conditions)
            hits += self._ranked(found, [], [REACHED] * len(found), via=names[pk])
            if len(hits) >= limit:
                break
        return hits


def _know(connection: Connection, entity: str) -> Known:
    key = normalise(entity)
    if not key:
        raise InvalidValue(f"{entity!r} names nothing", hint="give the name of a person, project, tool, …")
    pk = entity_table.resolve(connection, [key]).get(key)
    if pk is None:
        return Known(None, (key,), (entity,))
    keys, names = entity_table.called(connection, pk)
    return Known(pk, tuple(dict.fromkeys([key, *keys])), tuple(dict.fromkeys([entity, *names])))


def _facts_of(connection: Connection, known: Known, conditions: Sequence[ColumnElement[bool]], most: int) -> list[int]:
    """The facts that are linked to an entity, or mention it."""
    linked: list[int] = []
    if known.pk is not None:
        query = select(_l.fact_pk).join(facts, _f.pk == _l.fact_pk).where(_l.entity_pk == known.pk, *conditions)
        linked = list(connection.execute(query.order_by(_f.trust.desc(), _l.fact_pk.desc()).limit(most)).scalars())
    if len(linked) >= most:
        return linked
    return list(dict.fromkeys([*linked, *_mentioning(connection, known, conditions, most, set(linked))]))[:most]


def _mentioning(
    connection: Connection, known: Known, conditions: Sequence[ColumnElement[bool]], most: int, linked: set[int]
) -> list[int]:
    """Facts that have one of its names in their text, although they were not linked to it."""
    found: dict[int, None] = {}
    for name in known.names:
        leaf = make_leaf(name, Phrase)
        if leaf is None:
            continue
        matches = _matches(connection, leaf, conditions, most + len(linked))
        wanted = [pk for pk in matches if pk not in linked and pk not in found]
        texts = dict(connection.execute(select(_f.pk, _f.content).where(_f.pk.in_(wanted))).tuples().all())
        found |= dict.fromkeys(pk for pk in wanted if mentions(texts[pk], name))
    return list(found)


def _matches(connection: Connection, leaf: Node, conditions: Sequence[ColumnElement[bool]], limit: int) -> list[int]:
    if not INDEX.exists(connection):
        return []
    return INDEX.matches(connection, match_expression(leaf), conditions=conditions, limit=limit)


def _aboutness(found: Sequence[Candidate], known: Sequence[Known]) -> list[float]:
    """How much each fact is about the entities: the similarity that is left of each in the fact's bundle."""
    best = np.zeros(len(found), np.float32)
    for each in known:
        best = np.maximum(best, np.nan_to_num(entity_similarities(found, each.keys)))
    parts = np.array([algebra.part_similarity(candidate.parts) for candidate in found], np.float32)
    return [float(value) for value in best * parts]


def _around(connection: Connection, known: Sequence[Known], fact_pks: Iterable[int]) -> Counter[int]:
    """The other entities of some facts, and in how many of them each is."""
    own = {each.pk for each in known}
    query = (
        select(_l.entity_pk, func.count())
        .where(_l.fact_pk.in_(list(fact_pks)))
        .group_by(_l.entity_pk)
        .order_by(func.count().desc(), _l.entity_pk)
    )
    return Counter({pk: count for pk, count in connection.execute(query) if pk not in own})


def _entities_of(connection: Connection, fact_pks: Sequence[int]) -> dict[int, set[int]]:
    """The entities of some facts, each with those of the facts that are about it."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    query = select(_l.fact_pk, _l.entity_pk).where(_l.fact_pk.in_(list(fact_pks)))
    for fact, pk in connection.execute(query):
        found[pk].add(fact)
    return found
