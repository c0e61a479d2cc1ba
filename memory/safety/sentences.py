"""A text as the rules read it: sentence by sentence, folded, with look-alike letters as the letters they look like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

# An order ends where a sentence ends. A single line end does not: long lines are wrapped.
_END = re.compile(r"(?:[。！？；؟।]|[.!?;](?=\s|$)|\n\s*\n|\n(?=\s*[-*•#]\s)|\n(?=\s*\d+[.)]\s))+")
# Letters of other scripts that are drawn as Latin ones, after folding. https://www.unicode.org/reports/tr39/
_DRAWN_LIKE = {
    "a": "аαɑ", "b": "вβ", "c": "сϲᴄ", "d": "ԁ", "e": "еєε", "g": "ցɡɢ", "h": "һнհ", "i": "іїιıɩ", "j": "ј", "k": "кκ",
    "l": "ӏ", "m": "м", "n": "пηոɴ", "o": "оοսօᴏσ", "p": "рρ", "q": "ԛ", "r": "гʀ", "s": "ѕ", "t": "тτ", "u": "υᴜ",
    "v": "ѵνᴠ", "w": "ԝωᴡ", "x": "хχ", "y": "уγ", "z": "ᴢ",
}  # fmt: skip
_LOOKALIKES = str.maketrans({drawn: letter for letter, others in _DRAWN_LIKE.items() for drawn in others})
_LEET = str.maketrans("0134578@$|", "oieastbasi")
_MIXED = re.compile(r"(?<![\w@$|])(?=[\w@$|]*[a-z])(?=[\w@$|]*[0134578@$|])[\w@$|]{4,}")
_SPACED = re.compile(r"(?<!\w)(?:[a-z][ .\-_*]{1,2}){3,}[a-z](?!\w)")
_SPACES = re.compile(r"\s+")
# Longer stretches are read in overlapping pieces: the cost of a scan grows with the text, not with its square.
PIECE_CHARS, OVERLAP_CHARS = 600, 240


class Sentence(NamedTuple):
    """One sentence.

    Attributes:
        raw: as it stands in the text.
        folded: for rules in its own script.
        latin: forms for rules in Latin letters: look-alikes, digits for letters and spaced-out words undone.
    """

    raw: str
    folded: str
    latin: tuple[str, ...]


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text."""
    start = 0
    for match in [*_END.finditer(text), None]:
        raw = text[start : match.start() if match else len(text)]
        start = match.end() if match else start
        for piece in pieces(_SPACES.sub(" ", raw).strip()):
            folded = _SPACES.sub(" ", fold(piece)).strip()
            if folded:
                yield Sentence(piece, folded, _latin(folded))


def pieces(text: str) -> Iterator[str]:
    """The text in stretches of bounded length that overlap."""
    for start in range(0, max(len(text) - OVERLAP_CHARS, 1), PIECE_CHARS - OVERLAP_CHARS):
        yield text[start : start + PIECE_CHARS]


def _latin(folded: str) -> tuple[str, ...]:
    plain = folded if folded.isascii() else folded.translate(_LOOKALIKES)
    spelled = _MIXED.sub(lambda word: word.group().translate(_LEET), plain)
    joined = _SPACED.sub(lambda word: re.sub(r"[ .\-_*]", "", word.group()), spelled)
    return tuple(dict.fromkeys((plain, spelled, joined)))
