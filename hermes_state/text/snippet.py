"""The part of a text that shows why it was found."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from hermes_state.text.matches import find_term
from hermes_state.text.offsets import FoldedText, extends
from hermes_state.text.query import Query, parse
from hermes_state.text.scripts import CLUSTERED_RANGES, IDEOGRAPHIC_RANGES, charset
from hermes_state.text.terms import Term

# Characters of the text in a snippet: two lines of a terminal.
WIDTH = 160
# Around each match. A text may hold the same characters; highlights() tells matches apart for certain.
MARKS = (">>>", "<<<")
ELLIPSIS = "…"
# How far a cut may move to fall between two words.
_MAX_SHIFT = 24

# What ends the sentence before the cut.
_CLOSING = re.compile(r"[\s.,;:!?)\]}、，。；：！？）】」』]+")
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")


@dataclass(frozen=True, slots=True)
class _Match:
    start: int
    end: int
    # Matches with the same name are one thing found many times.
    name: int
    weight: float


def highlights(text: str, query: Query | str | Iterable[Term]) -> list[tuple[int, int]]:
    """The spans of the text that the query finds, in order, not touching each other.

    Args:
        text: Any text; the offsets count its characters.
        query: A query, parsed or not, or terms.

    Returns:
        At most some thousand spans for each term; words without a subject only if the query has no others.
    """
    return _merged(_matches(text, query))


def snippet(
    text: str, query: Query | str | Iterable[Term], *, width: int = WIDTH, marks: tuple[str, str] = MARKS
) -> str:
    """The stretch of the text with the most different terms of the query, on one line.

    Args:
        text: Any text.
        query: A query, parsed or not, or terms.
        width: Characters of the text at most; marks and ellipses come on top.
        marks: Put before and behind each match.

    Returns:
        Whole words where the text has spaces; the beginning of the text if nothing matches.
    """
    matches = _matches(text, query)
    start, end = _window(text, matches, max(1, width))
    parts = [ELLIPSIS] if text[:start].strip() else []
    for first, last in _merged(matches):
        if last <= start or first >= end:
            continue
        first, last = max(first, start), min(last, end)
        parts += (text[start:first], marks[0], text[first:last], marks[1])
        start = last
    parts.append(text[start:end])
    line = one_line("".join(parts))
    return line + ELLIPSIS if text[end:].strip() else line


def one_line(text: str) -> str:
    """The text with each stretch of blanks and control characters as one space, and none at its ends."""
    line = text.replace("\n", " ")
    if "  " in line or not line.isprintable():
        line = _BLANKS.sub(" ", line)
    return line.strip()


def _matches(text: str, query: Query | str | Iterable[Term]) -> list[_Match]:
    folded = FoldedText(text)
    matches = [
        _Match(start, end, name, weight)
        for name, weight, term in _weighted_terms(query)
        for start, end in find_term(folded, term)
    ]
    return sorted(matches, key=lambda match: (match.start, match.end))


def _weighted_terms(query: Query | str | Iterable[Term]) -> list[tuple[int, float, Term]]:
    """Each term with the name it counts under and its weight: a phrase tells more than a word of it."""
    if isinstance(query, str):
        query = parse(query)
    if isinstance(query, Query):
        named = [
            (name, term, leaf.stop or term.stop) for name, leaf in enumerate(query.leaves()) for term in leaf.exact
        ]
        pieces = [term for leaf in query.leaves() for term in leaf.bag]
    else:
        named, pieces = [], list(query)
    named += [(len(named) + index, term, term.stop) for index, term in enumerate(pieces)]
    telling = [each for each in named if not each[2]] or named
    return [(name, float(len(term.words)), term) for name, term, _ in telling]


def _merged(matches: list[_Match]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for match in matches:
        if spans and match.start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], match.end))
        else:
            spans.append((match.start, match.end))
    return spans


def _window(text: str, matches: list[_Match], width: int) -> tuple[int, int]:
    if len(text) <= width:
        return 0, len(text)
    first, last = _best_stretch(matches, width)
    room = max(0, width - (last - first))
    start = min(max(0, first - room // 2), max(0, len(text) - width))
    start = _shifted(text, start, range(start, min(first, start + _MAX_SHIFT) + 1))
    if start > 0 and (closing := _CLOSING.match(text, start, first)):
        start = closing.end()
    end = min(len(text), start + width)
    return start, _shifted(text, end, range(end, max(last, end - _MAX_SHIFT, start) - 1, -1))


def _best_stretch(matches: list[_Match], width: int) -> tuple[int, int]:
    """The first stretch no longer than the width whose matches weigh most, each term counted once."""
    best, stretch = 0.0, (0, 0)
    counts: dict[int, int] = {}
    score, left = 0.0, 0
    for match in matches:
        score += 0.0 if counts.get(match.name) else match.weight
        counts[match.name] = counts.get(match.name, 0) + 1
        while matches[left] is not match and match.end - matches[left].start > width:
            counts[matches[left].name] -= 1
            score -= 0.0 if counts[matches[left].name] else matches[left].weight
            left += 1
        if score > best:
            best, stretch = score, (matches[left].start, match.end)
    return stretch[0], min(stretch[1], stretch[0] + width)


def _shifted(text: str, wanted: int, places: Iterable[int]) -> int:
    """The first of these places between two words; else the first between two characters."""
    whole = None
    for place in places:
        if place in {0, len(text)}:
            return place
        if extends(text, place):
            continue
        whole = place if whole is None else whole
        if not _inside_word(text, place):
            return place
    return wanted if whole is None else whole


def _inside_word(text: str, place: int) -> bool:
    pair = text[place - 1 : place + 1]
    return pair.isalnum() and not _spaceless_pattern().search(pair)


@cache
def _spaceless_pattern() -> re.Pattern[str]:
    return re.compile(f"[{charset(IDEOGRAPHIC_RANGES)}{charset(CLUSTERED_RANGES)}]")
