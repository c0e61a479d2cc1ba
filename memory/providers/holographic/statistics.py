"""The numbers of a fact store: how far facts are trusted, what they are about, how full banks are, what is double."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Select, func, select

from hermes_state.schema import entities, fact_conflicts, fact_entities, fact_vectors, facts
from hermes_state.text import fold
from memory.providers.holographic import rebuilding
from memory.providers.holographic.records import EVERYTHING
from memory.providers.holographic.rows import visible

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from memory.providers.holographic.bank_table import BankLoad
    from memory.providers.holographic.records import Scope
    from memory.providers.holographic.store import FactStore

# Steps of the trust distribution: 0 to 0.1, 0.1 to 0.2, …
TRUST_STEPS = 10
_MOST_ENTITIES = 10
_MOST_DOUBLES = 20
_e, _f, _l, _v = entities.c, facts.c, fact_entities.c, fact_vectors.c


class Category(NamedTuple):
    """How many facts a category has, and how far they are trusted on average."""

    name: str
    facts: int
    trust: float


class Topic(NamedTuple):
    """An entity and how many facts are about it."""

    name: str
    facts: int


class Double(NamedTuple):
    """Facts that say the same but for case, accents and punctuation."""

    content: str
    ids: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FactStatistics:
    """The numbers.

    Attributes:
        superseded: facts that are kept and no longer recalled.
        trust: how many facts are in each tenth of trust, the lowest first.
        retrieved, helpful: how often facts were recalled and marked so, all together.
        dims: how many vectors there are of each dimension.
        rebuild_due: vectors are not all as new ones would be; `facts rebuild` makes them so.
        contradictions: pairs that were found and not settled.
    """

    facts: int
    superseded: int
    entities: int
    links: int
    trust: tuple[int, ...]
    retrieved: int
    helpful: int
    categories: tuple[Category, ...]
    topics: tuple[Topic, ...]
    banks: tuple[BankLoad, ...]
    doubles: tuple[Double, ...]
    dims: dict[int, int]
    rebuild_due: bool
    contradictions: int


def collect(store: FactStore, *, scope: Scope = EVERYTHING) -> FactStatistics:
    """Count everything; catches up with banks and comparisons first."""
    store.flush()
    store.conflicts.catch_up()
    loads = tuple(store.banks.loads())
    seen = visible(scope)
    with store.engine.read() as connection:
        totals = connection.execute(
            select(func.count(), func.sum(_f.retrieval_count), func.sum(_f.helpful_count)).where(*seen)
        ).one()
        return FactStatistics(
            facts=totals[0],
            superseded=_count(connection, select(func.count()).select_from(facts).where(_f.superseded_at.is_not(None))),
            entities=_count(connection, select(func.count()).select_from(entities)),
            links=_count(connection, select(func.count()).select_from(fact_entities)),
            trust=_trust(connection, scope),
            retrieved=totals[1] or 0,
            helpful=totals[2] or 0,
            categories=_categories(connection, scope),
            topics=_topics(connection, scope),
            banks=loads,
            doubles=_doubles(connection, scope),
            dims={row[0]: row[1] for row in connection.execute(select(_v.dim, func.count()).group_by(_v.dim))},
            rebuild_due=rebuilding.is_due(store),
            contradictions=_count(connection, _unsettled(scope)),
        )


def _count(connection: Connection, query: Select[Any]) -> int:
    return int(connection.execute(query).scalar_one())


def _unsettled(scope: Scope) -> Select[Any]:
    allowed = select(_f.pk).where(*visible(scope))
    both = fact_conflicts.c.older_pk.in_(allowed), fact_conflicts.c.newer_pk.in_(allowed)
    return select(func.count()).select_from(fact_conflicts).where(*both)


def _trust(connection: Connection, scope: Scope) -> tuple[int, ...]:
    """Marks move trust by twentieths, so there are few values however many facts."""
    steps = [0] * TRUST_STEPS
    query = select(_f.trust, func.count()).where(*visible(scope)).group_by(_f.trust)
    for trust, held in connection.execute(query):
        steps[min(TRUST_STEPS - 1, int(trust * TRUST_STEPS + 1e-9))] += held
    return tuple(steps)


def _categories(connection: Connection, scope: Scope) -> tuple[Category, ...]:
    query = select(_f.category, func.count(), func.avg(_f.trust)).where(*visible(scope)).group_by(_f.category)
    return tuple(Category(*row) for row in connection.execute(query.order_by(func.count().desc(), _f.category)))


def _topics(connection: Connection, scope: Scope) -> tuple[Topic, ...]:
    query = (
        select(_e.name, func.count())
        .join(fact_entities, _l.entity_pk == _e.pk)
        .join(facts, _f.pk == _l.fact_pk)
        .where(*visible(scope))
        .group_by(_e.pk, _e.name)
        .order_by(func.count().desc(), _e.name)
        .limit(_MOST_ENTITIES)
    )
    return tuple(Topic(*row) for row in connection.execute(query))


def _doubles(connection: Connection, scope: Scope) -> tuple[Double, ...]:
    said: dict[str, list[tuple[int, str]]] = {}
    query = select(_f.pk, _f.content).where(*visible(scope)).order_by(_f.pk)
    for pk, content in connection.execute(query.execution_options(yield_per=1_000)):
        plain = " ".join("".join(c if c.isalnum() else " " for c in fold(content)).split())
        said.setdefault(plain, []).append((pk, content))
    found = [Double(each[0][1], tuple(pk for pk, _ in each)) for each in said.values() if len(each) > 1]
    return tuple(sorted(found, key=lambda double: -len(double.ids))[:_MOST_DOUBLES])
