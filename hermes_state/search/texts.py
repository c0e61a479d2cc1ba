"""The texts of hits, and what they show that the index does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hermes_state.codec import searchable_text
from hermes_state.engine import lookups
from hermes_state.search.rank import MAX_REPEATS, Evidence
from hermes_state.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from hermes_state.search.plan import Plan

# Characters of a text that ranking reads: the first ones. A word that comes later is known from the index to be there.
MAX_READ_CHARS = 20_000


class Text(NamedTuple):
    """The text of a message and its folded beginning."""

    original: str
    folded: str


def load_texts(connection: Connection, ids: Iterable[int]) -> dict[int, Text]:
    """The texts of messages, as they are searched."""
    texts: dict[int, Text] = {}
    for message_id, content, content_format, tool_calls in lookups.texts(connection, ids):
        original = searchable_text(content, content_format, tool_calls)
        texts[message_id] = Text(original, fold(original[:MAX_READ_CHARS]))
    return texts


class Look:
    """What is looked for in the texts of the best: the pieces, stop words and characters of a query."""

    def __init__(self, plan: Plan) -> None:
        self._needles = [(index, needle) for index, piece in enumerate(plan.pieces) for needle in piece.needles]
        self._stops = [(index, needle) for index, piece in enumerate(plan.stops) for needle in piece.needles]
        self._characters = plan.characters

    def at(self, folded: str) -> Evidence:
        """What a folded text shows."""
        repeats: dict[int, int] = {}
        for index, needle in self._needles:
            if times := _count(folded, needle):
                repeats[index] = repeats.get(index, 0) + times
        if not self._stops and not self._characters:
            return Evidence(repeats)
        stops = {index for index, needle in self._stops if _count(folded, needle, 1)}
        return Evidence(repeats, stops, sum([character in folded for character in self._characters]))


def _count(text: str, needle: str, most: int = MAX_REPEATS) -> int:
    """How often a needle begins a word of the text; within scripts without spaces, how often it is there."""
    place = text.find(needle)
    if place < 0:
        return 0
    if not needle.isascii():
        return min(text.count(needle), most)
    times = 0
    while place >= 0 and times < most:
        if place == 0 or not ((before := text[place - 1]).isalnum() and before.isascii()):
            times += 1
        place = text.find(needle, place + len(needle))
    return times
