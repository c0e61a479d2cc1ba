"""Phase vectors: symbols as points on many circles, combined by adding and comparing angles.

A vector has `dim` phases. A phase is an unsigned 16-bit number of 1/65536 turns, so binding is addition that wraps by
itself and unbinding undoes it without error. The operations are those of holographic reduced representations in the
frequency domain (Plate, *Holographic Reduced Representations*, IEEE Trans. Neural Networks 6(3), 1995; the same title,
CSLI 2003, chapter 4: "circular vectors"). `docs/holographic.md` explains them in plain words.
"""

import hashlib
import math
from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from hermes_state.errors import InvalidValue

Phases = NDArray[np.uint16]
"""One vector, shape (dim,), or one vector a row, shape (n, dim)."""

DEFAULT_DIM = 1024
DIM_STEP = 16
MIN_DIM, MAX_DIM = 64, 16_384

# The symbols of the peer's scheme: two roles, and what stands for a text without words.
ROLE_CONTENT = "__hrr_role_content__"
ROLE_ENTITY = "__hrr_role_entity__"
# Ours: what an entity does in the sentence, where it says so (`roles`).
ROLE_AGENT = "__hrr_role_agent__"
ROLE_PATIENT = "__hrr_role_patient__"
EMPTY = "__hrr_empty__"

TURN = 1 << 16
# Atoms remembered by this process: 2 KiB each at the default dimension.
_REMEMBERED_ATOMS = 8192
# Their phasors are four times as large.
_REMEMBERED_PHASORS = 2048
_PEER_PUNCTUATION = ".,!?;:\"'()[]{}"


def check_dim(dim: int) -> int:
    """The dimension, if vectors can have it.

    Raises:
        InvalidValue: Not a multiple of 16 from 64 to 16384.
    """
    if isinstance(dim, bool) or not isinstance(dim, int) or not MIN_DIM <= dim <= MAX_DIM or dim % DIM_STEP:
        raise InvalidValue(
            f"hrr_dim is {dim!r}",
            hint=f"Use a multiple of {DIM_STEP} from {MIN_DIM} to {MAX_DIM}; {DEFAULT_DIM} is usual.",
        )
    return dim


