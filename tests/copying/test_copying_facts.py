"""Facts that were copied are found and linked as before; what is derived of them is made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hermes_state.copying.copy import copy_store
from hermes_state.errors import NotFound
from memory.providers.holographic.records import NewFact
from memory.providers.holographic.retrieval import Retrieval
from memory.providers.holographic.store import FactStore

if TYPE_CHECKING:
    from hermes_state.store import SessionDB

TEXTS = ("Alice Chen leads the Redis team", "Bob Ito prefers dark roast coffee", "東京 office opens at nine")


def store_of(db: SessionDB) -> FactStore:
    store = FactStore(db.engine)
    store.index.ensure()
    return store


def test_copied_facts_are_found(source: SessionDB, target: SessionDB) -> None:
    added = store_of(source).add_many(NewFact(content=text, created_at=1, updated_at=1) for text in TEXTS)
    store_of(source).remove(added[-1].fact_id)
    copy_store(source.engine, target.engine).raise_for_problems()
    there = store_of(target)
    assert [fact.content for fact in there.list()] == [fact.content for fact in store_of(source).list()]
    assert [hit.fact.content for hit in Retrieval(there).search("coffee")] == [TEXTS[1]]
    fresh = there.add(NewFact(content="Dora runs the night shift"))
    assert fresh.fact_id > added[-1].fact_id  # an id that was given out is never given out again
    with pytest.raises(NotFound):
        there.get(added[-1].fact_id)


def test_merged_facts_are_found(source: SessionDB, target: SessionDB) -> None:
    store_of(source).add_many(NewFact(content=text, created_at=1, updated_at=1) for text in TEXTS[:2])
    store_of(target).add_many(NewFact(content=text, created_at=1, updated_at=1) for text in TEXTS[1:])
    copy_store(source.engine, target.engine, merge=True).raise_for_problems()
    there = store_of(target)
    assert sorted(fact.content for fact in there.list()) == sorted(TEXTS)
    assert [hit.fact.content for hit in Retrieval(there).search("Redis")] == [TEXTS[0]]
