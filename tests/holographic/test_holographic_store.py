"""The fact store: one transaction a change, the same fact once, nothing left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from hermes_state.errors import InvalidValue
from hermes_state.fact_index import INDEX
from hermes_state.schema import entities, fact_entities, fact_slots, fact_vectors, facts
from hermes_state.store import SessionDB
from hermes_state.text import parse
from memory.providers.holographic import state
from memory.providers.holographic.records import EVERYTHING, NewFact, Scope
from memory.providers.holographic.store import FactExists, FactNotFound, FactStore

if TYPE_CHECKING:
    from pathlib import Path

    from memory.providers.holographic.association import Association
    from memory.providers.holographic.retrieval import Retrieval

TEXTS = (
    "Dana Okafor maintains the redis cluster",
    "王伟负责净值报表",
    "田中さんは京都に住んでいる",
    "김민수는 부산에서 일한다",
    "דנה אוהבת תה ירוק",
    "Prefers 🍵 over coffee",
)


def add(store: FactStore, content: str, **fields: object) -> int:
    return store.add(NewFact(content=content, **fields)).fact_id  # type: ignore[arg-type]


def rows(store: FactStore, table: object) -> int:
    with store.engine.read() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())  # type: ignore[arg-type]


def entity_names(store: FactStore) -> set[str]:
    with store.engine.read() as connection:
        return set(connection.execute(select(entities.c.name)).scalars())


@pytest.mark.parametrize("content", TEXTS)
def test_a_fact_comes_back_as_it_was(store: FactStore, content: str) -> None:
    fact = store.get(add(store, f"  {content}\n", category="project", tags="b, a,b", trust=0.7))
    assert (fact.content, fact.category, fact.tags, fact.trust) == (content, "project", "b,a", 0.7)
    assert fact.created_at == fact.updated_at
    assert (fact.retrieval_count, fact.helpful_count, fact.superseded_at) == (0, 0, None)


def test_the_same_content_is_kept_once(store: FactStore) -> None:
    """Spacing makes no other fact; case does, since names differ by it."""
    first = store.add(NewFact(content="Uses  the\ttab key", tags="x"))
    again = store.add(NewFact(content="Uses the tab key", tags="y", trust=0.9))
    other = store.add(NewFact(content="uses the tab key"))
    assert first.is_new
    assert again == (first.fact_id, False)
    assert other.is_new
    assert store.get(first.fact_id).tags == "x"
    assert store.count() == 2


def test_a_batch_is_stored_in_order_and_doubles_in_it_are_one(store: FactStore) -> None:
    added = store.add_many([NewFact(content=text) for text in (*TEXTS, TEXTS[0])])
    assert [each.is_new for each in added] == [True] * len(TEXTS) + [False]
    assert added[-1].fact_id == added[0].fact_id
    assert [store.get(each.fact_id).content for each in added[:-1]] == list(TEXTS)


@pytest.mark.parametrize("content", ["", "  \n\t", "\0"])
def test_a_fact_without_content_is_refused(store: FactStore, content: str) -> None:
    with pytest.raises(InvalidValue):
        add(store, content)
    assert rows(store, facts) == 0


def test_text_that_utf8_cannot_hold_is_kept_readable(store: FactStore, retrieval: Retrieval) -> None:
    fact_id = add(store, "Kai\ud800 keeps\0 bees")
    assert store.get(fact_id).content == "Kai\ufffd keeps bees"
    assert [hit.fact.id for hit in retrieval.search("who keeps bees?")] == [fact_id]


def test_an_update_changes_what_is_found(store: FactStore, retrieval: Retrieval, association: Association) -> None:
    fact_id = add(store, "Dana Okafor lives in Oslo")
    assert store.update(fact_id, content="Dana Okafor lives in Bergen", tags="home")
    assert retrieval.search("Oslo") == []
    assert [hit.fact.content for hit in retrieval.search("Bergen")] == ["Dana Okafor lives in Bergen"]
    assert [hit.fact.id for hit in association.probe("Bergen")] == [fact_id]
    assert "Oslo" not in entity_names(store)
    assert [hit.fact.id for hit in retrieval.search("home of Dana Okafor?")] == [fact_id]


def test_an_update_to_what_another_fact_says_is_refused(store: FactStore) -> None:
    first, second = add(store, "Likes tea"), add(store, "Likes coffee")
    with pytest.raises(FactExists) as caught:
        store.update(second, content="Likes tea")
    assert caught.value.holder == first
    assert store.get(second).content == "Likes coffee"


def test_update_and_remove_of_a_fact_that_is_not_there_say_so(store: FactStore) -> None:
    assert store.update(7, content="x") is False
    assert store.remove(7) is False
    with pytest.raises(FactNotFound):
        store.feedback(7, helpful=True)


def test_trust_stays_between_0_and_1(store: FactStore) -> None:
    fact_id = add(store, "Likes tea", trust=5.0)
    assert store.get(fact_id).trust == 1.0
    store.update(fact_id, trust_delta=-99.0)
    assert store.get(fact_id).trust == 0.0
    assert store.feedback(fact_id, helpful=False).new_trust == 0.0


def test_feedback_moves_trust_and_only_a_helpful_mark_freshens(store: FactStore) -> None:
    """Field report 9.3 #14: an unhelpful mark made a fact newer."""
    fact_id = add(store, "Likes tea", created_at=1_000_000)
    marked = store.feedback(fact_id, helpful=False)
    assert (marked.old_trust, marked.new_trust, marked.helpful_count) == (0.5, 0.4, 0)
    assert store.get(fact_id).updated_at.year == 1970
    marked = store.feedback(fact_id, helpful=True)
    assert (marked.old_trust, marked.new_trust, marked.helpful_count) == (0.4, 0.45, 1)
    assert store.get(fact_id).updated_at.year > 1970
    store.update(fact_id, trust_delta=-0.1)
    assert store.get(fact_id).trust == 0.35


