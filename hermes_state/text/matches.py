"""Where the terms of a query stand in a text."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from hermes_state.text.offsets import FoldedText
from hermes_state.text.scripts import CLUSTERED_RANGES, IDEOGRAPHIC_RANGES, charset, marks
from hermes_state.text.segment import GRAM_KINDS, Run, identifiers, run_at, run_tokens
from hermes_state.text.stem import MIN_LETTERS
from hermes_state.text.terms import Term
from hermes_state.text.tokens import MAX_TOKEN_CHARS, camel_parts, camel_spans, vocabulary

# Spans given for one term: a text that repeats a word a thousand times is described by its first ones.
MAX_SPANS = 1000
# Places looked at for one term: letters that begin a thousand other words must not hide the one that is meant, and a
# text of nothing but such letters must not take seconds.
MAX_PLACES = 20_000
# The tokens of a phrase that stand further apart are no sight for a reader.
_REACH = 512
# A longer word, with its apostrophe, has no tokens.
_MAX_BACK = MAX_TOKEN_CHARS + 2

# Ends that a short stem does not share with its words: memori, hope; isn't is indexed as isnt.
_CHANGING_ENDS = ("i", "y", "e", "nt")
# Words whose stem differs from them in more than the last letters.
_IRREGULAR_SEEDS = {"die": "dy", "lie": "ly", "tie": "ty"}

Placed = tuple[str, int, int]


def find_term(text: FoldedText, term: Term) -> Iterator[tuple[int, int]]:
    """The spans of the original text that an index would find by this term."""
    found = _find_characters(text.folded, term) if term.grams else _find_tokens(text, term)
    return (text.span(start, end) for start, end in islice(found, MAX_SPANS))


def _find_characters(folded: str, term: Term) -> Iterator[tuple[int, int]]:
    needle = "".join(term.words)
    for start in islice(_occurrences(folded, needle), MAX_PLACES):
        end = start + len(needle)
        # ท is not in ที่, whose marks make it another letter.
        if not _inside_letter(folded, start) and not _inside_letter(folded, end):
            yield start, end


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


def _inside_letter(folded: str, place: int) -> bool:
    return place > 0 and _marked_pattern().match(folded, place - 1) is not None


@cache
def _marked_pattern() -> re.Pattern[str]:
    return re.compile(f"[{charset(CLUSTERED_RANGES)}][{marks(CLUSTERED_RANGES)}]")


def _seeds(term: Term) -> list[str]:
    """What every text that gives the first token of the term has in it: a word may differ from its stem at the end."""
    token = term.words[0]
    if term.prefix and len(term.words) == 1:
        return [token.removesuffix("t") if token.endswith("nt") else token]
    if len(token) < MIN_LETTERS or not (token.isascii() and token.isalpha()):
        return [token]
    cut = 2 if len(token) > 6 else 1 if len(token) > 4 or token.endswith(_CHANGING_ENDS) else 0
    irregular = [_IRREGULAR_SEEDS[token]] if token in _IRREGULAR_SEEDS else []
    return [token[: len(token) - cut], *irregular]


def _match_at(text: FoldedText, term: Term, place: int) -> tuple[int, int] | None:
    """The span of the term if its first token is in the run around this place."""
    run = _run_around(text.folded, place)
    if run is None:
        return None
    for tokens, behind in ((_placed(run), run.end), *((parts, None) for parts in _placed_parts(text, run))):
        for index, (_, _, end) in enumerate(tokens):
            if end > place and (last := _last_end(text.folded, term, tokens[index:], behind)):
                return tokens[index][1], last
    return None


def _last_end(folded: str, term: Term, tokens: list[Placed], position: int | None) -> int | None:
    """The end of the term when these tokens, and those from the position on if there is one, begin with it."""
    end = 0
    for index, wanted in enumerate(term.words):
        while not tokens:
            following = None if position is None else run_at(folded, position, _REACH)
            if following is None:
                return None
            position = following.end
            tokens = _placed(following)
        (token, _, end), *tokens = tokens
        is_begun = term.prefix and index == len(term.words) - 1 and token.startswith(wanted)
        if token != wanted and not is_begun:
            return None
    return end


def _run_around(folded: str, place: int) -> Run | None:
    run = run_at(folded, _safe_start(folded, place), _REACH)
    while run and run.end <= place:
        run = run_at(folded, run.end, _REACH)
    return run if run and run.start <= place else None


def _safe_start(folded: str, place: int) -> int:
    """A place before this one where runs are sure to begin anew: the t of `can't` and half an emoji are no tokens."""
    while _inside_letter(folded, place):
        place -= 1
    before = folded[max(0, place - _MAX_BACK) : place]
    match = _joined_pattern().match(before[::-1])
    return place - (match.end() if match else 0)


@cache
def _joined_pattern() -> re.Pattern[str]:
    # Everything but the ASCII characters that end a run whatever follows, and the scripts whose characters are runs.
    spaceless = charset(IDEOGRAPHIC_RANGES + CLUSTERED_RANGES)
    return re.compile(rf"[^\x00-&(-\-/:-@\[-`{{-\x7f{spaceless}]*+")


def _placed(run: Run) -> list[Placed]:
    """The tokens of a run and where each stands; one that is not there letter by letter stands for the whole run."""
    placed: list[Placed] = []
    position = 0
    tokens = run_tokens(run.kind, run.raw, vocabulary())
    for token in tokens:
        start = run.raw.find(token, position) if run.kind in GRAM_KINDS or len(tokens) > 1 else -1
        if start < 0:
            placed.append((token, run.start, run.end))
        else:
            position = start + len(token)
            placed.append((token, run.start + start, run.start + position))
    return placed


def _placed_parts(text: FoldedText, run: Run) -> Iterator[list[Placed]]:
    """The same for each camelCase identifier in a run, whose humps only the original shows."""
    start, end = text.span(run.start, run.end)
    for name in identifiers(text.original[start:end]) if run.kind == "word" else []:
        offset = run.start + max(0, run.raw.find(name.lower()))
        spans = camel_spans(name)
        yield [
            (token, offset + first, offset + last)
            for token, (first, last) in zip(camel_parts(name), spans, strict=True)
        ]
