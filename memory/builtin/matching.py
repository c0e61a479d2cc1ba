"""Finding the entry somebody means by a part of its text, as models and people retype it.

First as written; then with dashes, quotes, spaces and composed letters made alike; then in any case. The first way that
finds something decides. Places are always places of the entry as it is stored.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory.builtin.entries import Entry

_ALIKE = str.maketrans(
    dict.fromkeys("‐‑‒–—―−﹘﹣", "-") | dict.fromkeys("‘’‚‛′`´＇", "'") | dict.fromkeys("“”„‟″«»＂", '"') | {"…": "..."}
)
_UNSEEN = frozenset("\u00ad\u200b\u200e\u200f\u2060\ufeff")
# Least likeness of an entry that is offered for a text that fits none, from 0 to 1.
_NEAR = 0.45
# Characters of a text that are compared for that.
_COMPARED_CHARS = 500


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text stands: the entry's index, and from where to where in it."""

    index: int
    start: int
    end: int


class _Normal(NamedTuple):
    """A text made alike, and for each of its characters where it begins in the original."""

    text: str
    starts: list[int]


def find(entries: Sequence[Entry], wanted: str, *, whole_words: bool = False) -> list[Place]:
    """Every place where a text stands, by the first of the three ways that finds one.

    Args:
        wanted: not blank.
        whole_words: a place that begins or ends inside a word does not count: `e` is not in `tea`.
    """
    for normalise in (_as_written, _alike, _caseless):
        needle = normalise(wanted.strip()).text
        places = [
            place
            for index, entry in enumerate(entries)
            for place in _places(index, normalise(entry.text), len(entry.text), needle)
            if not (whole_words and _cuts_word(entry.text, place))
        ]
        if places:
            return places
    return []


def is_same(one: str, other: str) -> bool:
    """Whether two texts differ in nothing but dashes, quotes, spaces, composition and case."""
    return _essence(one) == _essence(other)


@lru_cache(maxsize=1024)
def _essence(text: str) -> str:
    """A text without what two spellings of it may differ in; cached, since a file's entries are compared each time."""
    made = unicodedata.normalize("NFKC", text).translate(_ALIKE | dict.fromkeys(map(ord, _UNSEEN)))
    return " ".join(made.casefold().split())


def nearest(entries: Sequence[Entry], wanted: str, limit: int = 3) -> list[int]:
    """The indexes of the entries most like a text, the most alike first."""
    needle = _caseless(wanted.strip()).text[:_COMPARED_CHARS]
    scored = [
        (_likeness(needle, _caseless(entry.text).text[: 4 * _COMPARED_CHARS]), index)
        for index, entry in enumerate(entries)
    ]
    return [index for score, index in sorted(scored, key=lambda pair: (-pair[0], pair[1])) if score >= _NEAR][:limit]


def _likeness(needle: str, text: str) -> float:
    matcher = SequenceMatcher(None, needle, text, autojunk=False)
    shared = sum(block.size for block in matcher.get_matching_blocks() if block.size > 1)
    return max(matcher.ratio(), shared / max(len(needle), 1) if len(text) > len(needle) else 0.0)


def _places(index: int, text: _Normal, length: int, needle: str) -> list[Place]:
    places = []
    at = text.text.find(needle) if needle else -1
    while at >= 0:
        behind = at + len(needle)
        while 0 < behind < len(text.starts) and text.starts[behind] == text.starts[behind - 1]:
            behind += 1  # in the middle of what one character was made into
        end = text.starts[behind] if behind < len(text.starts) else length
        places.append(Place(index, text.starts[at], end))
        at = text.text.find(needle, behind)
    return places


def _cuts_word(text: str, place: Place) -> bool:
    return _is_inside(text, place.start) or _is_inside(text, place.end)


def _is_inside(text: str, place: int) -> bool:
    """Whether a word of a script with spaces goes on over a place."""
    if not 0 < place < len(text):
        return False
    return all(c.isalnum() and ord(c) < 0x2E80 and not 0x0E00 <= ord(c) < 0x1000 for c in text[place - 1 : place + 1])


def _as_written(text: str) -> _Normal:
    return _Normal(text, list(range(len(text))))


def _caseless(text: str) -> _Normal:
    return _alike(text, fold_case=True)


def _alike(text: str, *, fold_case: bool = False) -> _Normal:
    letters: list[str] = []
    starts: list[int] = []
    for start, cluster in _clusters(text):
        made = unicodedata.normalize("NFKC", cluster).translate(_ALIKE)
        made = "".join(c for c in (made.casefold() if fold_case else made) if c not in _UNSEEN)
        if made.isspace():
            made = "" if letters and letters[-1] == " " else " "
        letters += made
        starts += [start] * len(made)
    return _Normal("".join(letters), starts)


def _clusters(text: str) -> list[tuple[int, str]]:
    """Characters with the marks that stand on them, and Hangul syllables of single letters, so that both compose."""
    found: list[tuple[int, str]] = []
    for place, character in enumerate(text):
        joins = unicodedata.combining(character) or "\u1160" <= character <= "\u11ff"
        if joins and found:
            found[-1] = (found[-1][0], found[-1][1] + character)
        else:
            found.append((place, character))
    return found
