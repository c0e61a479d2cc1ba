"""Our tokens and queries in the words of PostgreSQL's text search. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.text import And, Leaf, Not

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hermes_state.text import Term
    from hermes_state.text.query import Node

# https://www.postgresql.org/docs/15/textsearch-limitations.html: positions up to 16383, 255 of one lexeme, a lexeme of
# less than 2 KB, a tsvector of less than 1 MB.
_POSITIONS, _REPEATS = 16_000, 255
_LEXEME_BYTES = 1_900
# Tokens of two neighbouring stretches that are the same, so that a phrase of so many tokens is in one of them.
_OVERLAP = 64
# Distinct tokens of one row without positions; more are spread over further rows.
_BAG = 20_000


class Stretch(NamedTuple):
    """Tokens of one row of the index, with their places or without."""

    words: Sequence[str]
    grams: Sequence[str]
    placed: bool


def stretches(words: Sequence[str], grams: Sequence[str]) -> Iterator[Stretch]:
    """How a message's tokens are laid out over rows; nearly always it is one."""
    if _fits(words) and _fits(grams):
        yield Stretch(words, grams, placed=True)
        return
    bag = [*((token, "w") for token in dict.fromkeys(words)), *((token, "g") for token in dict.fromkeys(grams))]
    for start in range(0, len(bag), _BAG):
        some = bag[start : start + _BAG]
        yield Stretch([t for t, kind in some if kind == "w"], [t for t, kind in some if kind == "g"], placed=False)
    for stretch in _cut(words):
        yield Stretch(stretch, (), placed=True)
    for stretch in _cut(grams):
        yield Stretch((), stretch, placed=True)


def _fits(tokens: Sequence[str]) -> bool:
    if len(tokens) <= _REPEATS:
        return True
    return len(tokens) <= _POSITIONS and max(Counter(tokens).values()) <= _REPEATS


def _cut(tokens: Sequence[str]) -> Iterator[Sequence[str]]:
    """Stretches that fit, each beginning with the end of the one before."""
    start = 0
    while start < len(tokens):
        seen: Counter[str] = Counter()
        end = start
        while end < len(tokens) and end - start < _POSITIONS and seen[tokens[end]] < _REPEATS:
            seen[tokens[end]] += 1
            end += 1
        yield tokens[start:end]
        if end == len(tokens):
            return
        start = max(start + 1, end - _OVERLAP)


def tsvector(store: int, words: Sequence[str], grams: Sequence[str], placed: bool) -> str:
    """The text form of a tsvector."""
    parts: list[str] = []
    for kind, tokens in (("w", words), ("g", grams)):
        if not placed:
            parts += (_lexeme(store, kind, token) for token in tokens)
            continue
        places: dict[str, list[str]] = {}
        for place, token in enumerate(tokens, 1):
            places.setdefault(token, []).append(str(place))
        parts += (f"{_lexeme(store, kind, token)}:{','.join(at)}" for token, at in places.items())
    return " ".join(parts)


def tsquery(store: int, node: Node) -> str:
    """The text form of a tsquery for a tree of leaves; `Any` means `Or` here, and a bare exclusion has none."""
    if isinstance(node, Leaf):
        return _joined(" | ", (_term(store, term) for term in node.exact))
    assert not isinstance(node, Not), "an exclusion alone is no query"
    if not isinstance(node, And):
        return _joined(" | ", (tsquery(store, operand) for operand in node.operands))
    wanted = [tsquery(store, operand) for operand in node.operands if not isinstance(operand, Not)]
    excluded = [f"!{tsquery(store, operand.operand)}" for operand in node.operands if isinstance(operand, Not)]
    return _joined(" & ", (*wanted, *excluded))


def either_stream(store: int, token: str) -> str:
    """The query for a token, as a word or as a pair."""
    return f"({_lexeme(store, 'w', token)} | {_lexeme(store, 'g', token)})"


class Lexeme(NamedTuple):
    """A lexeme as the server stores it, and the query for it alone."""

    text: str
    query: str


def lexemes(store: int, node: Node) -> list[Lexeme]:
    """The lexemes that a node asks for, each once; not what is excluded."""
    found: dict[str, Lexeme] = {}
    for leaf in _leaves(node):
        for term in leaf.exact:
            kind, tokens = ("g", term.grams) if term.grams and not term.prefix else ("w", term.words)
            for token in tokens:
                found[token] = Lexeme(f"{store}{kind}:{_cut_short(token)}", _lexeme(store, kind, token))
    return list(found.values())


def _leaves(node: Node) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
    elif not isinstance(node, Not):
        for operand in node.operands:
            yield from _leaves(operand)


def _term(store: int, term: Term) -> str:
    """One term: its pairs where it has any, since a pair is far rarer than a character; else its words."""
    kind, tokens = ("g", term.grams) if term.grams and not term.prefix else ("w", term.words)
    lexemes = [_lexeme(store, kind, token) for token in tokens]
    if term.prefix:
        lexemes[-1] += ":*"
    return _joined(" <-> ", lexemes)


def _lexeme(store: int, kind: str, token: str) -> str:
    escaped = _cut_short(token).replace("\\", "\\\\").replace("'", "''")
    return f"'{store}{kind}:{escaped}'"


def _cut_short(token: str) -> str:
    return token if len(token) * 4 < _LEXEME_BYTES else token.encode()[:_LEXEME_BYTES].decode(errors="ignore")


def _joined(operator: str, expressions: Iterable[str]) -> str:
    found = list(expressions)
    return found[0] if len(found) == 1 else f"({operator.join(found)})"
