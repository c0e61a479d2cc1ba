"""Vectors of several dimensions side by side, and making them alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, update

from hermes_state.errors import InvalidValue
from hermes_state.recover import recover
from hermes_state.schema import fact_vectors
from hermes_state.store import SessionDB
from memory.providers.holographic import rebuilding
from memory.providers.holographic.association import Association
from memory.providers.holographic.records import NewFact
from memory.providers.holographic.retrieval import Retrieval
from memory.providers.holographic.store import FactStore

if TYPE_CHECKING:
    from pathlib import Path

FACTS = (
    "Dana Okafor maintains the redis cluster",
    "Wei Chen maintains the mail server",
    "王伟负责净值报表",
    "Project Borealis uses PostgreSQL",
)


def dims(store: FactStore) -> set[int]:
    with store.engine.read() as connection:
        return set(connection.execute(select(fact_vectors.c.dim)).scalars())


def test_another_dimension_breaks_no_read(db: SessionDB, store: FactStore) -> None:
    """Field report 5.1: a changed `hrr_dim` made every vector operation fail."""
    store.add_many(NewFact(content=text) for text in FACTS[:2])
    other = FactStore(db.engine, dim=2048)
    other.add_many(NewFact(content=text) for text in FACTS[2:])
    assert dims(other) == {1024, 2048}
    assert rebuilding.is_due(other)
    for question, wanted in (("who maintains redis?", FACTS[0]), ("谁负责净值报表？", FACTS[2])):
        hits = Retrieval(other).search(question)
        assert hits[0].fact.content == wanted
        assert hits[0].signals[2] > 0.2
    assert [hit.fact.content for hit in Association(other).probe("Wei Chen")] == [FACTS[1]]
    assert rebuilding.rebuild_all_vectors(other) == len(FACTS)
    assert dims(other) == {2048}
    assert not rebuilding.is_due(other)


def test_a_rebuild_keeps_links_and_what_was_marked(store: FactStore, association: Association) -> None:
    ids = [added.fact_id for added in store.add_many(NewFact(content=text) for text in FACTS)]
    store.feedback(ids[0], helpful=True)
    before = [hit.fact for hit in association.probe("Dana Okafor")]
    store.flush()
    told: list[tuple[int, int]] = []
    rebuilding.rebuild_all_vectors(store, 512, progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (len(FACTS), len(FACTS))
    after = [hit.fact for hit in association.probe("Dana Okafor")]
    assert [(fact.id, fact.trust, fact.updated_at) for fact in after] == [
        (fact.id, fact.trust, fact.updated_at) for fact in before
    ]


def test_a_damaged_vector_costs_its_own_signal_only(store: FactStore, retrieval: Retrieval) -> None:
    fact_id = store.add(NewFact(content=FACTS[0])).fact_id
    with store.engine.write() as connection:
        connection.execute(update(fact_vectors).values(phases=b"not a vector"))
    hits = retrieval.search("who maintains redis?")
    assert [hit.fact.id for hit in hits] == [fact_id]
    assert hits[0].signals[2] == 0.0


@pytest.mark.parametrize("dim", [0, -16, 100, 10**6])
def test_an_impossible_dimension_is_refused(store: FactStore, dim: int) -> None:
    store.add(NewFact(content=FACTS[0]))
    with pytest.raises(InvalidValue):
        rebuilding.rebuild_all_vectors(store, dim)
    assert dims(store) == {1024}


@pytest.mark.sqlite_only
def test_an_index_that_is_gone_comes_back_with_the_next_search(store: FactStore, retrieval: Retrieval) -> None:
    """As after a restore, whose archives leave indexes out."""
    store.add_many(NewFact(content=text) for text in FACTS)
    with store.engine.write() as connection:
        connection.exec_driver_sql("DROP TABLE fact_index")
    assert retrieval.search("who maintains redis?")[0].fact.content == FACTS[0]
    store.add(NewFact(content="Wei Chen keeps bees"))
    assert retrieval.search("who keeps bees?")[0].fact.content == "Wei Chen keeps bees"


def test_a_recovered_store_has_its_facts_and_derives_the_rest(home: Path) -> None:
    with SessionDB.open(home=home, synchronous="NORMAL") as db:
        store = FactStore(db.engine)
        store.add_many(NewFact(content=text) for text in ("Dana lives in Oslo", "Dana lives in Bergen", FACTS[2]))
        store.banks.catch_up()
        assert len(store.contradictions().pairs) == 1
        path = db.path
    recover(path, swap=True)
    with SessionDB.open(home=home, synchronous="NORMAL") as db:
        store = FactStore(db.engine)
        assert [hit.fact.content for hit in Retrieval(store).search("谁负责净值报表？")] == [FACTS[2]]
        assert len(store.contradictions().pairs) == 1
        links = sum(load.links for load in store.banks.loads())
        store.banks.catch_up()
        assert sum(load.links for load in store.banks.loads()) == links > 0


def test_an_index_made_by_other_rules_is_made_anew(store: FactStore, retrieval: Retrieval) -> None:
    store.add_many(NewFact(content=text) for text in FACTS)
    with store.engine.write() as connection:
        connection.exec_driver_sql("UPDATE fact_state SET segmentation = 'older rules'")
    store.remove(1)
    assert [hit.fact.content for hit in retrieval.search("who maintains the mail server?")] == [FACTS[1]]
    assert retrieval.search("redis") == []
