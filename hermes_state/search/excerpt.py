"""The snippet of a hit, for many hits at once.

`hermes_state.text.snippet` finds every match of every term in a text, which for one long text costs more than the whole
search. Here a stretch around one match is chosen first, by plain look-ups, and only that is marked. Where plain
look-ups find nothing (accents, bent words, camelCase, scripts with marks) the thorough way is taken.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.text import Prefix, fold, snippet
from hermes_state.text.snippet import ELLIPSIS, MARKS, WIDTH, one_line
from hermes_state.text.tokens import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_state.search.plan import Plan

# Characters before the match that the stretch is centred on.
_LEAD = 60
# How far a cut moves to fall between two words.
_SHIFT = 24
# Characters that the thorough way reads around the place, when it is known.
_THOROUGH = 320
# The first script without spaces whose letters are single characters.
_IDEOGRAPHS_FROM = "\u2e80"

# Characters of which each folds to one.
_PLAIN = re.compile("[\x00-\x7f\u3001\u3002\u4e00-\u9fff\uac00-\ud7a3\uff01\uff0c\uff1a\uff1b\uff1f]*+")
_BLANK = re.compile(r"\s")
_LAST_BLANK = re.compile(r"\s\S*\Z")


class _Sight(NamedTuple):
    """What of a query a plain look-up can mark in a folded text.

    Attributes:
        needle: To look for.
        word: The token that the word around it must have; None: any word will do.
        is_run: It stands in a script without spaces, where no word ends.
    """

    needle: str
    word: str | None
    is_run: bool


class Excerpts:
    """The snippets for one plan: the stretch of a text that shows why the query finds it, its matches marked."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._needles = tuple(dict.fromkeys(needle for piece in plan.pieces for needle in piece.needles))
        self._sights = tuple(dict.fromkeys(_sights(plan)))

    def of(self, text: str, folded: str) -> str:
        """The excerpt of one text, on one line.

        Args:
            folded: The folded text, or its beginning.
        """
        if len(folded) != len(text):
            folded = text.lower() if text.isascii() else fold(text)
        place = _best_place(folded, self._needles) if len(folded) == len(text) else -1
        if place < 0:
            return snippet(text, self._plan.terms)
        start, end = _stretch(text, place)
        spans = self._spans(folded, start, end) if _is_aligned(text[start:end]) else []
        if not spans:
            return self._thorough(text, place)
        parts = [ELLIPSIS] if start > 0 else []
        at = start
        for first, last in spans:
            parts += (text[at:first], MARKS[0], text[first:last], MARKS[1])
            at = last
        parts.append(text[at:end])
        line = one_line("".join(parts))
        return line + ELLIPSIS if end < len(text) else line

    def _thorough(self, text: str, place: int) -> str:
        start, end = max(0, place - _THOROUGH // 2), min(len(text), place + _THOROUGH // 2)
        shown = snippet(text[start:end], self._plan.terms)
        if MARKS[0] not in shown:
            return snippet(text, self._plan.terms)
        head = ELLIPSIS if start > 0 and not shown.startswith(ELLIPSIS) else ""
        tail = ELLIPSIS if end < len(text) and not shown.endswith(ELLIPSIS) else ""
        return f"{head}{shown}{tail}"

    def _spans(self, folded: str, start: int, end: int) -> list[tuple[int, int]]:
        """What the query matches in a stretch, in order, not touching each other."""
        found: list[tuple[int, int]] = []
        for sight in self._sights:
            place = folded.find(sight.needle, start, end)
            while place >= 0:
                last = _end_of(folded, place, end, sight)
                if last > 0:
                    found.append((place, last))
                place = folded.find(sight.needle, max(last, place + len(sight.needle)), end)
        return _merged(found) if len(found) > 1 else found


def _sights(plan: Plan) -> Iterator[_Sight]:
    for piece in plan.pieces:
        is_prefix = isinstance(piece.node, Prefix)
        for term, needle in zip(piece.node.exact, piece.needles, strict=True):
            if term.grams:
                if needle >= _IDEOGRAPHS_FROM:
                    yield _Sight(needle, None, is_run=True)
            elif len(term.words) == 1:
                yield _Sight(needle, None if is_prefix else term.words[0], is_run=False)
            elif needle.isascii():
                yield _Sight(needle, None, is_run=False)


def _end_of(folded: str, place: int, end: int, sight: _Sight) -> int:
    """Where the word ends whose beginning a needle was found to be; 0 when it is another word's part, or is cut off."""
    last = place + len(sight.needle)
    if sight.is_run:
        return last
    if place > 0 and _is_word(folded[place - 1]):
        return 0
    while last < len(folded) and _is_word(folded[last]):
        last += 1
    if last > end:
        return 0
    return last if sight.word is None or sight.word in vocabulary().tokens(folded[place:last]) else 0


def _merged(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found.sort()
    spans = found[:1]
    for first, last in found[1:]:
        if first <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], last))
        else:
            spans.append((first, last))
    return spans


def _best_place(folded: str, needles: tuple[str, ...]) -> int:
    """The first match of some needle, the one that has most others near; -1 when none is seen."""
    if len(needles) == 1:
        return _first(folded, needles[0])
    firsts = {needle: place for needle in needles if (place := _first(folded, needle)) >= 0}
    best, best_count = -1, -1
    for place in firsts.values():
        low, high = max(0, place - _LEAD), place + WIDTH - _LEAD
        count = sum([folded.find(needle, low, high) >= 0 for needle in firsts])
        if count > best_count:
            best, best_count = place, count
    return best


def _first(folded: str, needle: str) -> int:
    """Where a needle first begins a word, or is at all; -1 when it is not there."""
    first = place = folded.find(needle)
    while place > 0 and needle.isascii() and _is_word(folded[place - 1]):
        place = folded.find(needle, place + 1)
    return place if place >= 0 else first


def _stretch(text: str, place: int) -> tuple[int, int]:
    """So much of the text around a place as a snippet holds, cut between words where there are some near the cut."""
    if len(text) <= WIDTH:
        return 0, len(text)
    start = max(0, min(place - _LEAD, len(text) - WIDTH))
    if start > 0:
        blank = _BLANK.search(text, start, min(place, start + _SHIFT))
        start = blank.end() if blank else start
    end = min(len(text), start + WIDTH)
    if end < len(text):
        tail = text[max(place + 1, end - _SHIFT) : end]
        blank = _LAST_BLANK.search(tail)
        end = end - len(tail) + blank.start() if blank else end
    return start, end


def _is_word(character: str) -> bool:
    """Whether a character goes on with a word beside it, of a script that has spaces."""
    return character.isalnum() and character < _IDEOGRAPHS_FROM


def _is_aligned(stretch: str) -> bool:
    """Whether each character folds to one, so that a place in the folded text is the same place in the text."""
    return stretch.isascii() or _PLAIN.fullmatch(stretch) is not None or all(map(_folds_to_one, set(stretch)))


@cache
def _folds_to_one(character: str) -> bool:
    return character.isascii() or len(fold(character)) == 1
