"""Banks as rows: one vector per category and shard of entities, which answers "what do we know about X".

Adding a fact does not touch them. They follow behind, up to `fact_state.banked_through`, whenever somebody asks one or
looks at their load; taking a fact out is exact and done by the transaction that removes it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import delete, insert, select, update

from hermes_state.schema import entities, fact_banks, fact_entities, facts
from memory.providers.holographic import state
from memory.providers.holographic.banks import BANK_DIM, MAX_DEPTH, Bank, Link, Recall, can_split, capacity, pick, split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlalchemy import Connection

    from hermes_state.engine import Engine

# Facts banked in one write transaction: some 50 ms.
BATCH = 100
_b, _e, _f, _l = fact_banks.c, entities.c, facts.c, fact_entities.c


class BankLoad(NamedTuple):
    """How full the banks of a category are.

    Attributes:
        banks: how many.
        links: entity-fact links in all of them.
        capacity: links that one bank holds reliably.
        fullest: links of the fullest one.
        over: how many are over their capacity.
    """

    category: str
    banks: int
    links: int
    capacity: int
    fullest: int
    over: int


class BankTable:
    """The banks of one store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # --- asking --------------------------------------------------------------------------------------------------

    def recall(self, category: str, key: str, *, most_behind: int | None = None) -> Recall | None:
        """What the banks of a category know about an entity.

        Args:
            key: as `entities.normalise` gives it.
            most_behind: do not catch up when more facts than this wait; None: always.

        Returns:
            None when the banks are too far behind, or there is none for it.
        """
        if not self._engine.read_only:
            with self._engine.read() as connection:
                stand = state.read(connection)
            if most_behind is not None and stand.newest - stand.banked_through > most_behind:
                return None
            self.catch_up()
        with self._engine.read() as connection:
            shards = _shards(connection, category)
            if not shards:
                return None
            shard = pick(shards, key)
            blob = connection.execute(select(_b.sums).where(_b.category == category, _b.shard == shard)).scalar_one()
            candidates = sorted({link.fact for link in _links(connection, category, shard)})
        return Bank.from_bytes(blob, shard).recall(key, candidates)

    def loads(self) -> list[BankLoad]:
        """How full the banks are, by category."""
        if not self._engine.read_only:
            self.catch_up()
        held: defaultdict[str, list[int]] = defaultdict(list)
        with self._engine.read() as connection:
            for category, links in connection.execute(select(_b.category, _b.links).order_by(_b.category)):
                held[category].append(links)
        most = capacity(BANK_DIM)
        return [
            BankLoad(name, len(each), sum(each), most, max(each), sum(links > most for links in each))
            for name, each in held.items()
        ]

    # --- following -----------------------------------------------------------------------------------------------

    def catch_up(self, progress: Callable[[int, int], object] | None = None) -> None:
        """Bank the facts that are not banked yet."""
        while True:
            with self._engine.read() as connection:
                stand = state.read(connection)
            if stand.banked_through >= stand.newest:
                return
            with self._engine.write() as connection:
                reached = _bank_batch(connection, state.read(connection).banked_through)
            if progress is not None:
                progress(reached, stand.newest)

    def remove(self, connection: Connection, category: str, fact: int) -> None:
        """Take a fact out of the banks of its category, before its links go."""
        if fact > state.read(connection).banked_through:
            return
        query = select(_e.folded).join(fact_entities, _l.entity_pk == _e.pk).where(_l.fact_pk == fact)
        links = [Link(key, fact) for key in connection.execute(query).scalars()]
        for shard, some in _by_shard(_shards(connection, category), links).items():
            bank = _load(connection, category, shard)
            bank.remove(some)
            _store(connection, category, bank)

    def add(self, connection: Connection, category: str, fact: int) -> None:
        """Put a fact that changed back in, after its links are there."""
        if fact <= state.read(connection).banked_through:
            _add(connection, {category: _links_of(connection, [fact])[category]})


def forget(connection: Connection) -> None:
    """Drop all banks; they are made anew when they are asked for."""
    connection.execute(delete(fact_banks))
    state.move(connection, banked_through=0)


