"""A text as the two columns of the index: the tokens of `segment`, joined, at less than half of its cost.

An index is built from millions of words, so little may be done for each of them in Python. A text is cut where no
token can be, and each piece is looked up among those met before; what a new one stands for is found by `segment`'s own
rules, once. Pieces are independent: a run never holds one of the characters at which texts are cut, and what its
pattern looks for around it is a letter or digit, which none of them is.
"""

from __future__ import annotations

import re

from hermes_state.text.blobs import has_data_url, without_blobs
from hermes_state.text.scripts import fold
from hermes_state.text.segment import (
    ASCII_RUN,
    BOUNDARY,
    GRAM_KINDS,
    add_grams,
    identifiers,
    index_text,
    run_tokens,
    runs,
    segment,
)
from hermes_state.text.tokens import MAX_REMEMBERED, Special, vocabulary

# What a token can be made of within ASCII, or what decides about one; `*` is here for the keycap ‎*⃣.
_KEPT = "0-9A-Za-z'+#*"
CUT = bytes(point if re.match(f"[{_KEPT}]", chr(point)) else 0x20 for point in range(256))
_PIECE = re.compile(rf"[{_KEPT}\x80-\U0010ffff]+")
# Stands before the tokens of a piece that adds more to its text than these. No text gives it.
ODD = "\0"
# Depends on what stands before it, so texts with it take the long way.
DOT_NET = ".net"


class Pieces(dict[str, str]):
    """ASCII without any cut, as typed or folded, to its tokens between blanks.

    Attributes:
        odd: of the pieces that have any: their runs of which more than the tokens must be known.
    """

    def __init__(self) -> None:
        super().__init__()
        self.odd: dict[str, dict[str, Special]] = {}

    def __missing__(self, piece: str) -> str:
        known = vocabulary()
        found = ASCII_RUN.findall(piece)
        tokens = " ".join(token for run in found for token in known.tokens(run))
        specials = {run: known.specials[run] for run in found if run in known.specials}
        odd = {run: special for run, special in specials.items() if special.parts or special.suspect}
        if odd:
            self.odd[piece] = odd
            tokens = ODD + tokens
        self[piece] = tokens
        return tokens


_pieces = [Pieces()]


def index_columns(text: str) -> tuple[str, str]:
    """What `index_text(segment(text))` gives. Never raises, whatever the string holds."""
    if has_data_url(text):
        text = without_blobs(text)
    if len(_pieces[0]) > MAX_REMEMBERED:
        _pieces[0] = Pieces()
    if not text.isascii():
        return _folded_columns(text, _pieces[0])
    if DOT_NET in text.lower():
        return index_text(segment(text))
    return _ascii_columns(text, _pieces[0])


def _ascii_columns(text: str, known: Pieces) -> tuple[str, str]:
    # Bytes are translated by a table, strings by asking a mapping.
    cut = text.encode().translate(CUT).decode().split()
    words = " ".join(map(known.__getitem__, cut))
    if ODD not in words:
        return _tidy(words), ""
    odd: dict[str, Special] = {}
    for piece in filter(known.odd.__contains__, cut):
        odd |= known.odd[piece]
    if any(special.suspect for special in odd.values()) and (rest := without_blobs(text)) != text:
        return index_columns(rest)
    return _tidy(" ".join((words.replace(ODD, ""), *parts_of(odd)))), ""


def _folded_columns(text: str, known: Pieces) -> tuple[str, str]:
    folded = fold(text)
    if DOT_NET in folded:
        return index_text(segment(text))
    vocabulary_ = vocabulary()
    odd: dict[str, Special] = {}
    for name in identifiers(text):
        vocabulary_.singles[name]
        if name in vocabulary_.specials:
            odd[name] = vocabulary_.specials[name]
    if any(special.suspect for special in odd.values()) and (rest := without_blobs(text)) != text:
        return index_columns(rest)
    words: list[str] = []
    grams: list[str] = []
    for piece in _PIECE.findall(folded):
        if piece.isascii():
            words.append(known[piece])
            continue
        for kind, raw, _ in runs(piece):
            tokens = run_tokens(kind, raw, vocabulary_)
            words += tokens
            if kind in GRAM_KINDS:
                add_grams(grams, tokens)
    return _tidy(" ".join((*words, *parts_of(odd)))), " ".join(grams)


def parts_of(odd: dict[str, Special]) -> list[str]:
    """What camelCase identifiers add behind the text."""
    return [token for special in odd.values() if special.parts for token in (BOUNDARY, *special.parts)]


def _tidy(words: str) -> str:
    """Single blanks between the tokens: a piece such as `'` has none."""
    while "  " in words:
        words = words.replace("  ", " ")
    return words.strip()
