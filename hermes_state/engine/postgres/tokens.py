"""Our tokens and queries in the words of PostgreSQL's text search. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hermes_state.text import And, Leaf, Not

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hermes_state.text import Term
    from hermes_state.text.query import Node

# https://www.postgresql.org/docs/15/textsearch-limitations.html: positions up to 16383, 255 of one lexeme, a lexeme of
# less than 2 KB, a tsvector of less than 1 MB.
_POSITIONS, _REPEATS = 16_383, 255
_LEXEME_BYTES = 1_900
_VECTOR_BYTES = 1_000_000
# Of the store and the zone before each lexeme.
_HEAD_BYTES = 22
# Tokens of two neighbouring rows that are the same, so that a phrase of so many tokens is in one of them.
_OVERLAP = 64
# Stands for the store and the zone in a query. No token has it.
_HEAD = "\x01"
_NEVER_IN_A_TOKEN = str.maketrans({"\x00": "\ufffd", _HEAD: "\ufffd", " ": "\u00a0"})


class Question(NamedTuple):
    """What `hermes_matches` is asked.

    Attributes:
        query: the text form of a tsquery; true of every message that meets the node.
        by_lexemes: whether it is true of no others.
        steps: the node in postfix form for `hermes_meets`.
        leaves: for each step the text form of its tsquery; empty for an operator.
    """

    query: str
    by_lexemes: bool
    steps: list[str]
    leaves: list[str]


def as_stored(tokens: Iterable[str]) -> list[str]:
    """Tokens as a row of the index and a query have them."""
    return [_stored(token) for token in tokens]


def stretches(words: Sequence[str], grams: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """How a message's words and pairs are laid out over rows; nearly always it is one."""
    if _bytes_of(words) + _bytes_of(grams) <= _VECTOR_BYTES:
        yield words, grams
        return
    for stretch in _cut(words):
        yield stretch, ()
    for stretch in _cut(grams):
        yield (), stretch


def _bytes_of(tokens: Sequence[str]) -> int:
    most = sum(map(len, tokens)) * 4 + len(tokens) * _HEAD_BYTES
    return most if most <= _VECTOR_BYTES else sum(_size(token) for token in set(tokens))


def _size(token: str) -> int:
    return len(token.encode()) + _HEAD_BYTES


def _cut(tokens: Sequence[str]) -> Iterator[Sequence[str]]:
    """Stretches that fit, each beginning with the end of the one before."""
    start = 0
    while start < len(tokens):
        seen: set[str] = set()
        size, end = 0, start
        while end < len(tokens) and size <= _VECTOR_BYTES:
            if tokens[end] not in seen:
                seen.add(tokens[end])
                size += _size(tokens[end])
            end += 1
        yield tokens[start:end]
        if end == len(tokens):
            return
        start = max(start + 1, end - _OVERLAP)


def question(node: Node) -> Question:
    """What to ask for a tree of leaves; `Any` means `Or` here, and a bare exclusion is no question."""
    query = _relaxed(node)
    assert query, "an exclusion alone is no query"
    steps, leaves = zip(*_steps(node), strict=True)
    return Question(query, not _has_phrase(node), list(steps), list(leaves))


def _has_phrase(node: Node) -> bool:
    if isinstance(node, Leaf):
        return any(len(_tokens(term)[1]) > 1 for term in node.exact)
    return any(_has_phrase(each) for each in ((node.operand,) if isinstance(node, Not) else node.operands))


def _relaxed(node: Node) -> str:
    """A query for the lexemes; without the exclusion of phrases, since the parts of one may be there apart."""
    if isinstance(node, Leaf):
        return _joined(" | ", (_all_of(term) for term in node.exact))
    if isinstance(node, Not):
        return "" if _has_phrase(node) else f"!{_relaxed(node.operand)}"
    operands = [query for query in map(_relaxed, node.operands) if query]
    return _joined(" & " if isinstance(node, And) else " | ", operands)


def _all_of(term: Term) -> str:
    mark, tokens = _tokens(term)
    wanted = [_quoted(f"{_HEAD}{mark}{token}") for token in tokens]
    if term.prefix:
        wanted[-1] += ":*"
    return _joined(" & ", wanted)


def _steps(node: Node) -> Iterator[tuple[str, str]]:
    """The steps of a node with the lexemes of each."""
    if isinstance(node, Leaf):
        parts = [[(_needle(term), _all_of(term))] for term in node.exact]
    elif isinstance(node, Not):
        yield from _steps(node.operand)
        yield "!", ""
        return
    else:
        parts = [list(_steps(operand)) for operand in node.operands]
    for place, part in enumerate(parts):
        yield from part
        if place:
            yield "&" if isinstance(node, And) else "|", ""


def _needle(term: Term) -> str:
    mark, tokens = _tokens(term)
    return f"{'w' if mark == ':' else 'g'} {' '.join(tokens)}{'' if term.prefix else ' '}"


def _tokens(term: Term) -> tuple[str, list[str]]:
    """A term's pairs where it has any, since a pair is far rarer than a character; else its words."""
    if term.grams and not term.prefix:
        return ";", as_stored(term.grams)
    return ":", as_stored(term.words)


# --- entries: small indexes whose rows are tsvectors with positions --------------------------------------------------


def tsvector(store: int, words: Sequence[str], grams: Sequence[str]) -> str:
    """The text form of a tsvector."""
    parts: list[str] = []
    for kind, tokens in (("w", words), ("g", grams)):
        places: dict[str, list[str]] = {}
        for place, token in enumerate(tokens, 1):
            at = places.setdefault(token, [])
            if place <= _POSITIONS and len(at) < _REPEATS:
                at.append(str(place))
        parts += (f"{_lexeme(store, kind, token)}{':' if at else ''}{','.join(at)}" for token, at in places.items())
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
                found[token] = Lexeme(f"{store}{kind}:{_stored(token)}", _lexeme(store, kind, token))
    return list(found.values())


def _leaves(node: Node) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
    elif not isinstance(node, Not):
        for operand in node.operands:
            yield from _leaves(operand)


def _term(store: int, term: Term) -> str:
    mark, tokens = _tokens(term)
    wanted = [_lexeme(store, "w" if mark == ":" else "g", token) for token in tokens]
    if term.prefix:
        wanted[-1] += ":*"
    return _joined(" <-> ", wanted)


def _lexeme(store: int, kind: str, token: str) -> str:
    return _quoted(f"{store}{kind}:{_stored(token)}")


def _quoted(lexeme: str) -> str:
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _stored(token: str) -> str:
    plain = token.translate(_NEVER_IN_A_TOKEN) if " " in token or _HEAD in token or "\x00" in token else token
    return plain if len(plain) * 4 < _LEXEME_BYTES else plain.encode()[:_LEXEME_BYTES].decode(errors="ignore")


def _joined(operator: str, expressions: Iterable[str]) -> str:
    found = list(expressions)
    return found[0] if len(found) == 1 else f"({operator.join(found)})" if found else ""
