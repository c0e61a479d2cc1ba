"""A text as the index tokens that every engine stores and every query asks for."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import chain
from operator import add
from typing import NamedTuple

from hermes_state.text import stem
from hermes_state.text.blobs import without_blobs
from hermes_state.text.scripts import (
    CLUSTERED_RANGES,
    CURRENCY,
    EMOJI,
    FLAG_LETTERS,
    IDEOGRAPHIC_RANGES,
    charset,
    fold,
    marks,
)
from hermes_state.text.tokens import TokenCache, camel_parts

# Written into the store beside the index; another value means that the index must be built again.
RULES = 1
SEGMENTATION = f"{RULES}+stem{stem.VERSION}+unicode{unicodedata.unidata_version}"

# Between things that stand apart in a text but would be neighbours in a column. No text gives this token.
BOUNDARY = "\u00a6"

# The FTS5 clause under which a space-joined column comes back as exactly these tokens: bytes from 0x80 and ASCII
# letters and digits are token characters to begin with; `+ #` are for C++ and C#, `.` for .NET, `*` for a keycap.
FTS5_TOKENIZE = "tokenize=\"ascii tokenchars '+#.*'\""

# Prose is scanned with this one expression. It begins with a single character class on purpose: the engine then
# skips to the next possible start instead of trying each position.
_ASCII_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9]*(?:'[A-Za-z]+|\+\+(?![A-Za-z])|#(?![A-Za-z0-9]))?")
_DOT_NET = re.compile(r"(?<![^\s(\[\"'/,])\.net(?![A-Za-z0-9])", re.IGNORECASE)

_CACHE = TokenCache()


class Segments(NamedTuple):
    """The two token streams of one text.

    Attributes:
        words: Every token in order, for phrases; a character of a script without spaces is a token. Behind the text
            itself, after a BOUNDARY, the parts of its camelCase identifiers, each identifier once.
        grams: Overlapping pairs of characters of each run of such a script. Two runs that would look like one are
            kept apart by a BOUNDARY.
    """

    words: list[str]
    grams: list[str]


def segment(text: str) -> Segments:
    """The tokens under which a document is stored. Never raises, whatever the string holds."""
    text = without_blobs(text)
    words, grams = scan(text)
    for parts in camel_parts(text):
        words.append(BOUNDARY)
        words.extend(parts)
    return Segments(words, grams)


def index_text(segments: Segments) -> tuple[str, str]:
    """The contents of the index columns `words` and `grams`."""
    return " ".join(segments.words), " ".join(segments.grams)


def scan(text: str) -> Segments:
    """The tokens of a text as it stands, without what is added for documents: what a query asks for."""
    if text.isascii() and ".net" not in text and ".NET" not in text and ".Net" not in text:
        return Segments(list(chain.from_iterable(map(_CACHE.__getitem__, _ASCII_RUN.findall(text)))), [])
    words: list[str] = []
    grams: list[str] = []
    for kind, raw in runs(fold(text)):
        tokens = run_tokens(kind, raw)
        words += tokens
        if kind in {"ideographic", "clustered"}:
            add_grams(grams, tokens)
    return Segments(words, grams)


def run_tokens(kind: str, raw: str) -> Sequence[str]:
    """The positional tokens of one run; in a script without spaces each character, its marks with it."""
    if kind == "word":
        return _CACHE[raw]
    if kind == "ideographic":
        return list(raw)
    return _unit_pattern().findall(raw) if kind == "clustered" else [raw]


def add_grams(grams: list[str], characters: Sequence[str]) -> None:
    """Append the pairs of one run, apart from the run before it."""
    if len(characters) < 2:
        return
    if grams and grams[-1].endswith(characters[0]):
        grams.append(BOUNDARY)
    grams += map(add, characters, characters[1:])


def runs(folded: str) -> list[tuple[str, str]]:
    """The maximal runs of a folded text with their kinds: word, ideographic, clustered, emoji."""
    return [(str(match.lastgroup), match.group()) for match in _run_pattern().finditer(folded)]


@cache
def _run_pattern() -> re.Pattern[str]:
    # Built at first need: listing the marks of all scripts takes milliseconds, and much text is ASCII.
    ideographic, clustered = charset(IDEOGRAPHIC_RANGES), charset(CLUSTERED_RANGES)
    letter = rf"(?:[^\W_{ideographic}{clustered}]|[{marks()}])"
    one_emoji = f"[{EMOJI}](?:\u200d[{EMOJI}]){{0,7}}"
    return re.compile(
        rf"(?P<ideographic>[{ideographic}]+)|(?P<clustered>[{clustered}]+)"
        rf"|(?P<emoji>[0-9#*]\u20e3|[{FLAG_LETTERS}]{{2}}|{one_emoji}|[{CURRENCY}])"
        rf"|(?P<word>{letter}+(?:'[a-z]+|\+\+(?![a-z])|#(?!{letter}))?|{_DOT_NET.pattern})"
    )


@cache
def _unit_pattern() -> re.Pattern[str]:
    mark = marks(CLUSTERED_RANGES)
    return re.compile(rf"[^{mark}][{mark}]{{0,8}}|[{mark}]{{1,8}}")