@lru_cache(maxsize=_REMEMBERED_ATOMS)
def encode_atom(word: str, dim: int = DEFAULT_DIM) -> Phases:
    """The vector of one symbol: the same in every process and release, nearly orthogonal to every other. Read-only.

    Block i of sixteen phases is SHA-256 of `word:i` in UTF-8, read as sixteen little-endian 16-bit numbers: the
    published scheme of the peer, bit for bit. A lone surrogate counts as its three-byte form.
    """
    start = f"{word}:".encode("utf-8", "surrogatepass")
    digests = [hashlib.sha256(start + number).digest() for number in _numbers(-(-dim // DIM_STEP))]
    numbers: Phases = np.frombuffer(b"".join(digests), dtype="<u2")[:dim].astype(np.uint16, copy=False)
    return numbers


@cache
def _numbers(count: int) -> tuple[bytes, ...]:
    """0, 1, … as they stand behind the word of a block."""
    return tuple(str(number).encode() for number in range(count))


def encode_atoms(words: Sequence[str], dim: int = DEFAULT_DIM) -> Phases:
    """The vectors of some symbols, one a row."""
    if not words:
        return np.empty((0, dim), np.uint16)
    return np.stack([encode_atom(word, dim) for word in words])


def bind(a: Phases, b: Phases) -> Phases:
    """The pair of a and b: unlike both, and either gives the other back. Rows broadcast."""
    return np.add(a, b, dtype=np.uint16)


def unbind(pair: Phases, key: Phases) -> Phases:
    """What was bound to this key: `unbind(bind(a, b), b)` is a, exactly. Rows broadcast."""
    return np.subtract(pair, key, dtype=np.uint16)


def bundle(vectors: Phases, weights: Sequence[float] | None = None) -> Phases:
    """One vector that is like each of these: the angle of the sum of their phasors, to 1/65536 turn.

    Args:
        vectors: Shape (n, dim), n at least 1. The order of the rows does not matter.
        weights: How much each counts; equally unless given.
    """
    if vectors.ndim != 2 or not len(vectors):
        raise InvalidValue(f"a bundle needs rows of vectors, not an array of shape {vectors.shape}")
    if len(vectors) == 1 and (weights is None or weights[0] > 0):
        single: Phases = vectors[0].copy()
        return single
    cosine, sine = _circle()
    if weights is None:
        return to_phases(cosine[vectors].sum(axis=0), sine[vectors].sum(axis=0))
    by = np.asarray(weights, np.float32)
    return to_phases(by @ cosine[vectors], by @ sine[vectors])


def to_phases(real: NDArray[np.float32], imaginary: NDArray[np.float32]) -> Phases:
    """The angles of complex numbers. Of zero it is zero."""
    turns = np.arctan2(imaginary, real).astype(np.float64) * (TURN / math.tau)
    phases: Phases = np.rint(turns).astype(np.int64).astype(np.uint16)
    return phases


def similarity(a: Phases, b: Phases) -> float:
    """How alike two vectors are: 1 for equal ones, about 0 ± `noise(dim)` for unrelated ones, never below -1."""
    return float(_circle()[0][unbind(a, b)].mean(dtype=np.float64))


def similarities(matrix: Phases, vector: Phases) -> NDArray[np.float32]:
    """The similarity of each row to the vector."""
    if not len(matrix):
        return np.empty(0, np.float32)
    means: NDArray[np.float32] = _circle()[0][unbind(matrix, vector)].mean(axis=1, dtype=np.float32)
    return means


def encode_tokens(tokens: Sequence[str], dim: int = DEFAULT_DIM) -> Phases:
    """A text as the bundle of its words, each as often as it occurs."""
    if len(tokens) < 2:
        return encode_atom(tokens[0] if tokens else EMPTY, dim).copy()
    return to_phases(*np.stack([_atom_phasors(token, dim) for token in tokens]).sum(axis=0))


@lru_cache(maxsize=_REMEMBERED_PHASORS)
def _atom_phasors(word: str, dim: int) -> NDArray[np.float32]:
    """Real and imaginary parts of an atom, shape (2, dim): words come again, and to look them up costs most."""
    return np.stack(phasors(encode_atom(word, dim)))


def encode_text(text: str, dim: int = DEFAULT_DIM) -> Phases:
    """A text as the peer encodes it: lower case, cut at white space, ASCII punctuation off the ends of words.

    For comparing with vectors of the peer. Ours are made of tokens of `hermes_state.text`, which know every script.
    """
    words = (word.strip(_PEER_PUNCTUATION) for word in text.lower().split())
    return encode_tokens([word for word in words if word], dim)


def encode_fact(
    tokens: Sequence[str],
    entities: Sequence[str],
    dim: int = DEFAULT_DIM,
    *,
    agents: Sequence[str] = (),
    patients: Sequence[str] = (),
) -> Phases:
    """A fact: its text in the role of content, bundled with each of its entities in the role of an entity.

    With only these it is a fact of the published scheme. Entities whose part in the sentence is known are in it a
    second time, in the role of that part.

    Args:
        tokens: The words of the text.
        entities: Keys of entities (`entities.normalise`), in any order.
        dim: Phases of the vector.
        agents: Keys of those that do something in it.
        patients: Keys of those to whom it is done.
    """
    bound = [
        bind(encode_atoms(keys, dim), encode_atom(role, dim))
        for keys, role in ((entities, ROLE_ENTITY), (agents, ROLE_AGENT), (patients, ROLE_PATIENT))
        if keys
    ]
    return bundle(np.vstack([content_probe(tokens, dim)[None], *bound]))


def content_probe(tokens: Sequence[str], dim: int = DEFAULT_DIM) -> Phases:
    """What the words look like inside a fact; compare it with facts, never the bare words."""
    return bind(encode_tokens(tokens, dim), encode_atom(ROLE_CONTENT, dim))


def entity_probe(key: str, dim: int = DEFAULT_DIM, role: str = ROLE_ENTITY) -> Phases:
    """What an entity looks like inside a fact, in a role; compare it with facts."""
    return bind(encode_atom(key, dim), encode_atom(role, dim))


def part_similarity(parts: int) -> float:
    """The expected similarity of a bundle to one of its parts, when the parts are unrelated.

    The phasors of `parts` vectors at one place are steps of equal length in random directions, and the similarities
    of the sum to its steps add up to its length. So each is E|S|/n for the random walk S of n steps: 1, 2/π, 0.525,
    … and √(π/4n) for many. The mean length is Pearson's random walk, as `_mean_walk` says.
    """
    if parts < 1:
        raise InvalidValue(f"a bundle has at least one part, not {parts}")
    return _mean_walk(parts) / parts


def _mean_walk(steps: int) -> float:
    """E|S| of a walk of unit steps in the plane (Borwein, Nuyens, Straub, Wan: *Random Walk Integrals*, 2011).

    Beyond six steps the Rayleigh limit with its first correction (Pearson, Nature 72, 1905) is right to 0.1 %.
    """
    exact = (0.0, 1.0, 4 / math.pi, 1.5745972, 1.7990925, 2.0081619, 2.1940799)
    if steps < len(exact):
        return exact[steps]
    return math.sqrt(math.pi * steps) / 2 * (1 + 1 / (16 * steps))


def noise(dim: int) -> float:
    """The standard deviation of the similarity of unrelated vectors: the mean of `dim` cosines of random angles."""
    return 1 / math.sqrt(2 * dim)


def snr_estimate(dim: int, parts: int) -> float:
    """By how many standard deviations of noise one part of a bundle stands out, on average: about 1.25·√(dim/parts).

    Choosing among N candidates needs about √(2 ln N) of them, so 4 is little and 8 is safe for any store.
    """
    return part_similarity(parts) / noise(dim)


@cache
def _circle() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Cosine and sine of every phase there is: half a megabyte, and faster than computing them."""
    angles = np.arange(TURN, dtype=np.float64) * (math.tau / TURN)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def phasors(vectors: Phases) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Real and imaginary parts of the vectors, for sums that are not bundles."""
    cosine, sine = _circle()
    return cosine[vectors], sine[vectors]