def test_b116_a_removed_fact_leaves_no_entity_and_a_moved_one_no_trace_in_its_old_category(
    store: FactStore, association: Association
) -> None:
    fact_id = add(store, 'The mascot "Zed" sleeps all day', category="a")
    store.banks.catch_up()
    store.update(fact_id, category="b")
    assert association.probe("Zed", category="a") == []
    assert [hit.fact.id for hit in association.probe("Zed", category="b")] == [fact_id]
    key = association.bank_answer("Zed", "b")["bank"]
    assert key["facts"] == [fact_id]
    assert not association.bank_answer("Zed", "a").get("bank", {}).get("facts")
    store.remove(fact_id)
    assert entity_names(store) == set()
    assert rows(store, fact_entities) == rows(store, fact_vectors) == rows(store, fact_slots) == 0
    assert all(load.links == 0 for load in store.banks.loads())


def test_an_id_is_never_given_out_twice(store: FactStore) -> None:
    first = add(store, "Likes tea")
    store.remove(first)
    assert add(store, "Likes coffee") > first


def test_a_superseded_fact_is_kept_and_not_recalled(
    store: FactStore, retrieval: Retrieval, association: Association
) -> None:
    old, new = add(store, "Dana Okafor drinks tea"), add(store, "Dana Okafor drinks coffee")
    store.supersede(old, new)
    assert [hit.fact.id for hit in retrieval.search("what does Dana Okafor drink?")] == [new]
    assert [hit.fact.id for hit in association.probe("Dana Okafor")] == [new]
    assert store.get(old).superseded_by == new
    assert [fact.id for fact in store.list()] == [new]
    assert {fact.id for fact in store.list(superseded=True)} == {old, new}


def test_what_is_said_again_holds_again(store: FactStore, retrieval: Retrieval) -> None:
    old, new = add(store, "Dana Okafor drinks tea"), add(store, "Dana Okafor drinks coffee")
    store.supersede(old, new)
    assert store.add(NewFact(content="Dana Okafor drinks tea")) == (old, False)
    assert {hit.fact.id for hit in retrieval.search("what does Dana Okafor drink?")} == {old, new}


def test_supersede_needs_two_facts(store: FactStore) -> None:
    fact_id = add(store, "Likes tea")
    with pytest.raises(InvalidValue):
        store.supersede(fact_id, fact_id)
    with pytest.raises(FactNotFound):
        store.supersede(fact_id, 99)


def test_a_user_sees_their_own_facts_and_everybodys(store: FactStore, retrieval: Retrieval) -> None:
    shared = add(store, "The wifi password is on the fridge")
    ana, ben = (add(store, "Wants the wifi off at night", user_id=user) for user in ("ana", "ben"))
    assert ana != ben
    seen = {hit.fact.id for hit in retrieval.search("wifi", scope=Scope("ana"))}
    assert seen == {shared, ana}
    assert {fact.id for fact in store.list(scope=Scope(""))} == {shared}
    assert {fact.id for fact in store.list(scope=EVERYTHING)} == {shared, ana, ben}
    assert store.remove(ben, scope=Scope("ana")) is False
    assert store.update(ben, trust_delta=0.4, scope=Scope("ana")) is False


