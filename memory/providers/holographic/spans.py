"""A piece of a text that is a name, and the lists of words by which the rules know one."""

from typing import NamedTuple


class Span(NamedTuple):
    """Where a name stands, and what gave it away (`entities.KINDS`)."""

    start: int
    end: int
    kind: str


def words(block: str) -> list[str]:
    """The words of a list that is written as a text."""
    return block.split()
