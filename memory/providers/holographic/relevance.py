"""How well a fact answers a question: three signals between 0 and 1, their weighted mean, and what is too little.

* full text: which of the question's words the fact has, each worth what it says (rare words more). A word that no fact
  has counts as missing, so a question about something unknown gets little from the words around it.
* token overlap: the words that both have, of all words that either has. Prefers the fact that says this and no more.
* vectors: how much of the question is in the fact: its words in the role of content, and each entity that it names in
  the role of an entity, each as a part of what it would be in a fact that has it. Unrelated vectors are at 0 ± noise.

A question about somebody is not answered by a fact about somebody else, however alike the words are; so a fact loses
three fifths of its relevance when it has none of the entities that the question names, and a part of it for some. Nor
is "who introduced Ann" answered by "Ann introduced Ben": a fact in which a name has the opposite part loses a third.

The gate is on relevance alone, before trust and age: whether a fact answers does not depend on how far it is believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_DAY_US = 86_400_000_000


class Signals(NamedTuple):
    """Each 0 to 1; None: there is none, and the others stand in for it."""

    fulltext: float
    overlap: float
    vectors: float | None


class Against(NamedTuple):
    """What speaks against a fact, whatever words it has in common with the question.

    Attributes:
        missing: The share of the question's names that it lacks.
        is_turned: Somebody does in it what is done to them in the question, or the reverse.
    """

    missing: float
    is_turned: bool

    @property
    def left(self) -> float:
        """What is left of its relevance."""
        return (1.0 - _STRANGER * self.missing) * (_TURNED if self.is_turned else 1.0)


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal counts."""

    fulltext: float = 0.4
    overlap: float = 0.3
    vectors: float = 0.3

    @classmethod
    def with_vectors(cls, share: float) -> Self:
        """The vectors at this share of 1, the other two as they are to each other."""
        share = min(1.0, max(0.0, share))
        rest = cls().fulltext + cls().overlap
        return cls((1.0 - share) * cls().fulltext / rest, (1.0 - share) * cls().overlap / rest, share)

    def mean(self, signals: Signals) -> float:
        """The weighted mean of the signals that there are."""
        total = self.fulltext * signals.fulltext + self.overlap * signals.overlap
        weight = self.fulltext + self.overlap
        if signals.vectors is not None:
            total += self.vectors * signals.vectors
            weight += self.vectors
        return total / weight if weight else 0.0


DEFAULT_WEIGHTS = Weights()
# What a fact must reach to be recalled. On the labelled sets the best fact for a question without an answer is at 0.29
# at most, and the best right one at 0.32 at least.
GATE = 0.3
# Who asks for a list wants to see what comes near, and judges for himself: he gets what reaches this part of the gate.
GATE_OF_A_LIST = 0.5
# What it must reach beside the best one: before a turn, and when a tool asks and wants to see more.
BESIDE_BEFORE_A_TURN, BESIDE_IN_A_LIST = 0.9, 0.6
# The same for a fact that has all of the question that the best one has, and only says more.
BESIDE_WITH_ALL_WORDS = 0.7
# What missing all entities of a question costs.
_STRANGER = 0.6
# What is left of a fact in which who does it and to whom are the other way round.
_TURNED = 0.7


def overlap(asked: AbstractSet[str], told: AbstractSet[str]) -> float:
    """The part that two sets of words have in common (Jaccard)."""
    both = len(asked & told)
    return both / (len(asked) + len(told) - both) if both else 0.0


def decay(age_us: int, half_life_days: float) -> float:
    """What age leaves of a score: a half after each half-life; everything when there is none."""
    if half_life_days <= 0 or age_us <= 0:
        return 1.0
    return float(0.5 ** (age_us / _DAY_US / half_life_days))
