"""Phase vectors: their laws, the peer's scheme bit for bit, what bundling and packing cost."""

import hashlib
import math
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_state.errors import InvalidValue
from memory.providers.holographic import algebra
from memory.providers.holographic.vector_codec import (
    BITS,
    VectorUnreadable,
    pack,
    packed_size,
    to_radians,
    unpack,
    unpack_rows,
)

DIM = 256
words = st.text(min_size=1, max_size=12)


def published_atom(word, dim):
    """The published formula, written out: block i is SHA-256 of `word:i`, sixteen little-endian 16-bit numbers."""
    numbers = []
    for block in range(math.ceil(dim / 16)):
        numbers += struct.unpack("<16H", hashlib.sha256(f"{word}:{block}".encode()).digest())
    return [number * (2 * math.pi / 65536) for number in numbers[:dim]]


@pytest.mark.parametrize("word", ["alice", "__hrr_role_entity__", "凯聪", "café", "🙂", ""])
@pytest.mark.parametrize("dim", [64, 80, 1024])
def test_an_atom_is_the_published_one_bit_for_bit(word, dim):
    assert to_radians(algebra.encode_atom(word, dim)).tolist() == published_atom(word, dim)


def test_an_atom_with_a_lone_surrogate_is_an_atom():
    assert len(algebra.encode_atom("\ud800", 64)) == 64


@given(words, words)
def test_unbinding_undoes_binding_exactly(left, right):
    a, b = algebra.encode_atom(left, DIM), algebra.encode_atom(right, DIM)
    assert np.array_equal(algebra.unbind(algebra.bind(a, b), b), a)
    assert np.array_equal(algebra.bind(a, b), algebra.bind(b, a))


@given(words, words)
def test_similarity_is_between_minus_one_and_one_and_one_only_for_equals(left, right):
    a, b = algebra.encode_atom(left, DIM), algebra.encode_atom(right, DIM)
    assert -1 <= algebra.similarity(a, b) <= 1
    assert algebra.similarity(a, a) == pytest.approx(1, abs=1e-6)
    assert algebra.similarity(a, b) == pytest.approx(algebra.similarity(b, a), abs=1e-6)
    if left != right:
        assert algebra.similarity(a, b) < 0.5


@given(st.lists(words, min_size=1, max_size=12, unique=True), st.randoms())
def test_a_bundle_does_not_depend_on_the_order(parts, random):
    shuffled = random.sample(parts, len(parts))
    first, second = (algebra.bundle(algebra.encode_atoms(each, DIM)) for each in (parts, shuffled))
    assert algebra.similarity(first, second) > 0.9999


@pytest.mark.parametrize("parts", [1, 2, 3, 6, 7, 12, 40])
def test_a_bundle_is_as_like_its_parts_as_theory_says(parts):
    dim = 4096
    vectors = algebra.encode_atoms([f"part {n}" for n in range(parts)], dim)
    measured = algebra.similarities(vectors, algebra.bundle(vectors)).mean()
    assert measured == pytest.approx(algebra.part_similarity(parts), rel=0.02)


def test_the_mean_walk_agrees_with_its_integral():
    """E|S_n| = ∫ (1 - J0(r)^n) / r² dr, with J0 as the mean of cos(r sin t)."""
    limit = 100.0
    r = np.linspace(1e-3, limit, 30_000)
    bessel = np.mean([np.cos(r * math.sin(math.pi * (k + 0.5) / 160)) for k in range(160)], axis=0)
    for steps in (2, 3, 5, 8, 12):
        inner = float(np.sum((1 - bessel**steps) / r**2) * (r[1] - r[0]))
        expected = inner + 1 / limit + steps * 1e-3 / 4
        assert algebra.part_similarity(steps) * steps == pytest.approx(expected, rel=5e-3)


def test_unrelated_vectors_differ_from_zero_by_the_predicted_noise():
    dim = 256
    matrix = algebra.encode_atoms([f"other {n}" for n in range(600)], dim)
    measured = algebra.similarities(matrix, algebra.encode_atom("one", dim)).std()
    assert measured == pytest.approx(algebra.noise(dim), rel=0.12)


def test_snr_falls_with_the_root_of_the_parts():
    assert algebra.snr_estimate(1024, 100) == pytest.approx(math.sqrt(math.pi * 1024 / 200), rel=0.01)
    assert algebra.snr_estimate(4096, 50) == pytest.approx(2 * algebra.snr_estimate(1024, 50), rel=1e-6)


def test_a_weight_makes_a_part_count_more():
    vectors = algebra.encode_atoms(["a", "b"], DIM)
    weighted = algebra.bundle(vectors, [3.0, 1.0])
    assert algebra.similarity(weighted, vectors[0]) > algebra.similarity(weighted, vectors[1]) + 0.3


def test_a_fact_of_plain_words_is_the_vector_that_the_peer_makes():
    """The peer: text and entities bound to their roles and bundled, angles of the sum of phasors."""
    dim = 128

    def atom(word):
        return np.array(published_atom(word, dim))

    def bundled(vectors):
        return np.angle(np.sum(np.exp(1j * np.array(vectors)), axis=0)) % (2 * math.pi)

    text = bundled([atom("alice"), atom("likes"), atom("tea")])
    theirs = bundled([text + atom("__hrr_role_content__"), atom("alice") + atom("__hrr_role_entity__")])
    ours = algebra.encode_fact(["alice", "likes", "tea"], ["alice"], dim)
    assert np.abs(np.angle(np.exp(1j * (to_radians(ours) - theirs)))).max() < 2e-4


