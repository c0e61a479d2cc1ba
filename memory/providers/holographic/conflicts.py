"""Facts that contradict each other: each new one is compared with those that share a slot with it, once.

What was found is kept, so asking costs nothing for facts that were compared before. Nothing is changed by it: a
contradiction is reported, and one fact supersedes the other only when somebody says so.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, delete, exists, insert, or_, select

from hermes_state.meta import Meta
from hermes_state.schema import entities, fact_conflicts, fact_entities, fact_slots, fact_vectors, facts
from memory.providers.holographic import state
from memory.providers.holographic.algebra import similarity
from memory.providers.holographic.analysis import ENCODING
from memory.providers.holographic.contradiction import COMPARISON, Statement, against, slots
from memory.providers.holographic.vector_codec import unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlalchemy import Connection

    from hermes_state.engine import Engine
    from memory.providers.holographic.algebra import Phases
    from memory.providers.holographic.contradiction import Contradiction

# New facts compared in one write transaction.
BATCH = 100
# Older facts of one slot that a new one is compared with, newest first: a subject of which more is said is no subject.
MOST_PER_SLOT = 200
_c, _e, _f, _l, _s = fact_conflicts.c, entities.c, facts.c, fact_entities.c, fact_slots.c
# Built once: building a statement takes longer than running it.
_SLOTS_OF = select(_s.slot).where(_s.fact_pk == bindparam("of_fact"))
_RIVALS_ANYWHERE = (
    select(_s.fact_pk)
    .join(facts, _f.pk == _s.fact_pk)
    .where(_s.slot == bindparam("of_slot"), _s.fact_pk != bindparam("of_fact"), _f.superseded_at.is_(None))
    .order_by(_s.fact_pk.desc())
    .limit(MOST_PER_SLOT)
)
_RIVALS_BELOW = _RIVALS_ANYWHERE.where(_s.fact_pk < bindparam("of_fact"))
# Where `meta` says by which rules the facts up to `compared_through` were compared. Slots hang on the names of a text
# and on its words as well as on the rules of contradiction.
_RULES_KEY, _RULES = "fact_comparison", f"{COMPARISON}+{ENCODING}"


class Conflict(NamedTuple):
    """Two facts that can't both hold.

    Attributes:
        kind: one of `contradiction.KINDS`.
        confidence: 0 to 1.
        shared: names of the entities that both are about.
        entity_overlap: their part of the entities that either is about.
        content_similarity: of the two vectors, -1 to 1; 0 where they can't be compared.
    """

    older: int
    newer: int
    kind: str
    confidence: float
    reason: str
    shared: tuple[str, ...] = ()
    entity_overlap: float = 0.0
    content_similarity: float = 0.0


class Conflicts:
    """The contradictions of one store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def catch_up(self, progress: Callable[[int, int], object] | None = None, *, budget_s: float | None = None) -> int:
        """Compare the facts that were not compared yet, some thousand a second.

        Args:
            progress: called after each batch with the highest fact done and the highest there is.
            budget_s: stop after so many seconds; the next call goes on. None: go on to the end.

        Returns:
            About how many are left.
        """
        self._start_over_if_rules_changed()
        deadline = None if budget_s is None else time.monotonic() + budget_s
        while True:
            with self._engine.read() as connection:
                stand = state.read(connection)
            left = max(0, stand.newest - stand.compared_through)
            if not left or (deadline is not None and time.monotonic() >= deadline):
                return left
            with self._engine.write() as connection:
                reached = _compare_batch(connection, state.read(connection).compared_through)
            if progress is not None:
                progress(reached, stand.newest)

    def _start_over_if_rules_changed(self) -> None:
        """Forget what was compared by other rules: then all facts are compared again, from the first."""
        meta = Meta(self._engine)
        if meta.get(_RULES_KEY) == _RULES:
            return
        with self._engine.write() as connection:
            connection.execute(delete(fact_conflicts))
            connection.execute(delete(fact_slots))
            state.move(connection, compared_through=0)
            meta.set(_RULES_KEY, _RULES)

    def found(self, connection: Connection, visible: Sequence[Any], limit: int) -> list[Conflict]:
        """Contradictions between facts that meet the conditions, surest first."""
        query = select(_c.older_pk, _c.newer_pk, _c.kind, _c.confidence, _c.reason)
        for column in (_c.older_pk, _c.newer_pk):
            query = query.where(exists().where(_f.pk == column, *visible))
        query = query.order_by(_c.confidence.desc(), _c.newer_pk.desc(), _c.older_pk.desc()).limit(limit)
        conflicts = [Conflict(*row) for row in connection.execute(query)]
        pks = {pk for each in conflicts for pk in (each.older, each.newer)}
        named, vectors = _names(connection, pks), _vectors(connection, pks)
        return [_compared(each, named, vectors) for each in conflicts]

    def compare_again(self, connection: Connection, fact: int) -> None:
        """Compare a fact whose text changed; one that was never compared waits for its turn."""
        connection.execute(delete(fact_conflicts).where(or_(_c.older_pk == fact, _c.newer_pk == fact)))
        if fact <= state.read(connection).compared_through:
            _add_slots(connection, [fact])
            _compare(connection, [fact], above=True)


