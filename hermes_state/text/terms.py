"""What one leaf of a query asks of an index: phrases of tokens, exact or as a bag of alternatives."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hermes_state.text.scripts import fold
from hermes_state.text.segment import add_grams, run_tokens, runs, scan
from hermes_state.text.stopwords import is_stopword

# A run of a script without spaces up to this length is one word or name and must be met exactly; a longer one is
# a clause, and a text that answers it will hold only parts of it.
MAX_EXACT_CHARS = 4

_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff]{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One phrase to look up.

    Attributes:
        words: Consecutive tokens of the words column.
        grams: Consecutive tokens of the grams column that say the same; empty if the term has no such form. An
            engine uses these when there are any, since a pair is far rarer than a character.
        prefix: The last of words is the beginning of a token.
        stop: Carries no subject; to be weighted low or left out beside terms that do.
    """

    words: tuple[str, ...]
    grams: tuple[str, ...] = ()
    prefix: bool = False
    stop: bool = False


def exact_term(text: str) -> Term | None:
    """The text as one phrase; None when it holds nothing that is indexed."""
    words, grams = scan(text)
    if not words:
        return None
    # The pairs say the same as the characters only if the whole text is one run.
    whole = len(grams) == len(words) - 1 and len(runs(fold(text))) == 1
    return Term(words=tuple(words), grams=tuple(grams) if whole else (), stop=all(map(is_stopword, words)))


def prefix_terms(text: str) -> tuple[Term, ...]:
    """The texts that begin like this one: as typed, and as the stem under which the whole word is indexed."""
    folded = fold(text)
    words = scan(text).words
    if not words:
        return ()
    if runs(folded)[-1][0] != "word":
        # A character without spaces around it is found inside a run anyhow.
        whole = exact_term(text)
        return (whole,) if whole else ()
    match = re.search(r"[^\W_]+$", folded)
    typed = match.group() if match else words[-1]
    ends = [words[-1]] if typed.startswith(words[-1]) else [typed, words[-1]]
    return tuple(Term(words=(*words[:-1], end), prefix=True) for end in ends)


def bag_terms(text: str) -> tuple[Term, ...]:
    """The pieces of a clause written without spaces, any of which may answer it; none if the text is no clause."""
    found = runs(fold(text))
    if sum(len(raw) for kind, raw in found if kind in {"ideographic", "clustered"}) <= MAX_EXACT_CHARS:
        return ()
    terms: dict[Term, None] = {}
    for kind, raw in found:
        tokens = tuple(run_tokens(kind, raw))
        if kind in {"ideographic", "clustered"} and len(tokens) > 1:
            terms.update(dict.fromkeys(_pieces(raw, tokens)))
        elif tokens:
            terms[Term(words=tokens, stop=all(map(is_stopword, tokens)))] = None
    return tuple(terms)


def _pieces(raw: str, characters: tuple[str, ...]) -> Iterator[Term]:
    """The pairs of a run; a katakana word is one piece, since its pairs are syllables of anything."""
    start = 0
    for match in _KATAKANA.finditer(raw):
        yield from _pairs(characters[start : match.start() + 1])
        yield _run_term(characters[match.start() : match.end()])
        start = match.end() - 1
    yield from _pairs(characters[start:])


def _pairs(characters: tuple[str, ...]) -> Iterator[Term]:
    for first, second in zip(characters, characters[1:], strict=False):
        yield Term(words=(first, second), grams=(first + second,), stop=is_stopword(first + second))


def _run_term(characters: tuple[str, ...]) -> Term:
    grams: list[str] = []
    add_grams(grams, list(characters))
    return Term(words=characters, grams=tuple(grams))
