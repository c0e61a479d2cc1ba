"""Reads the query language. Never raises: what cannot be an operator is a word, and a note says so."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from hermes_state.text.filters import NAMES, Filter, make_filter, merge_filters
from hermes_state.text.nodes import And, Any, Leaf, Node, Not, Or, Phrase, Prefix, Query, Word
from hermes_state.text.terms import Term, bag_terms, exact_terms, prefix_terms

__all__ = ["And", "Any", "Filter", "Leaf", "Node", "Not", "Or", "Phrase", "Prefix", "Query", "Term", "Word", "parse"]

# A longer query is a pasted text; its beginning says what is wanted, and an engine's expression stays bounded.
MAX_CHARS = 4096
# Deeper parentheses are ignored: the reader and the engine recurse.
MAX_DEPTH = 20
# More words than this are a pasted text too.
MAX_LEAVES = 128

_SYNTAX = str.maketrans(dict.fromkeys("“”„‟＂「」『』", '"') | {"（": "(", "）": ")", "\u3000": " "})
# A word keeps a parenthesis that it closes itself, as in f(x); any other groups.
_WORD = r"""(?:[^\s"()]|\((?:[^\s"()]|\([^\s"()]*+\))*+\))++"""
_TOKEN = re.compile(
    rf"""(?P<minus>(?<![^\s()])-(?=[^\s-]))
    |"(?P<phrase>[^"]*)"
    |(?P<open>\()
    |(?P<close>\))
    |(?<![^\s()-])(?P<name>(?ai:{"|".join(NAMES)}))[:：](?:"(?P<quoted>[^"]*)"|(?P<value>{_WORD}))
    |(?P<word>{_WORD})
    |(?P<stray>")""",
    re.VERBOSE,
)
_OPERATORS = frozenset({"AND", "OR", "NOT"})
_OPERAND_STARTS = frozenset({"leaf", "filter", "open", "NOT", "minus"})
_OPERAND_ENDS = frozenset({"leaf", "filter", "close"})


@dataclass(slots=True)
class _Token:
    """One lexeme: kind is leaf, filter, open, close, minus, AND, OR or NOT."""

    kind: str
    text: str
    leaf: Word | Phrase | Prefix | None = None
    filter: Filter | None = None


def parse(query: str) -> Query:
    """Read a query. Never raises for any string; time is linear in its length.

    Adjacent words are optional operands of an Any; AND binds weaker than adjacency and OR weaker than AND, so
    `redis upgrade AND prod` wants prod and at least one of the two others. Operators must be upper case. An
    exclusion without anything to exclude it from is legal with NOT or beside a filter; `-rf` alone is a word.
    """
    stripped = query.strip()
    leaf = _only_leaf(stripped) if len(stripped) <= MAX_CHARS else None
    if leaf is not None:
        return Query(text=query, node=leaf)
    notes: dict[str, None] = {}
    if len(stripped) > MAX_CHARS:
        notes[f"Only the first {MAX_CHARS} characters of the query were used."] = None
    tokens = _lex(stripped[:MAX_CHARS].translate(_SYNTAX), notes)
    reader = _read(tokens, notes)
    kinds = {token.kind for token in tokens}
    if isinstance(reader.node, Not) and not reader.filters and "NOT" not in kinds:
        notes["A leading '-' without other words was read as part of the word."] = None
        reader = _read([token for token in tokens if token.kind != "minus"], notes)
    if reader.node is None and not reader.filters and stripped:
        notes["The query has no letters, digits or symbols to search for."] = None
    return Query(text=query, node=reader.node, filters=merge_filters(reader.filters), notes=tuple(notes))


def _only_leaf(text: str) -> Word | Phrase | Prefix | None:
    """What most queries are, one word, one prefix or one phrase, without the cost of reading a language."""
    if text.isalnum() or (text[-1:] == "*" and text[:-1].isalnum()):
        return None if text in _OPERATORS else make_leaf(text, Word)
    if text[:1] == text[-1:] == '"' and '"' not in text[1:-1] and text.isascii():
        return make_leaf(text[1:-1], Phrase)
    return None


def _lex(text: str, notes: dict[str, None]) -> list[_Token]:
    tokens: list[_Token] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "stray":
            notes["A quotation mark without its partner was ignored."] = None
        elif kind in {"minus", "open", "close"}:
            tokens.append(_Token(str(kind), match.group()))
        elif kind == "phrase":
            tokens.append(_leaf_token(match.group("phrase"), Phrase))
        elif kind in {"quoted", "value"}:
            tokens.append(_filter_token(match, notes))
        elif kind == "word":
            word = match.group()
            tokens.append(_Token(word, word) if word in _OPERATORS else _leaf_token(word, Word))
    return _settle_operators(_limited(tokens, notes), notes)


def _limited(tokens: list[_Token], notes: dict[str, None]) -> list[_Token]:
    """The tokens up to the last word that is used; filters are kept wherever they stand."""
    leaves = [index for index, token in enumerate(tokens) if token.kind == "leaf"]
    if len(leaves) <= MAX_LEAVES:
        return tokens
    notes[f"Only the first {MAX_LEAVES} words of the query were used."] = None
    kept = tokens[: leaves[MAX_LEAVES - 1] + 1]
    for before, token in pairwise(tokens[len(kept) - 1 :]):
        if token.kind == "filter":
            kept += [before, token] if before.kind in {"minus", "NOT"} else [token]
    return kept


def _leaf_token(text: str, kind: type[Word | Phrase]) -> _Token:
    return _Token("leaf", text, leaf=make_leaf(text, kind))


def make_leaf(text: str, kind: type[Word | Phrase]) -> Word | Phrase | Prefix | None:
    """The leaf for a word or a phrase; None when nothing in it is indexed. A trailing * makes a word a Prefix."""
    if kind is Word and text.endswith("*") and (terms := prefix_terms(text.rstrip("*"))):
        return Prefix(text=text, exact=terms)
    terms = exact_terms(text)
    if not terms or kind is Phrase:
        return Phrase(text=text, exact=terms) if terms else None
    return Word(text=text, exact=terms, bag=() if text.isascii() else bag_terms(text), stop=terms[0].stop)


def _filter_token(match: re.Match[str], notes: dict[str, None]) -> _Token:
    name, quoted, value = match.group("name", "quoted", "value")
    found = make_filter(name, quoted if value is None else value, quoted=value is None)
    if found is not None:
        return _Token("filter", match.group(), filter=found)
    notes[f"{match.group()!r} is not a filter this search knows; it was read as text."] = None
    return _leaf_token(match.group(), Word)


def _settle_operators(tokens: list[_Token], notes: dict[str, None]) -> list[_Token]:
    """Operators without an operand on each side they need become the words that they are."""
    for index, token in enumerate(tokens):
        if token.kind not in _OPERATORS:
            continue
        after = index + 1 < len(tokens) and tokens[index + 1].kind in _OPERAND_STARTS
        before = token.kind == "NOT" or (index > 0 and tokens[index - 1].kind in _OPERAND_ENDS)
        if not (after and before):
            notes[f"{token.text} has nothing to join and was read as a word; lower case says the same."] = None
            tokens[index] = _leaf_token(token.text, Word)
    return tokens


def _read(tokens: list[_Token], notes: dict[str, None]) -> "_Reader":
    reader = _Reader(tokens, notes)
    parts = [reader.read_or()]
    while reader.position < len(tokens):
        # Only a closing parenthesis that nothing opened stops the reader early.
        notes["A parenthesis without its partner was ignored."] = None
        reader.position += 1
        parts.append(reader.read_or())
    reader.node = _adjacent(parts)
    return reader


@dataclass(slots=True)
class _Reader:
    tokens: list[_Token]
    notes: dict[str, None]
    position: int = 0
    depth: int = 0
    node: Node | None = None
    filters: list[Filter] = field(default_factory=list)

    def peek(self) -> str:
        return self.tokens[self.position].kind if self.position < len(self.tokens) else "close"

    def read_or(self) -> Node | None:
        operands = self._operands("OR", self.read_and)
        if len(operands) > 1 and any(isinstance(operand, Not) for operand in operands):
            self.notes["An exclusion cannot be an alternative of OR; it was ignored."] = None
            operands = [operand for operand in operands if not isinstance(operand, Not)]
        return _join(Or, operands)

    def read_and(self) -> Node | None:
        return _conjunction(self._operands("AND", self.read_bag))

    def _operands(self, operator: str, read: Callable[[], Node | None]) -> list[Node]:
        operands = [read()]
        while self.peek() == operator:
            self.position += 1
            operands.append(read())
        present = [operand for operand in operands if operand is not None]
        if len(present) < len(operands) > 1:
            self.notes[f"{operator} joins only words; filters always hold for the whole query."] = None
        return present

    def read_bag(self) -> Node | None:
        """Adjacent operands: those wanted are optional, those excluded are not."""
        operands: list[Node | None] = []
        while self.peek() in _OPERAND_STARTS:
            operands.append(self.read_operand())
        return _adjacent(operands)

    def read_operand(self) -> Node | None:
        token = self.tokens[self.position]
        self.position += 1
        if token.kind in {"NOT", "minus"}:
            return self._excluded()
        if token.kind == "open":
            return self._group()
        if token.filter is not None:
            self.filters.append(token.filter)
        return token.leaf

    def _excluded(self) -> Node | None:
        negations = 1
        while self.peek() in {"NOT", "minus"}:
            self.position += 1
            negations += 1
        count = len(self.filters)
        operand = self.read_operand() if self.peek() in _OPERAND_STARTS else None
        if negations % 2 == 0:
            return operand
        self.filters[count:] = [replace(each, negated=not each.negated) for each in self.filters[count:]]
        if operand is None:
            return None
        return operand.operand if isinstance(operand, Not) else Not(operand)

    def _group(self) -> Node | None:
        if self.depth >= MAX_DEPTH:
            self.notes["Parentheses nested too deeply were ignored."] = None
            return None
        self.depth += 1
        node = self.read_or()
        self.depth -= 1
        if self.position < len(self.tokens):
            self.position += 1
        else:
            self.notes["A parenthesis without its partner was ignored."] = None
        return node


def _adjacent(operands: list[Node | None]) -> Node | None:
    """Operands side by side: those wanted are optional, those excluded are not."""
    wanted = _join(Any, [operand for operand in operands if not isinstance(operand, Not)])
    excluded = [operand for operand in operands if isinstance(operand, Not)]
    return _conjunction([*([] if wanted is None else [wanted]), *excluded])


def _conjunction(operands: list[Node]) -> Node | None:
    """All of the operands, what is excluded last; only exclusions become one exclusion."""
    flat = [each for operand in operands for each in (operand.operands if isinstance(operand, And) else (operand,))]
    wanted = [operand for operand in flat if not isinstance(operand, Not)]
    excluded = [operand for operand in flat if isinstance(operand, Not)]
    if wanted or not excluded:
        return _join(And, [*wanted, *excluded])
    return Not(_join(Or, [operand.operand for operand in excluded]) or excluded[0].operand)


def _join(kind: type[Any | Or | And], operands: Sequence[Node | None]) -> Node | None:
    """The operands under one node, each once; a single operand is itself."""
    distinct: dict[Node, None] = {}
    for operand in operands:
        if operand is not None:
            distinct |= dict.fromkeys(operand.operands if isinstance(operand, kind) else (operand,))
    return kind(tuple(distinct)) if len(distinct) > 1 else next(iter(distinct), None)