def _compare_batch(connection: Connection, through: int) -> int:
    query = select(_f.pk).where(_f.pk > through).order_by(_f.pk).limit(BATCH)
    batch = list(connection.execute(query).scalars().all())
    connection.execute(delete(fact_conflicts).where(_c.newer_pk.in_(batch) | _c.older_pk.in_(batch)))
    _add_slots(connection, batch)
    _compare(connection, batch)
    reached = batch[-1] if len(batch) == BATCH else max(state.read(connection).newest, through)
    state.move(connection, compared_through=reached)
    return reached


def _add_slots(connection: Connection, batch: Sequence[int]) -> None:
    """Note what facts say something of; not before they are compared, so that adding one is quick."""
    connection.execute(delete(fact_slots).where(_s.fact_pk.in_(batch)))
    texts = connection.execute(select(_f.pk, _f.content).where(_f.pk.in_(batch))).all()
    rows = [{"slot": slot, "fact_pk": row.pk} for row in texts for slot in dict.fromkeys(slots(row.content))]
    if rows:
        connection.execute(insert(fact_slots), rows)


def _compare(connection: Connection, batch: Sequence[int], *, above: bool = False) -> None:
    """Compare facts with the older ones that share a slot; with `above` also with newer ones."""
    rivals = {fact: _rivals(connection, fact, above=above) for fact in batch}
    wanted = {*batch, *(fact for found in rivals.values() for fact in found)}
    statements = _statements(connection, wanted if any(rivals.values()) else ())
    rows: dict[tuple[int, int], dict[str, Any]] = {}
    for fact, found in rivals.items():
        if not found or fact not in statements:
            continue
        owner, new = statements[fact]
        others = [each for at, each in map(statements.__getitem__, found) if _meet(owner, at)]
        for contradiction in against(new, others):
            row = _row(contradiction)
            rows[row["older_pk"], row["newer_pk"]] = row
    if rows:
        connection.execute(insert(fact_conflicts), list(rows.values()))


def _rivals(connection: Connection, fact: int, *, above: bool) -> list[int]:
    query = _RIVALS_ANYWHERE if above else _RIVALS_BELOW
    found: dict[int, None] = {}
    for slot in connection.execute(_SLOTS_OF, {"of_fact": fact}).scalars().all():
        found |= dict.fromkeys(connection.execute(query, {"of_slot": slot, "of_fact": fact}).scalars())
    return list(found)


def _statements(connection: Connection, pks: Iterable[int]) -> dict[int, tuple[tuple[str, str], Statement]]:
    """Facts that are not superseded, as they are compared, with whose they are."""
    wanted = list(pks)
    if not wanted:
        return {}
    query = select(_f.pk, _f.content, _f.updated_at, _f.user_id, _f.session_id).where(
        _f.pk.in_(wanted), _f.superseded_at.is_(None)
    )
    return {
        row.pk: (
            (row.user_id, row.session_id),
            Statement(row.pk, row.content, row.updated_at),
        )
        for row in connection.execute(query)
    }


def _meet(a: tuple[str, str], b: tuple[str, str]) -> bool:
    """Whether anybody can see both facts."""
    return all(x == y or not x or not y for x, y in zip(a, b, strict=True))


def _row(found: Contradiction) -> dict[str, Any]:
    newer = found.newer if found.newer is not None else max(found.a, found.b)
    older = found.a if newer == found.b else found.b
    return {
        "older_pk": older,
        "newer_pk": newer,
        "kind": found.kind,
        "confidence": found.confidence,
        "reason": found.reason,
    }


def _names(connection: Connection, pks: set[int]) -> defaultdict[int, dict[int, str]]:
    query = (
        select(_l.fact_pk, _e.pk, _e.name)
        .join(entities, _e.pk == _l.entity_pk)
        .where(_l.fact_pk.in_(list(pks)))
        .order_by(_e.pk)
    )
    named: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for fact, pk, name in connection.execute(query):
        named[fact][pk] = name
    return named


def _vectors(connection: Connection, pks: set[int]) -> dict[int, Phases]:
    query = select(fact_vectors.c.fact_pk, fact_vectors.c.phases).where(fact_vectors.c.fact_pk.in_(list(pks)))
    return {pk: unpack(phases) for pk, phases in connection.execute(query)}


def _compared(conflict: Conflict, named: dict[int, dict[int, str]], vectors: dict[int, Phases]) -> Conflict:
    """A contradiction with what its facts have in common."""
    a, b = named[conflict.older], named[conflict.newer]
    shared = tuple(name for pk, name in a.items() if pk in b)
    one, other = vectors.get(conflict.older), vectors.get(conflict.newer)
    near = similarity(one, other) if one is not None and other is not None and len(one) == len(other) else 0.0
    overlap = len(shared) / len(a | b) if shared else 0.0
    return conflict._replace(shared=shared, entity_overlap=round(overlap, 4), content_similarity=round(near, 4))
