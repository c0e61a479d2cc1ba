"""The sentences of the labelled sets of facts, one module a language.

Written before the code that is measured with them. What is marked `held` was not looked at while that code was made.
A line of `facts` is `statement => question`; the question is answered by that statement about the same names, and when
it ends with ` <>` also with the two people changing places. A line of `pairs` is `older => newer`, and the key says how
they contradict each other; under `none` they do not.
"""

from __future__ import annotations

from typing import NamedTuple

BOTH_WAYS = " <>"


class Part(NamedTuple):
    """One half of a language: what was looked at, or what was held out."""

    names: dict[str, tuple[str, ...]]
    facts: str
    pairs: dict[str, str]


class Texts(NamedTuple):
    """All sentences of a language.

    Attributes:
        opened: To develop with.
        held: To measure with. Its failures were looked at once, and what they had in common was mended.
        sealed: Pairs that were written after the code and only measured, by kind as in a part.
        values: What fills a slot of a pair, by its name: different fillings of one slot exclude each other.
        unrelated: Prompts that no fact answers.
        strangers: Names that no fact has.
    """

    opened: Part
    held: Part
    sealed: dict[str, str]
    values: dict[str, tuple[str, ...]]
    unrelated: tuple[str, ...]
    strangers: tuple[str, ...]


def lines(block: str) -> list[tuple[str, str]]:
    """The two sides of each line of a block."""
    cut = (line.strip().split(" => ") for line in block.strip().splitlines() if line.strip())
    return [(left, right) for left, right in cut]
