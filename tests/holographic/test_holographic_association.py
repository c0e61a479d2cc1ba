"""probe, related and reason: exact on the entities, useful beyond them, the same in every run."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from benchmarks import holographic_sets as sets
from hermes_state.errors import InvalidValue
from hermes_state.store import SessionDB
from memory.providers.holographic.association import Association
from memory.providers.holographic.records import NewFact, Scope
from memory.providers.holographic.store import FactStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory.providers.holographic.records import Hit


def add(store: FactStore, *contents: str, **fields: object) -> list[int]:
    new = [NewFact(content=content, **fields) for content in contents]  # type: ignore[arg-type]
    return [added.fact_id for added in store.add_many(new)]


def texts(hits: list[Hit]) -> list[str]:
    return [hit.fact.content for hit in hits]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_b112_the_facts_about_somebody_come_first_in_the_same_order_each_time(
    store: FactStore, association: Association, seed: int
) -> None:
    rng = Random(seed)
    about = [f"Alice Novak reviews module {n}" for n in range(5)]
    others = [f"{chr(65 + n % 26)}{'abc'[n % 3]}ren Holt{n} reviews module {n}" for n in range(45)]
    contents = about + others
    rng.shuffle(contents)
    add(store, *contents)
    first = texts(association.probe("Alice Novak", limit=5))
    assert sorted(first) == about
    assert texts(association.probe("alice novak", limit=5)) == first


def test_b113_trust_never_outranks_what_is_asked_for(store: FactStore, association: Association) -> None:
    right, wrong = add(store, "Zeta launches in May", "Borealis launches in June")
    store.update(wrong, trust_delta=0.45)
    assert [hit.fact.id for hit in association.probe("Zeta")] == [right]


@pytest.mark.parametrize(
    ("fact", "name"),
    [
        ("GitHub hosts the mirror", "github"),
        ("The team moved to PostgreSQL", "PostgreSQL"),
        ("NASA sends the data", "NASA"),
        ("José Álvarez runs the bakery", "Jose Alvarez"),
        ("Madonna called on Monday", "Madonna"),
        ("凯聪负责开票", "凯聪"),
        ("田中さんは京都に住んでいる", "田中"),
        ("김민수는 부산에서 일한다", "김민수"),
        ("deploys with make_all.sh", "make_all.sh"),
    ],
)
def test_names_of_every_kind_are_probed(store: FactStore, association: Association, fact: str, name: str) -> None:
    add(store, "Somebody else likes jazz", "李娜住在上海", "이영희는 서울에 산다", fact)
    assert texts(association.probe(name)) == [fact]


@pytest.mark.parametrize(
    ("said", "fact", "asked"),
    [
        ("Guido aka BDFL created Python", "BDFL retired in 2018", "Guido"),
        ("Guido aka BDFL created Python", "BDFL retired in 2018", "BDFL"),
        ("周树人，又名鲁迅", "鲁迅写了《呐喊》", "周树人"),
    ],
)
def test_a_name_stands_for_its_aliases(
    store: FactStore, association: Association, said: str, fact: str, asked: str
) -> None:
    """Also when the fact under the other name was there before."""
    add(store, fact)
    add(store, said)
    assert set(texts(association.probe(asked))) == {said, fact}


@pytest.mark.parametrize("name", ["%", "_", "'", "Dana%", "\0", "  ", ""])
def test_no_sign_in_a_name_is_a_wildcard(store: FactStore, association: Association, name: str) -> None:
    add(store, "Dana Okafor likes tea")
    try:
        hits = association.probe(name)
    except InvalidValue:
        return
    assert hits == []


def test_the_fact_most_about_an_entity_is_first(store: FactStore, association: Association) -> None:
    crowd, alone = add(store, "Dana Okafor, Wei Chen, Ana Lima and Ben Holt had lunch", "Dana Okafor had lunch")
    assert [hit.fact.id for hit in association.probe("Dana Okafor")] == [alone, crowd]


def test_related_gives_neighbours_and_marks_what_is_only_reached(store: FactStore, association: Association) -> None:
    about, beyond = add(store, "Dana Okafor maintains Borealis", "Borealis runs on Kubernetes")
    add(store, "Wei Chen likes jazz")
    hits, neighbours = association.related("Dana Okafor")
    assert [(hit.fact.id, hit.via) for hit in hits] == [(about, ""), (beyond, "Borealis")]
    assert [each.name for each in neighbours] == ["Borealis"]


def test_reason_is_exact_on_the_intersection_and_marks_the_rest(store: FactStore, association: Association) -> None:
    both, dana, wei = add(
        store,
        "Dana Okafor and Wei Chen share a desk",
        "Dana Okafor maintains Borealis",
        "Wei Chen audits Borealis",
    )
    add(store, "Ana Lima likes Kubernetes")
    hits = association.reason(["Dana Okafor", "Wei Chen"])
    assert [(hit.fact.id, hit.via) for hit in hits[:1]] == [(both, "")]
    assert {(hit.fact.id, hit.via) for hit in hits[1:]} == {(dana, "Borealis"), (wei, "Borealis")}
    assert all(hit.score < hits[0].score for hit in hits[1:])


def test_reason_over_four_puts_all_before_several(store: FactStore, association: Association) -> None:
    names = ["Dana Okafor", "Wei Chen", "Ana Lima", "Ben Holt"]
    every, some = add(store, f"{', '.join(names[:3])} and {names[3]} met", "Dana Okafor met Ben Holt")
    store.update(every, trust_delta=-0.3)
    hits = association.reason(names)
    assert [hit.fact.id for hit in hits] == [every, some]


@pytest.mark.parametrize("names", [[], ["x"] * 9, [""]])
def test_reason_needs_names(store: FactStore, association: Association, names: list[str]) -> None:
    with pytest.raises(InvalidValue):
        association.reason(names)


def test_scope_and_category_hold(store: FactStore, association: Association) -> None:
    add(store, "Dana Okafor likes tea", user_id="ana", category="user_pref")
    (shared,) = add(store, "Dana Okafor maintains redis", category="project")
    assert [hit.fact.id for hit in association.probe("Dana Okafor", scope=Scope("ben"))] == [shared]
    assert [hit.fact.id for hit in association.probe("Dana Okafor", category="project")] == [shared]


def test_a_bank_answers_within_its_capacity_and_splits_beyond(store: FactStore, association: Association) -> None:
    ids = add(store, *(f"{name} Holt{n} likes tea {n}" for n in range(40) for name in ("Ana", "Ben")))
    bank = association.bank_answer("Ana Holt7", "general")["bank"]
    assert ids[14] in bank["facts"]
    assert len(bank["facts"]) <= 3
    loads = store.banks.loads()
    assert loads[0].banks > 1
    assert loads[0].over == 0


def test_a_bank_that_cannot_be_split_says_that_it_is_full(store: FactStore, association: Association) -> None:
    add(store, *(f"Dana Okafor likes tea number {n}" for n in range(60)))
    bank = association.bank_answer("Dana Okafor", "general")["bank"]
    assert not bank["reliable"]
    assert store.banks.loads()[0].over == 1


@pytest.fixture(scope="module", params=sets.LANGUAGES)
def labelled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Association, list[tuple[str, set[int], frozenset[str]]]]]:
    """A store of one language's facts, and names with the facts about each and the names beside it."""
    known = sets.facts(request.param, 120, part="held")
    with SessionDB.open(tmp_path_factory.mktemp("probes") / "x.db", synchronous="NORMAL") as db:
        store = FactStore(db.engine)
        store.index.ensure()
        ids = [added.fact_id for added in store.add_many(NewFact(content=fact.text) for fact in known)]
        probes = [(probe.name, {ids[n] for n in probe.facts}, probe.related) for probe in sets.probes(known, 25)]
        yield Association(store), probes


def test_probe_is_exact_in_every_script(
    labelled: tuple[Association, list[tuple[str, set[int], frozenset[str]]]],
) -> None:
    association, probes = labelled
    right = wrong = missed = 0
    for name, wanted, _ in probes:
        got = {hit.fact.id for hit in association.probe(name, limit=200)}
        right, wrong, missed = right + len(got & wanted), wrong + len(got - wanted), missed + len(wanted - got)
    assert right / (right + wrong) >= 0.98
    assert right / (right + missed) >= 0.98
