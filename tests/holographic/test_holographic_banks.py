"""Banks of links: what they answer within their capacity, and that they say when they can't."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_state.errors import InvalidValue
from memory.providers.holographic import banks
from memory.providers.holographic.banks import Bank, Link
from memory.providers.holographic.vector_codec import VectorUnreadable

links = st.lists(
    st.builds(Link, st.text("abc李カ", min_size=1, max_size=3), st.integers(1, 9)), max_size=12, unique=True
)


def some_links(count, seed=1, names=15):
    rng = Random(seed)
    return [Link(f"entity {rng.randrange(names)}", fact) for fact in range(1, count + 1)]


def test_within_its_capacity_a_bank_answers_what_is_known_about_an_entity():
    wrong = queries = 0
    for seed in range(12):
        held = some_links(banks.capacity(1024), seed)
        bank = Bank.empty()
        bank.add(held)
        for entity in {link.entity for link in held}:
            answer = bank.recall(entity, [link.fact for link in held])
            wrong += len({fact for fact, _ in answer.facts} ^ {link.fact for link in held if link.entity == entity})
            queries += 1
            assert answer.reliable
    assert wrong <= 3 * banks.ERRORS_PER_QUERY * queries + 1


def test_an_unknown_entity_recalls_nothing():
    bank = Bank.empty()
    bank.add(some_links(20))
    assert bank.recall("nobody", range(1, 21)).facts == ()
    assert Bank.empty().recall("nobody", [1]).facts == ()


def test_the_strength_of_what_is_linked_is_about_one_with_the_predicted_noise():
    strengths = []
    for seed in range(15):
        held = some_links(30, seed, names=30)
        bank = Bank.empty()
        bank.add(held)
        strengths += [dict(bank.recall(link.entity, [link.fact]).facts).get(link.fact, 0) for link in held]
    assert np.mean(strengths) == pytest.approx(1, abs=0.02)
    assert np.std(strengths) == pytest.approx(1 / math.sqrt(2 * 1024 / 30), rel=0.3)


def test_a_bank_over_its_capacity_says_so_and_two_halves_do_not():
    held = some_links(60, names=40)
    bank = Bank.empty()
    bank.add(held)
    assert bank.over_capacity
    assert bank.load > 1
    assert not bank.recall("entity 1", [1]).reliable
    left, right = banks.split(bank, held)
    assert left.links + right.links == 60
    assert not left.over_capacity
    assert not right.over_capacity
    assert left.snr > bank.snr
    for link in held:
        home = left if banks.pick([left.shard, right.shard], link.entity) == left.shard else right
        assert link.fact in dict(home.recall(link.entity, [link.fact]).facts)


def test_links_of_one_entity_can_not_be_split_apart():
    crowd = [Link("hub", fact) for fact in range(100)]
    assert not banks.can_split(crowd)
    assert banks.can_split([*crowd, Link("other", 1)])


@given(links, links)
@settings(max_examples=40)
def test_removing_undoes_adding_exactly(kept, gone):
    bank = Bank.empty(64)
    bank.add(kept)
    before = bank.sums.copy()
    bank.add(gone)
    bank.remove(reversed(gone))
    assert np.array_equal(bank.sums, before)
    assert bank.links == len(kept)


@given(links)
@settings(max_examples=40)
def test_a_bank_comes_back_from_its_bytes(held):
    bank = Bank.empty(64, "01")
    bank.add(held)
    again = Bank.from_bytes(bank.to_bytes(), "01")
    assert again.links == bank.links
    assert again.shard == "01"
    assert np.array_equal(again.sums, bank.sums)


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-1], lambda b: b + b"x", lambda b: b"XXX" + b[3:], lambda _: b"", lambda b: b[:9]]
)
def test_a_damaged_bank_is_refused(damage):
    bank = Bank.empty(64)
    bank.add(some_links(5))
    with pytest.raises(VectorUnreadable):
        Bank.from_bytes(damage(bank.to_bytes()))


def test_more_links_than_there_are_can_not_leave():
    bank = Bank.empty(64)
    bank.add(some_links(2))
    with pytest.raises(InvalidValue):
        bank.remove(some_links(3))
    assert bank.links == 2


def test_splitting_wants_all_links():
    bank = Bank.empty(64)
    bank.add(some_links(5))
    with pytest.raises(InvalidValue):
        banks.split(bank, some_links(4))


@given(st.text(max_size=8), st.integers(0, banks.MAX_DEPTH))
def test_an_entity_has_one_shard_at_each_depth(entity, depth):
    shard = banks.shard_of(entity, depth)
    assert len(shard) == depth
    assert set(shard) <= {"0", "1"}
    assert banks.pick({shard, banks.shard_of(entity, 0) if not depth else shard}, entity) == shard


def test_an_entity_without_a_shard_is_an_error():
    with pytest.raises(InvalidValue, match="shards"):
        banks.pick([], "alice")


def test_capacity_grows_almost_with_the_dimension():
    assert banks.capacity(64) >= 1
    assert 35 <= banks.capacity(1024) <= 50
    assert 3 <= banks.capacity(4096) / banks.capacity(1024) <= 4