def _bank_batch(connection: Connection, through: int) -> int:
    """Bank the next facts; returns up to which. From the first fact on, banks that are there are of another time."""
    if not through:
        connection.execute(delete(fact_banks))
    query = select(_f.pk).where(_f.pk > through).order_by(_f.pk).limit(BATCH)
    batch = list(connection.execute(query).scalars())
    if batch:
        _add(connection, _links_of(connection, batch))
    reached = batch[-1] if len(batch) == BATCH else max(state.read(connection).newest, through)
    state.move(connection, banked_through=reached)
    return reached


def _links_of(connection: Connection, fact_pks: Sequence[int]) -> defaultdict[str, list[Link]]:
    """The links of facts by category. Facts that were superseded have none here."""
    query = (
        select(_f.category, _e.folded, _f.pk)
        .join(fact_entities, _l.fact_pk == _f.pk)
        .join(entities, _e.pk == _l.entity_pk)
        .where(_f.pk.in_(list(fact_pks)), _f.superseded_at.is_(None))
        .order_by(_f.pk, _e.pk)
    )
    links: defaultdict[str, list[Link]] = defaultdict(list)
    for category, key, fact in connection.execute(query):
        links[category].append(Link(key, fact))
    return links


def _add(connection: Connection, links: dict[str, list[Link]]) -> None:
    for category, of_category in links.items():
        shards = _shards(connection, category)
        if not shards and of_category:
            _store(connection, category, Bank.empty())
            shards = {""}
        for shard, some in _by_shard(shards, of_category).items():
            bank = _load(connection, category, shard)
            bank.add(some)
            _settle(connection, category, bank)


def _settle(connection: Connection, category: str, bank: Bank) -> None:
    """Store a bank; one that is too full is split as far as that helps."""
    if bank.over_capacity and len(bank.shard) < MAX_DEPTH:
        links = _links(connection, category, bank.shard, banked=bank.links)
        if len(links) == bank.links and can_split(links):
            where = (_b.category == category, _b.shard == bank.shard)
            connection.execute(delete(fact_banks).where(*where))
            for half in split(bank, links):
                _settle(connection, category, half)
            return
    _store(connection, category, bank)


def _links(connection: Connection, category: str, shard: str, *, banked: int | None = None) -> list[Link]:
    """The links whose entity is in a shard, in the order of their facts; only the first `banked`, if that is told."""
    low = int(shard.ljust(MAX_DEPTH, "0"), 2).to_bytes(MAX_DEPTH // 8, "big")
    high = int(shard.ljust(MAX_DEPTH, "1"), 2).to_bytes(MAX_DEPTH // 8, "big")
    query = (
        select(_e.folded, _l.fact_pk)
        .join(fact_entities, _l.entity_pk == _e.pk)
        .join(facts, _f.pk == _l.fact_pk)
        .where(_e.shard.between(low, high), _f.category == category, _f.superseded_at.is_(None))
        .order_by(_l.fact_pk, _e.pk)
    )
    if banked is not None:
        query = query.limit(banked)
    return [Link(*row) for row in connection.execute(query)]


def _shards(connection: Connection, category: str) -> set[str]:
    return set(connection.execute(select(_b.shard).where(_b.category == category)).scalars())


def _by_shard(shards: set[str], links: Iterable[Link]) -> dict[str, list[Link]]:
    found: defaultdict[str, list[Link]] = defaultdict(list)
    if shards:
        for link in links:
            found[pick(shards, link.entity)].append(link)
    return found


def _load(connection: Connection, category: str, shard: str) -> Bank:
    query = select(_b.sums).where(_b.category == category, _b.shard == shard)
    return Bank.from_bytes(connection.execute(query).scalar_one(), shard)


def _store(connection: Connection, category: str, bank: Bank) -> None:
    values: dict[str, Any] = {"links": bank.links, "sums": bank.to_bytes()}
    where = (_b.category == category, _b.shard == bank.shard)
    if not connection.execute(update(fact_banks).where(*where).values(**values)).rowcount:
        connection.execute(insert(fact_banks).values(category=category, shard=bank.shard, **values))
