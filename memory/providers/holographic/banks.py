"""Banks: many links between entities and facts in one vector of fixed size.

A bank adds up, as complex numbers, the phasors of bind(entity, fact) of its links; both sides are atoms. Unbinding an
entity leaves the facts linked to it, each at strength 1, and the other links as noise of √(links / 2 dim), so a bank
answers "what do we know about X" without reading a fact (Plate 2003, §3.1 "trace composition"; the sum is kept as it
is and not brought back to unit length, which costs a ninth of the signal). Sums are whole numbers: adding and removing
a link are exact opposites.

What a bank can hold is bounded. `capacity` says how many links leave at most one wrong answer in a hundred queries; a
fuller one is split by the hash of the entity, and a bank that can't be split says so by its `snr`.
"""

import hashlib
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hermes_state.errors import InvalidValue
from memory.providers.holographic.algebra import Phases, bind, check_dim, encode_atom, encode_atoms, phasors
from memory.providers.holographic.vector_codec import VectorUnreadable

BANK_DIM = 1024
# A cosine of 1 in the sums. The rounding adds a hundredth of one link's own noise.
UNIT = 8
# A fact is reported when it stands above the middle between absent (0) and present (1).
THRESHOLD = 0.5
# Wrong answers, missing or too many, a query may have on average within the capacity.
ERRORS_PER_QUERY = 0.01
# Bits of an entity's hash that shards may use; what still shares a bank then is one entity, or might as well be.
MAX_DEPTH = 64
_MAGIC = b"HRB"
_WIDTHS = {1: "<i1", 2: "<i2", 4: "<i4"}
_HEADER_BYTES = 16


class Link(NamedTuple):
    """A fact says something about an entity: its key, and the id of the fact."""

    entity: str
    fact: int


class Recall(NamedTuple):
    """What a bank answers.

    Attributes:
        facts: Ids of facts and their strengths, about 1 for each that is linked; best first.
        snr: The strength of one link in standard deviations of the noise.
        reliable: Whether the bank is within its capacity. If not, facts may be missing or wrong.
    """

    facts: tuple[tuple[int, float], ...]
    snr: float
    reliable: bool


@dataclass(slots=True)
class Bank:
    """The links of one shard of a category.

    Attributes:
        dim: Phases of its vectors; free of the dimension of facts.
        shard: The bits with which the hash of each of its entities begins; empty for all entities.
        links: How many links it holds.
        sums: Real and imaginary sums, shape (2, dim), in UNITs.
    """

    dim: int
    shard: str
    links: int
    sums: NDArray[np.int32]

    @classmethod
    def empty(cls, dim: int = BANK_DIM, shard: str = "") -> Self:
        """A bank without links."""
        return cls(check_dim(dim), shard, 0, np.zeros((2, dim), np.int32))

    def add(self, links: Iterable[Link]) -> None:
        """Put links in. The caller adds each once: a link added twice counts twice."""
        self._change(list(links), 1)

    def remove(self, links: Iterable[Link]) -> None:
        """Take out links that were put in; the sums are then as if they had never been there.

        Raises:
            InvalidValue: More links than the bank holds; nothing was changed.
        """
        gone = list(links)
        if len(gone) > self.links:
            raise InvalidValue(f"{len(gone)} links can't leave a bank of {self.links}", hint="Rebuild the bank.")
        self._change(gone, -1)

    def _change(self, links: Sequence[Link], sign: int) -> None:
        if links:
            pairs = bind(encode_atoms([entity for entity, _ in links], self.dim), _symbols(links, self.dim))
            self.sums += sign * np.stack([_whole(part).sum(axis=0) for part in phasors(pairs)])
            self.links += sign * len(links)

    @property
    def snr(self) -> float:
        """The strength of one link in standard deviations of the noise: √(2 dim / links); infinite when empty."""
        return math.sqrt(2 * self.dim / self.links) if self.links else math.inf

    @property
    def load(self) -> float:
        """Links per link of capacity; above 1 the bank is too full."""
        return self.links / capacity(self.dim)

    @property
    def over_capacity(self) -> bool:
        """Whether answers are no longer to be relied on."""
        return self.links > capacity(self.dim)

    def recall(self, entity: str, candidates: Sequence[int]) -> Recall:
        """Which of these facts the bank links to the entity.

        Args:
            entity: Its key.
            candidates: Ids of the facts with links in this bank: a bank can confirm a fact, not spell its id.
        """
        found: list[tuple[int, float]] = []
        if self.links and candidates:
            real, imaginary = self.sums.astype(np.float32) / UNIT
            pairs = bind(encode_atom(entity, self.dim), _symbols([Link(entity, fact) for fact in candidates], self.dim))
            cosine, sine = phasors(pairs)
            strengths = (cosine @ real + sine @ imaginary) / self.dim
            found = [(fact, float(at)) for fact, at in zip(candidates, strengths, strict=True) if at >= THRESHOLD]
        found.sort(key=lambda each: (-each[1], each[0]))
        return Recall(tuple(found), self.snr, not self.over_capacity)

    def to_bytes(self) -> bytes:
        """A header of 16 bytes and the sums, one to four bytes each, as they need."""
        largest = int(np.abs(self.sums).max(initial=0))
        width = 1 if largest < 1 << 7 else 2 if largest < 1 << 15 else 4
        header = _MAGIC + bytes([width]) + self.dim.to_bytes(4, "little") + self.links.to_bytes(8, "little")
        return header + bytes(self.sums.astype(_WIDTHS[width]).tobytes())

    @classmethod
    def from_bytes(cls, blob: bytes, shard: str = "") -> Self:
        """The bank in these bytes; the shard is what the row it stood in says.

        Raises:
            VectorUnreadable: They are not the whole of a bank.
        """
        width, dim = (blob[3], int.from_bytes(blob[4:8], "little")) if len(blob) >= _HEADER_BYTES else (0, 0)
        if blob[:3] != _MAGIC or width not in _WIDTHS or len(blob) != _HEADER_BYTES + 2 * dim * width:
            raise VectorUnreadable(f"{len(blob)} bytes are no bank", hint="Rebuild the banks.")
        sums = np.frombuffer(blob, np.dtype(_WIDTHS[width]), offset=_HEADER_BYTES).reshape(2, dim).astype(np.int32)
        return cls(dim, shard, int.from_bytes(blob[8:16], "little"), sums)