def test_text_probe_and_entity_probe_find_their_fact():
    facts = np.stack([algebra.encode_fact([f"w{n}", f"v{n}", "the"], [f"e{n}"]) for n in range(50)])
    by_text = algebra.similarities(facts, algebra.content_probe(["w7", "v7", "the"]))
    by_entity = algebra.similarities(facts, algebra.entity_probe("e7"))
    assert by_text.argmax() == by_entity.argmax() == 7
    assert by_text[7] == pytest.approx(algebra.part_similarity(2), abs=0.06)
    assert np.delete(by_entity, 7).max() < 0.15


@pytest.mark.parametrize("seed", range(5))
def test_the_facts_of_one_entity_come_first_whatever_else_there_is(seed):
    """B112: 5 facts about Alice among 50; the direct test finds exactly those, in the same order each time."""
    facts = [algebra.encode_fact([f"word{seed}-{n}"], ["alice" if n % 10 == 0 else f"name{n}"]) for n in range(50)]
    scores = algebra.similarities(np.stack(facts), algebra.entity_probe("alice"))
    assert set(np.argsort(-scores)[:5].tolist()) == {0, 10, 20, 30, 40}


def test_an_empty_text_is_the_peers_symbol_for_it():
    assert np.array_equal(algebra.encode_text("  ...  ", 64), algebra.encode_atom("__hrr_empty__", 64))
    assert np.array_equal(algebra.encode_tokens([], 64), algebra.encode_atom("__hrr_empty__", 64))


@pytest.mark.parametrize("dim", [0, 63, 100, 32_768, True, 64.0, "1024"])
def test_an_impossible_dimension_is_refused(dim):
    with pytest.raises(InvalidValue, match="hrr_dim"):
        algebra.check_dim(dim)


def test_a_bundle_of_nothing_is_refused():
    with pytest.raises(InvalidValue):
        algebra.bundle(np.empty((0, 64), np.uint16))


@given(st.integers(4, 64).map(lambda n: n * 16), st.integers(0, 2**32 - 1), st.sampled_from(BITS))
@settings(max_examples=60)
def test_packing_turns_no_phase_by_more_than_half_a_step(dim, seed, bits):
    vector = np.random.default_rng(seed).integers(0, 65536, dim, dtype=np.uint16)
    blob = pack(vector, bits)
    assert len(blob) == packed_size(dim, bits)
    turned = (unpack(blob) - vector).astype(np.int16).astype(int)
    assert np.abs(turned).max() <= 65536 // 2**bits // 2


@pytest.mark.parametrize(("bits", "kept"), [(2, 0.9003), (4, 0.9936), (8, 0.9999)])
def test_packing_keeps_the_predicted_part_of_every_similarity(bits, kept):
    facts = [algebra.encode_fact([f"w{n}", f"v{n}"], [f"e{n}"]) for n in range(40)]
    losses = [algebra.similarity(unpack(pack(fact, bits)), fact) for fact in facts]
    assert np.mean(losses) == pytest.approx(kept, abs=0.004)


def test_a_vector_of_the_default_dimension_takes_half_a_kilobyte():
    assert len(pack(algebra.encode_atom("x"))) == 516


@pytest.mark.parametrize("dim", [64, 100, 1024])
def test_both_forms_of_the_peer_are_readable(dim):
    angles = published_atom("alice", dim)
    theirs = struct.pack(f"<{dim}d", *angles)
    newer = b"HRR1" + struct.pack(f"<{dim}f", *angles)
    expected = np.array([round(angle / math.tau * 65536) for angle in angles], np.uint16)
    assert np.array_equal(unpack(theirs), expected)
    assert np.abs((unpack(newer) - expected).astype(np.int16)).max() <= 1


@pytest.mark.parametrize(
    "blob", [b"", b"HRP\x04", b"HRP\x03" + b"x" * 64, b"HRR1abc", b"x" * 9, struct.pack("<2d", math.nan, 1)]
)
def test_bytes_that_are_no_vector_are_refused(blob):
    with pytest.raises(VectorUnreadable):
        unpack(blob)


@given(st.binary(max_size=80))
def test_any_bytes_are_a_vector_or_refused(blob):
    try:
        assert unpack(blob).dtype == np.uint16
    except VectorUnreadable:
        assert True


def test_rows_of_another_dimension_or_damaged_are_told_apart_and_break_nothing():
    good, other = algebra.encode_atom("a", 128), algebra.encode_atom("a", 64)
    theirs = struct.pack("<128d", *published_atom("a", 128))
    rows, readable = unpack_rows([pack(good), None, pack(other), b"junk", theirs, pack(good, 2)], 128)
    assert readable.tolist() == [True, False, False, False, True, True]
    assert rows.shape == (6, 128)
    assert algebra.similarities(rows[readable], good).min() > 0.88
    assert not rows[~readable].any()
