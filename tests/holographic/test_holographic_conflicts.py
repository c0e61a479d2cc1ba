"""Contradictions in the store: found once, reported only, settled when somebody says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from hermes_state.schema import fact_conflicts, fact_slots
from memory.providers.holographic import conflicts, state
from memory.providers.holographic.records import NewFact, Scope

if TYPE_CHECKING:
    import pytest

    from memory.providers.holographic.store import FactStore


def add(store: FactStore, *contents: str, **fields: object) -> list[int]:
    new = [NewFact(content=content, **fields) for content in contents]  # type: ignore[arg-type]
    return [added.fact_id for added in store.add_many(new)]


def pairs(store: FactStore, scope: Scope | None = None) -> set[tuple[int, int]]:
    found = store.contradictions(scope=scope).pairs if scope else store.contradictions().pairs
    return {(older.id, newer.id) for _, older, newer in found}


def test_b121_only_the_pair_that_disagrees_is_reported_and_nothing_is_changed(store: FactStore) -> None:
    works, administers, oslo, bergen = add(
        store,
        "Dana works at Acme",
        "Dana administers Acme's repo",
        "Dana lives in Oslo",
        "Dana lives in Bergen",
    )
    found = store.contradictions().pairs
    assert [(older.id, newer.id) for _, older, newer in found] == [(oslo, bergen)]
    conflict = found[0][0]
    assert 0.5 <= conflict.confidence <= 1.0
    assert "Dana" in conflict.shared
    assert 0.0 < conflict.entity_overlap <= 1.0
    assert store.count() == 4
    assert {store.get(fact).trust for fact in (works, administers, oslo, bergen)} == {0.5}


def test_a_fact_that_comes_later_is_compared_with_those_that_are_there(
    store: FactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each fact is looked at once: a second question compares nothing."""
    (oslo,) = add(store, "Dana lives in Oslo")
    assert pairs(store) == set()
    (bergen,) = add(store, "Dana lives in Bergen")
    assert pairs(store) == {(oslo, bergen)}
    with store.engine.read() as connection:
        stand = state.read(connection)
    assert stand.compared_through == stand.newest
    monkeypatch.setattr("memory.providers.holographic.conflicts.against", None)
    assert pairs(store) == {(oslo, bergen)}


def test_the_tea_and_the_coffee(store: FactStore) -> None:
    """Field report 5.8: a true contradiction scored lowest of all pairs."""
    tea, coffee = add(store, "Dana prefers tea", "Dana now prefers coffee")
    assert pairs(store) == {(tea, coffee)}


def test_chinese_japanese_and_korean_contradictions(store: FactStore) -> None:
    for older, newer in (
        ("王伟住在上海", "王伟住在北京"),
        ("田中さんは京都に住んでいる", "田中さんは大阪に住んでいる"),
        ("김민수는 부산에 산다", "김민수는 서울에 산다"),
    ):
        ids = add(store, older, newer)
        assert (ids[0], ids[1]) in pairs(store), older


def test_settling_a_contradiction_takes_it_off_the_list(store: FactStore) -> None:
    oslo, bergen = add(store, "Dana lives in Oslo", "Dana lives in Bergen")
    assert pairs(store) == {(oslo, bergen)}
    store.supersede(oslo, bergen)
    assert pairs(store) == set()
    store.add(NewFact(content="Dana lives in Oslo"))
    assert {frozenset(pair) for pair in pairs(store)} == {frozenset((oslo, bergen))}
    store.remove(oslo)
    assert pairs(store) == set()
    with store.engine.read() as connection:
        assert connection.execute(select(func.count()).select_from(fact_conflicts)).scalar_one() == 0


def test_a_changed_fact_is_compared_again(store: FactStore) -> None:
    oslo, other = add(store, "Dana lives in Oslo", "Dana likes jazz")
    assert pairs(store) == set()
    store.update(other, content="Dana lives in Bergen")
    assert pairs(store) == {(oslo, other)}
    store.update(other, content="Dana plays the cello")
    assert pairs(store) == set()


def test_two_users_do_not_contradict_each_other(store: FactStore) -> None:
    add(store, "My favourite colour is blue", user_id="ana")
    add(store, "My favourite colour is red", user_id="ben")
    assert pairs(store) == set()
    add(store, "My favourite colour is green", user_id="ana")
    assert len(pairs(store)) == 1
    assert pairs(store, Scope("ben")) == set()


def test_comparing_very_many_stops_and_goes_on(store: FactStore) -> None:
    add(store, "Dana lives in Oslo", *(f"Shelf {n} holds box {n}" for n in range(150)), "Dana lives in Bergen")
    found = store.contradictions(budget_s=0.0)
    assert (found.pairs, found.left) == ([], 152)
    assert store.conflicts.catch_up(budget_s=60.0) == 0
    assert len(store.contradictions(budget_s=0.0).pairs) == 1


def test_other_rules_compare_everything_again(store: FactStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slots made by rules that changed would never meet those of new facts."""
    add(store, "Dana lives in Oslo", "Dana lives in Bergen")
    assert len(pairs(store)) == 1
    with store.engine.write() as connection:
        connection.execute(fact_slots.update().values(slot="old:" + fact_slots.c.slot))
    add(store, "Dana lives in Lisbon")
    assert len(pairs(store)) == 1
    monkeypatch.setattr(conflicts, "_RULES", "of another release")
    assert len(pairs(store)) == 3