@cache
def capacity(dim: int) -> int:
    """The most links a bank of this dimension holds while answers stay right.

    A link stands at 1 and what is not linked at 0, both with the bank's noise, so each candidate is on the wrong side
    of one half with the probability of a normal tail at snr / 2. The capacity is the largest number of links for which
    the tails of as many candidates add up to ERRORS_PER_QUERY.
    """
    check_dim(dim)
    links = 1
    while (links + 1) * _tail(math.sqrt(2 * dim / (links + 1)) * THRESHOLD) <= ERRORS_PER_QUERY:
        links += 1
    return links


def shard_of(entity: str, depth: int) -> str:
    """The first bits of the hash of an entity, as 0 and 1: the shard that it belongs to at this depth."""
    first = hashlib.sha256(f"shard:{entity}".encode("utf-8", "surrogatepass")).digest()[: MAX_DEPTH // 8]
    return format(int.from_bytes(first, "big"), f"0{MAX_DEPTH}b")[:depth]


def pick(shards: Collection[str], entity: str) -> str:
    """The one of these shards that the entity belongs to.

    Raises:
        InvalidValue: None of them is its.
    """
    bits = shard_of(entity, MAX_DEPTH)
    for depth in range(MAX_DEPTH + 1):
        if bits[:depth] in shards:
            return bits[:depth]
    raise InvalidValue(f"none of {len(shards)} shards is for {entity!r}", hint="Rebuild the banks.")


def split(bank: Bank, links: Iterable[Link]) -> tuple[Bank, Bank]:
    """Two banks in place of one, by the next bit of the hash of the entities; one of them may be empty.

    Args:
        bank: Stays as it is.
        links: All its links: a sum can't tell them.

    Raises:
        InvalidValue: These are not so many links as it has, or its shard can't get any deeper.
    """
    held = list(links)
    if len(held) != bank.links or len(bank.shard) >= MAX_DEPTH:
        raise InvalidValue(f"a bank of {bank.links} links can't be split with {len(held)}", hint="Rebuild the banks.")
    halves = Bank.empty(bank.dim, bank.shard + "0"), Bank.empty(bank.dim, bank.shard + "1")
    for half in halves:
        half.add(link for link in held if shard_of(link.entity, len(half.shard)) == half.shard)
    return halves


def can_split(links: Iterable[Link]) -> bool:
    """Whether splitting would help: the links are of more than one entity."""
    return len({entity for entity, _ in links}) > 1


def _symbols(links: Sequence[Link], dim: int) -> Phases:
    """The atoms that stand for the facts of these links."""
    return encode_atoms([f"__fact__:{fact}" for _, fact in links], dim)


def _whole(part: NDArray[np.float32]) -> NDArray[np.int32]:
    return np.rint(part * UNIT).astype(np.int32)


def _tail(deviations: float) -> float:
    """The part of a normal distribution beyond so many standard deviations on one side."""
    return math.erfc(deviations / math.sqrt(2)) / 2