def test_a_session_keeps_its_facts_to_itself(store: FactStore, retrieval: Retrieval) -> None:
    add(store, "The build is broken right now", session_id="s1")
    assert retrieval.search("is the build broken?", scope=Scope("", "s2")) == []
    assert len(retrieval.search("is the build broken?", scope=Scope("", "s1"))) == 1


def test_recalled_facts_are_counted(store: FactStore, retrieval: Retrieval, association: Association) -> None:
    """Field report 5.4: `retrieval_count` stayed 0 for ever."""
    fact_id = add(store, "Dana Okafor maintains the redis cluster")
    retrieval.search("who maintains redis?")
    association.probe("Dana Okafor")
    assert store.get(fact_id).retrieval_count == 2


def test_counts_are_written_when_the_store_is_closed(home: Path) -> None:
    with SessionDB.open(home=home) as db:
        store = FactStore(db.engine)
        fact_id = add(store, "Likes tea")
        store.retrieved.note([fact_id])
        store.flush()
    with SessionDB.open(home=home) as db:
        assert FactStore(db.engine).get(fact_id).retrieval_count == 1


def test_every_change_moves_the_change_counter(store: FactStore) -> None:
    def changes() -> int:
        with store.engine.read() as connection:
            return state.read(connection).changes

    seen = [changes()]
    fact_id = add(store, "Likes tea")
    seen.append(changes())
    store.update(fact_id, tags="x")
    seen.append(changes())
    store.feedback(fact_id, helpful=True)
    seen.append(changes())
    store.remove(fact_id)
    seen.append(changes())
    assert seen == sorted(set(seen))


def test_a_purge_leaves_nothing_of_a_removed_fact(home: Path) -> None:
    with SessionDB.open(home=home) as db:
        store = FactStore(db.engine)
        store.index.ensure()
        fact_id = add(store, "The vault code is Xylophonist", tags="Quokkaland")
        add(store, "Likes tea")
        store.banks.catch_up()
        store.contradictions()
        store.remove(fact_id)
        db.maintenance.purge()
    held = (home / "hermes_state.db").read_bytes().lower()
    assert b"xylophonist" not in held
    assert b"quokkaland" not in held


_words = st.sampled_from(
    ["Dana", "Acme", "redis", "京都", "王伟", "likes", "tea", "café", "부산", "NASA", "🍵", "'x'", "%"]
)
_texts = st.lists(_words, min_size=1, max_size=5).map(" ".join)
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), _texts),
        st.tuples(st.just("update"), st.integers(0, 9), _texts),
        st.tuples(st.just("category"), st.integers(0, 9), st.sampled_from("ab")),
        st.tuples(st.just("remove"), st.integers(0, 9)),
        st.tuples(
            st.just("bank"),
        ),
    ),
    max_size=12,
)


@settings(max_examples=12)
@given(_steps)
def test_whatever_is_done_what_is_derived_follows(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple]) -> None:  # type: ignore[type-arg]
    """After any changes: one vector a fact, no entity without a fact, an index and banks that hold just the facts."""
    with SessionDB.open(tmp_path_factory.mktemp("facts") / "x.db", synchronous="NORMAL") as db:
        store = FactStore(db.engine)
        store.index.ensure()
        ids: list[int] = []
        for step in steps:
            if step[0] == "add":
                ids.append(add(store, step[1]))
            elif step[0] == "bank":
                store.banks.catch_up()
            elif ids:
                fact_id = ids[step[1] % len(ids)]
                if step[0] == "remove":
                    store.remove(fact_id)
                elif step[0] == "category":
                    store.update(fact_id, category=step[2])
                else:
                    try:
                        store.update(fact_id, content=step[2])
                    except FactExists:
                        continue
        _assert_consistent(store)


def _assert_consistent(store: FactStore) -> None:
    store.banks.catch_up()
    with store.engine.read() as connection:
        there = set(connection.execute(select(facts.c.pk)).scalars())
        assert set(connection.execute(select(fact_vectors.c.fact_pk)).scalars()) == there
        assert set(connection.execute(select(fact_entities.c.fact_pk)).scalars()) <= there
        linked = set(connection.execute(select(fact_entities.c.entity_pk)).scalars())
        assert set(connection.execute(select(entities.c.pk)).scalars()) == linked
        links = connection.execute(select(func.count()).select_from(fact_entities)).scalar_one()
        for row in connection.execute(select(facts)).all():
            word = row.content.split()[0]
            if word not in ("%", "'x'"):
                assert row.pk in INDEX.matches(connection, parse(word).node, limit=99), row.content
    assert sum(load.links for load in store.banks.loads()) == links
