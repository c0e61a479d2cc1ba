"""The snippet of a hit, for many hits at once.

`hermes_state.text.snippet` finds every match of every term in a text, which for one long text costs more than the whole
search. Here a stretch around one match is chosen first, by plain look-ups, and only that is marked. Where plain
look-ups find nothing (accents, bent words, camelCase, scripts with marks) the thorough way is taken.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from hermes_state.text import Prefix, fold, snippet
from hermes_state.text.snippet import ELLIPSIS, MARKS, WIDTH
from hermes_state.text.tokens import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hermes_state.search.plan import Piece, Plan
    from hermes_state.text import Term

# Characters before the match that the stretch is centred on.
_LEAD = 60
# How far a cut moves to fall between two words.
_SHIFT = 24
# Characters that the thorough way reads around the place, when it is known.
_THOROUGH = 320
# The first script without spaces whose letters are single characters.
_IDEOGRAPHS_FROM = "\u2e80"

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_BLANK = re.compile(r"\s")


def excerpt(text: str, folded: str, plan: Plan) -> str:
    """The stretch of a text that shows why a plan's query finds it, on one line, its matches marked.

    Args:
        folded: The folded text, or its beginning.
    """
    if len(folded) != len(text):
        folded = text.lower() if text.isascii() else fold(text)
    place = _best_place(folded, plan.pieces) if len(folded) == len(text) else -1
    if place < 0:
        return snippet(text, plan.terms)
    start, end = _stretch(text, place)
    spans = _spans(folded, start, end, plan.pieces) if _is_aligned(text[start:end]) else []
    if not spans:
        return _thorough(text, place, plan)
    parts = [ELLIPSIS] if start > 0 else []
    at = start
    for first, last in spans:
        parts += (text[at:first], MARKS[0], text[first:last], MARKS[1])
        at = last
    parts.append(text[at:end])
    line = _BLANKS.sub(" ", "".join(parts)).strip()
    return line + ELLIPSIS if end < len(text) else line


def _thorough(text: str, place: int, plan: Plan) -> str:
    start, end = max(0, place - _THOROUGH // 2), min(len(text), place + _THOROUGH // 2)
    shown = snippet(text[start:end], plan.terms)
    if MARKS[0] not in shown:
        return snippet(text, plan.terms)
    head = ELLIPSIS if start > 0 and not shown.startswith(ELLIPSIS) else ""
    tail = ELLIPSIS if end < len(text) and not shown.endswith(ELLIPSIS) else ""
    return f"{head}{shown}{tail}"


def _best_place(folded: str, pieces: Sequence[Piece]) -> int:
    """The first match of some piece, the one that has most others near; -1 when none is seen."""
    firsts = {needle: place for piece in pieces for needle in piece.needles if (place := _first(folded, needle)) >= 0}
    if len(firsts) < 2:
        return next(iter(firsts.values()), -1)
    best, best_count = -1, -1
    for place in firsts.values():
        low, high = max(0, place - _LEAD), place + WIDTH - _LEAD
        count = sum(folded.find(needle, low, high) >= 0 for needle in firsts)
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
        blanks = list(_BLANK.finditer(tail))
        end = end - len(tail) + blanks[-1].start() if blanks else end
    return start, end


def _is_word(character: str) -> bool:
    """Whether a character goes on with a word beside it, of a script that has spaces."""
    return character.isalnum() and character < _IDEOGRAPHS_FROM


def _is_aligned(stretch: str) -> bool:
    """Whether each character folds to one, so that a place in the folded text is the same place in the text."""
    return stretch.isascii() or all(map(_folds_to_one, set(stretch)))


@cache
def _folds_to_one(character: str) -> bool:
    return character.isascii() or len(fold(character)) == 1


def _spans(folded: str, start: int, end: int, pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """What the pieces match in a stretch, in order, not touching each other."""
    found = sorted(
        span
        for piece in pieces
        for term, needle in zip(piece.node.exact, piece.needles, strict=True)
        for span in _term_spans(folded, start, end, term, needle, is_prefix=isinstance(piece.node, Prefix))
    )
    spans: list[tuple[int, int]] = []
    for first, last in found:
        if spans and first <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], last))
        else:
            spans.append((first, last))
    return spans


def _term_spans(
    folded: str, start: int, end: int, term: Term, needle: str, *, is_prefix: bool
) -> Iterator[tuple[int, int]]:
    is_word = len(term.words) == 1 and not term.grams
    if not is_word and not term.grams and not needle.isascii():
        return
    if term.grams and needle < _IDEOGRAPHS_FROM:
        return
    place = folded.find(needle, start, end)
    while place >= 0:
        last = place + len(needle)
        if term.grams:
            yield place, last
        elif place == 0 or not _is_word(folded[place - 1]):
            while last < len(folded) and _is_word(folded[last]):
                last += 1
            raw = folded[place:last]
            if last <= end and (is_prefix or not is_word or term.words[0] in vocabulary().tokens(raw)):
                yield place, last
        place = folded.find(needle, last, end)
