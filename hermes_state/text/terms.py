"""What one leaf of a query asks of an index: phrases of tokens, exact or as a bag of alternatives."""

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from hermes_state.text.scripts import fold
from hermes_state.text.segment import GRAM_KINDS, Run, run_tokens, runs, scan
from hermes_state.text.stopwords import STOPWORDS, is_stopword
from hermes_state.text.tokens import camel_parts, vocabulary

# A run of a script without spaces up to this length is one word or name and must be met exactly; a longer one is
# a clause, and a text that answers it will hold only parts of it.
MAX_EXACT_CHARS = 4
# A longer clause is a pasted paragraph; its beginning is enough, and the engine's expression stays bounded.
MAX_BAG_TERMS = 64

# One of these between two words makes them one identifier.
_JOINERS = frozenset("._-/:@\\")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff]{2,}")
# A word of one character: its pairs are with particles.
_BETWEEN_KANA = re.compile("(?<![^\u3041-\u309f])[^\u3041-\u309f](?=[\u3041-\u309f])")


class Term(NamedTuple):
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


def exact_terms(text: str) -> tuple[Term, ...]:
    """The text as one phrase, and a camelCase identifier also as its parts; empty when nothing in it is indexed."""
    words, grams = scan(text)
    if not words:
        return ()
    # The pairs say the same as the characters only if the whole text is one run.
    whole = len(words) > 1 and len(grams) == len(words) - 1 and len(list(runs(fold(text)))) == 1
    # A word of such a script is only what the list says; its characters would make さくら a string of particles.
    stop = "".join(words) in STOPWORDS if whole else all(map(is_stopword, words))
    term = Term(words=tuple(words), grams=tuple(grams) if whole else (), stop=stop)
    parts = camel_parts(text) if text.isalnum() and text.isascii() and not text.islower() else ()
    return (term, Term(words=parts)) if parts else (term,)


def prefix_terms(text: str) -> tuple[Term, ...]:
    """The texts that begin like this one: as typed, and as the stem under which the whole word is indexed.

    What ends in a script without spaces is found inside a longer run anyhow and is no prefix.
    """
    words = scan(text).words
    *_, last = [Run("", "", 0), *runs(fold(text))]
    if not words or last.kind != "word":
        return exact_terms(text)
    typed = last.raw if last.raw.isalpha() else words[-1]
    ends = [words[-1]] if typed.startswith(words[-1]) else [typed, words[-1]]
    return tuple(Term(words=(*words[:-1], end), prefix=True) for end in ends)


def bag_terms(text: str) -> tuple[Term, ...]:
    """The pieces of a clause written without spaces, any of which may answer it; none if the text is no clause."""
    folded = fold(text)
    found = list(runs(folded))
    if sum(len(run.raw) for run in found if run.kind in GRAM_KINDS) <= MAX_EXACT_CHARS:
        return ()
    terms: dict[Term, None] = {}
    for run, tokens in _grouped(found, folded):
        if run.kind in GRAM_KINDS and len(tokens) > 1:
            terms.update(dict.fromkeys(_pieces(run.raw, tuple(tokens))))
        elif tokens:
            terms[Term(words=tuple(tokens), stop=all(map(is_stopword, tokens)))] = None
    return tuple(islice(terms, MAX_BAG_TERMS))


def _grouped(found: list[Run], folded: str) -> list[tuple[Run, list[str]]]:
    """The runs with their tokens; an identifier of many runs, such as `7.2` or `lib/util.rs`, is one."""
    known = vocabulary()
    groups: list[tuple[Run, list[str]]] = []
    end = 0
    for run in found:
        tokens = run_tokens(run.kind, run.raw, known)
        joined = groups and run.kind == groups[-1][0].kind == "word" and folded[end : run.start] in _JOINERS
        if joined:
            groups[-1][1].extend(tokens)
        else:
            groups.append((run, list(tokens)))
        end = run.end
    return groups


def _pieces(raw: str, characters: tuple[str, ...]) -> Iterator[Term]:
    """The pairs of a run; a katakana word is one piece, since its pairs are syllables of anything."""
    start = 0
    for match in _KATAKANA.finditer(raw):
        yield from _pairs(characters[start : match.start() + 1])
        word = characters[match.start() : match.end()]
        yield Term(words=word, grams=tuple(map("".join, pairwise(word))))
        start = match.end() - 1
    yield from _pairs(characters[start:])
    for match in _BETWEEN_KANA.finditer(raw):
        yield Term(words=(match.group(),), stop=is_stopword(match.group()))


def _pairs(characters: tuple[str, ...]) -> Iterator[Term]:
    for pair in pairwise(characters):
        gram = "".join(pair)
        yield Term(words=pair, grams=(gram,), stop=is_stopword(gram))
