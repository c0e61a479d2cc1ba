"""Where the terms of a query stand in a text."""

from collections.abc import Iterator
from itertools import islice

from hermes_state.text.offsets import FoldedText
from hermes_state.text.segment import GRAM_KINDS, Run, is_word_character, run_at, run_tokens
from hermes_state.text.terms import Term
from hermes_state.text.tokens import MAX_TOKEN_CHARS, camel_spans, vocabulary

# Places looked at for one term: a text that repeats a word a thousand times is described by its first ones.
MAX_PLACES = 1000
# The tokens of a phrase that stand further apart are no sight for a reader.
_REACH = 512

# Words whose stem differs from them in more than the last letters.
_IRREGULAR_SEEDS = {"die": "dy", "lie": "ly", "tie": "ty"}

Placed = tuple[str, int, int]


def find_term(text: FoldedText, term: Term) -> Iterator[tuple[int, int]]:
    """The spans of the original text that an index would find by this term."""
    found = _find_characters(text.folded, term) if term.grams else _find_tokens(text, term)
    return (text.span(start, end) for start, end in found)


def _find_characters(folded: str, term: Term) -> Iterator[tuple[int, int]]:
    needle = "".join(term.words)
    for start in islice(_occurrences(folded, needle), MAX_PLACES):
        yield start, start + len(needle)


def _find_tokens(text: FoldedText, term: Term) -> Iterator[tuple[int, int]]:
    done = -1
    for seed in _seeds(term):
        for place in islice(_occurrences(text.folded, seed), MAX_PLACES):
            if place < done:
                continue
            span = _match_at(text, term, place)
            if span:
                done = span[1]
                yield span


def _occurrences(folded: str, needle: str) -> Iterator[int]:
    place = folded.find(needle)
    while place >= 0:
        yield place
        place = folded.find(needle, place + len(needle))


def _seeds(term: Term) -> list[str]:
    """What every text that gives the first token of the term has in it: a word may differ from its stem at the end."""
    token = term.words[0]
    if not (token.isascii() and token.isalpha()) or (term.prefix and len(term.words) == 1):
        return [token]
    kept = len(token) - (2 if len(token) > 6 else 1 if len(token) > 2 else 0)
    irregular = [_IRREGULAR_SEEDS[token]] if token in _IRREGULAR_SEEDS else []
    return [token[:kept], *irregular]


def _match_at(text: FoldedText, term: Term, place: int) -> tuple[int, int] | None:
    """The span of the term if its first token is in the run around this place."""
    run = _run_around(text.folded, place)
    if run is None:
        return None
    for tokens in (_placed(run), _placed_parts(text, run)):
        for index, (_, _, end) in enumerate(tokens):
            if end > place and (last := _last_end(text.folded, term, tokens[index:], run)):
                return tokens[index][1], last
    return None


def _last_end(folded: str, term: Term, tokens: list[Placed], run: Run) -> int | None:
    """The end of the term when these tokens, and those of the runs that follow, begin with it; else None."""
    end = 0
    position = run.start + len(run.raw)
    for index, wanted in enumerate(term.words):
        while not tokens:
            following = run_at(folded, position, _REACH)
            if following is None:
                return None
            position = following.start + len(following.raw)
            tokens = _placed(following)
        (token, _, end), *tokens = tokens
        is_begun = term.prefix and index == len(term.words) - 1 and token.startswith(wanted)
        if token != wanted and not is_begun:
            return None
    return end


def _run_around(folded: str, place: int) -> Run | None:
    start = place
    if is_word_character(folded, place):
        while start > 0 and place - start <= MAX_TOKEN_CHARS and is_word_character(folded, start - 1):
            start -= 1
    run = run_at(folded, start, _REACH)
    return run if run and run.start <= place < run.start + len(run.raw) else None


def _placed(run: Run) -> list[Placed]:
    """The tokens of a run and where each stands; one that is not there letter by letter stands for the whole run."""
    placed: list[Placed] = []
    end = len(run.raw)
    position = 0
    tokens = run_tokens(run.kind, run.raw, vocabulary())
    for token in tokens:
        start = run.raw.find(token, position) if run.kind in GRAM_KINDS or len(tokens) > 1 else -1
        if start < 0:
            placed.append((token, run.start, run.start + end))
        else:
            position = start + len(token)
            placed.append((token, run.start + start, run.start + position))
    return placed


def _placed_parts(text: FoldedText, run: Run) -> list[Placed]:
    """The same for the parts of a camelCase identifier, whose humps only the original shows."""
    start, end = text.span(run.start, run.start + len(run.raw))
    name = text.original[start:end]
    if run.kind != "word" or not name.isascii() or len(name) != len(run.raw):
        return []
    return [
        (vocabulary().singles[run.raw[first:last]], run.start + first, run.start + last)
        for first, last in camel_spans(name)
    ]
