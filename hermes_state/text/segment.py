"""A text as the index tokens that every engine stores and every query asks for."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from operator import add
from typing import NamedTuple

from hermes_state.text import stem
from hermes_state.text.blobs import has_data_url, without_blobs
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
from hermes_state.text.tokens import Vocabulary, vocabulary

# Written into the store beside the index; another value means that the index must be built again. Raise RULES
# with every change that can give another token for any text.
RULES = 1
SEGMENTATION = f"{RULES}+stem{stem.VERSION}+unicode{unicodedata.unidata_version}"

# Between things that stand apart in a text but would be neighbours in a column. No text gives this token.
BOUNDARY = "\u00a6"

# The FTS5 clause under which a space-joined column comes back as exactly these tokens: bytes from 0x80 and ASCII
# letters and digits are token characters to begin with; `+ #` are for C++ and C#, `.` for .NET, `*` for a keycap.
FTS5_TOKENIZE = "tokenize=\"ascii tokenchars '+#.*'\""

GRAM_KINDS = frozenset({"ideographic", "clustered"})

# `n't`, `'s`; C++ and C++17 but not a++b; C# but not a#b.
_ENDING = r"(?:'[A-Za-z]+|\+\+(?![A-Za-z])|#(?![A-Za-z0-9]))?"
# Begins with a single character class on purpose: the engine then skips to the next possible start instead of
# trying each position.
ASCII_RUN = re.compile(f"[A-Za-z0-9][A-Za-z0-9]*{_ENDING}")
_IDENTIFIER = re.compile("[A-Za-z0-9][A-Za-z0-9]*")
_DOT_NET = r"(?<![^\s(\[\"'/,])\.net(?![a-z0-9])"


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


class Run(NamedTuple):
    """A maximal run of a folded text: kind is word, ideographic, clustered or emoji."""

    kind: str
    raw: str
    start: int

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.start + len(self.raw)


def segment(text: str) -> Segments:
    """The tokens under which a document is stored. Never raises, whatever the string holds.

    Left out: data URLs, base64 of some length, runs of more than 64 letters and digits.
    """
    if has_data_url(text):
        text = without_blobs(text)
    known = vocabulary()
    words, grams, names = _scan(text, known)
    found = [] if known.specials.keys().isdisjoint(names) else [name for name in names if name in known.specials]
    if any(known.specials[name].suspect for name in found) and (rest := without_blobs(text)) != text:
        return segment(rest)
    for name in dict.fromkeys(found):
        if parts := known.specials[name].parts:
            words += (BOUNDARY, *parts)
    return Segments(words, grams)


def scan(text: str) -> Segments:
    """The tokens of a text as it stands, without what is added for documents: what a query asks for."""
    words, grams, _ = _scan(text, vocabulary())
    return Segments(words, grams)


def index_text(segments: Segments) -> tuple[str, str]:
    """The contents of the index columns `words` and `grams`."""
    return " ".join(segments.words), " ".join(segments.grams)


def runs(folded: str) -> Iterator[Run]:
    """The runs of a folded text, in order."""
    for match in _run_pattern().finditer(folded):
        yield Run(str(match.lastgroup), match.group(), match.start())


def run_at(folded: str, start: int, reach: int) -> Run | None:
    """The first run that begins within so many characters; None if there is none.

    Of a script without spaces, of which a whole document may be one run, no more than these characters are given.
    """
    match = _run_pattern().search(folded, start, start + reach)
    if match and match.end() == start + reach and match.lastgroup not in GRAM_KINDS:
        match = _run_pattern().match(folded, match.start())
    return Run(str(match.lastgroup), match.group(), match.start()) if match else None


def run_tokens(kind: str, raw: str, known: Vocabulary) -> Sequence[str]:
    """The positional tokens of one run; in a script without spaces each character, its marks with it."""
    if kind == "word":
        return known.tokens(raw)
    if kind == "ideographic":
        return raw
    return _unit_pattern().findall(raw) if kind == "clustered" else (raw,)


def add_grams(grams: list[str], characters: Sequence[str]) -> None:
    """Append the pairs of one run. Pairs of one text are neighbours if they share a character, so only a run that
    begins with the character on which the last one ended must be kept apart from it."""
    if len(characters) < 2:
        return
    if grams and grams[-1].endswith(characters[0]):
        grams.append(BOUNDARY)
    grams += map(add, characters, characters[1:])


def _scan(text: str, known: Vocabulary) -> tuple[list[str], list[str], list[str]]:
    """Words, grams, and the runs as typed, among which are the identifiers."""
    if text.isascii():
        if ".net" in text.lower():
            return *_scan_runs(text.lower(), known), _names(text, known)
        names = ASCII_RUN.findall(text)
        return _plain_words(names, known), [], names
    folded = fold(text)
    if folded.isascii() and ".net" not in folded:
        return _plain_words(ASCII_RUN.findall(folded), known), [], _names(text, known)
    return *_scan_runs(folded, known), _names(text, known)


def _plain_words(raws: list[str], known: Vocabulary) -> list[str]:
    singles = known.singles
    words = [singles[raw] for raw in raws]
    if known.specials.keys().isdisjoint(raws):
        return words
    return [token for raw in raws for token in known.tokens(raw)]


def _scan_runs(folded: str, known: Vocabulary) -> tuple[list[str], list[str]]:
    words: list[str] = []
    grams: list[str] = []
    for match in _run_pattern().finditer(folded):
        kind = str(match.lastgroup)
        tokens = run_tokens(kind, match.group(), known)
        words += tokens
        if kind in GRAM_KINDS:
            add_grams(grams, tokens)
    return words, grams


def identifiers(text: str) -> list[str]:
    """The ASCII runs of a text that is not folded."""
    return _IDENTIFIER.findall(text)


def _names(text: str, known: Vocabulary) -> list[str]:
    """The identifiers of a text, entered into the vocabulary."""
    names = identifiers(text)
    for name in names:
        known.singles[name]
    return names


@cache
def _run_pattern() -> re.Pattern[str]:
    # Built at first need: listing the marks of all scripts takes milliseconds, and much text is ASCII.
    ideographic, clustered = charset(IDEOGRAPHIC_RANGES), charset(CLUSTERED_RANGES)
    letters = rf"(?:[a-z0-9]+|[^\W_{ideographic}{clustered}]|[{marks()}])++"
    one_emoji = f"[{EMOJI}](?:\u200d[{EMOJI}]){{0,7}}"
    return re.compile(
        rf"(?P<ideographic>[{ideographic}]+)|(?P<clustered>[{clustered}]+)"
        rf"|(?P<emoji>[0-9#*]\u20e3|[{FLAG_LETTERS}]{{2}}|{one_emoji}|[{CURRENCY}])"
        rf"|(?P<word>{letters}{_ENDING}|{_DOT_NET})"
    )


@cache
def _unit_pattern() -> re.Pattern[str]:
    mark = marks(CLUSTERED_RANGES)
    return re.compile(rf"[^{mark}][{mark}]{{0,8}}|[{mark}]{{1,8}}")
