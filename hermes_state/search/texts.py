"""The texts of hits: what they show that the index does not, and the snippet."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hermes_state.codec import searchable_text
from hermes_state.engine import lookups
from hermes_state.search.rank import MAX_REPEATS, Evidence
from hermes_state.text import fold, snippet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from hermes_state.search.plan import Piece, Plan

# Characters of a text that ranking reads: the first ones. A word that comes later is known from the index to be there.
MAX_READ_CHARS = 20_000
# Characters around a match that the snippet is cut from.
_AROUND = 160


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


def evidence(text: Text, plan: Plan) -> Evidence:
    """What a text shows of the pieces, stop words and characters of a query."""
    folded = text.folded
    repeats: dict[int, int] = {}
    for index, piece in enumerate(plan.pieces):
        times = sum(_count(folded, needle) for needle in piece.needles)
        if times > 1:
            repeats[index] = times
    stops = [index for index, piece in enumerate(plan.stops) if any(_count(folded, n, 1) for n in piece.needles)]
    characters = sum(character in folded for character in plan.characters)
    return Evidence(repeats, stops, characters)


def _count(text: str, needle: str, most: int = MAX_REPEATS) -> int:
    """How often a needle begins a word of the text; within scripts without spaces, how often it is there."""
    times = 0
    is_latin = needle.isascii()
    place = text.find(needle)
    while place >= 0 and times < most:
        if not (is_latin and place and text[place - 1].isalnum() and text[place - 1].isascii()):
            times += 1
        place = text.find(needle, place + len(needle))
    return times


def make_snippet(text: Text, plan: Plan) -> str:
    """The stretch of the text that shows why it was found.

    A long text is first cut down to the surroundings of a place where the pieces stand close together: finding every
    match in 8 KB costs more than the whole search.
    """
    original = text.original
    if len(original) <= 2 * _AROUND:
        return snippet(original, plan.terms)
    start, end = _surroundings(original, plan.pieces)
    shown = snippet(original[start:end], plan.terms)
    head = "…" if start > 0 and not shown.startswith("…") else ""
    tail = "…" if end < len(original) and not shown.endswith("…") else ""
    return f"{head}{shown}{tail}"


def _surroundings(original: str, pieces: Sequence[Piece]) -> tuple[int, int]:
    """A stretch around a match of the first piece that has one, where most others are near."""
    folded = original.lower()
    if len(folded) != len(original):
        return 0, len(original)
    firsts = {needle: place for piece in pieces for needle in piece.needles if (place := _find(folded, needle)) >= 0}
    if not firsts:  # bent or folded beyond a plain look: let the snippet find it
        return 0, len(original)
    best, best_count = 0, -1
    for place in firsts.values():
        low, high = max(0, place - _AROUND // 2), place + _AROUND // 2
        count = sum(folded.find(needle, low, high) >= 0 for needle in firsts)
        if count > best_count:
            best, best_count = place, count
    return _widened(original, best)


def _find(folded: str, needle: str) -> int:
    """Where a needle first begins a word, or is at all; -1 when it is not there."""
    first = place = folded.find(needle)
    while place > 0 and needle.isascii() and folded[place - 1].isalnum():
        place = folded.find(needle, place + 1)
    return place if place >= 0 else first


def _widened(original: str, place: int) -> tuple[int, int]:
    """The stretch around a place, cut at white space where there is some near."""
    start, end = max(0, place - _AROUND), min(len(original), place + _AROUND)
    if start:
        blank = original.find(" ", start, start + 60)
        start = blank + 1 if blank >= 0 else start
    if end < len(original):
        blank = original.rfind(" ", end - 60, end)
        end = blank if blank >= 0 else end
    return start, end
