"""What a query comes to for ranking: which messages qualify, and the pieces that make one better than another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.search.dates import may_name_dates
from hermes_state.search.forms import other_forms
from hermes_state.text import And, Any, Leaf, Not, Or, Phrase, Prefix, Term, Word, fold, is_stopword

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hermes_state.text import Query
    from hermes_state.text.query import Node

Single = Word | Phrase | Prefix

# Pieces of one query that are looked up. A pasted paragraph has more; the rarest words are not known before they are
# looked up, so it is the first ones that count.
MAX_PIECES = 48


class Piece(NamedTuple):
    """One thing whose presence in a message counts for it.

    Attributes:
        label: What a person typed, for explanations.
        node: Finds it.
        needles: Folded strings, one of which a text that holds the piece holds as well, unless its word is bent.
        stop: Carries no subject: never looked up, only weighed in the best texts.
    """

    label: str
    node: Single
    needles: tuple[str, ...]
    stop: bool = False


class Plan(NamedTuple):
    """A query made ready for one search.

    Attributes:
        query: As parsed.
        node: What a message must meet to be a hit, without optional parts; None: every message that `excluded` does
            not take out.
        excluded: For a query that only excludes: what must not be met.
        is_open: The pieces are alternatives: messages with some of them are hits. Else every hit meets `node` and the
            pieces only order.
        pieces: What ranks.
        stops: What weighs a little in the best texts.
        characters: Single characters of scripts without spaces, which tell a little more about the best texts.
        may_name_dates: Whether the query is to be looked through for dates.
    """

    query: Query
    node: Node | None
    excluded: Node | None = None
    is_open: bool = False
    pieces: tuple[Piece, ...] = ()
    stops: tuple[Piece, ...] = ()
    characters: tuple[str, ...] = ()
    may_name_dates: bool = True

    @property
    def terms(self) -> list[Term]:
        """What snippets mark."""
        return [term for piece in self.pieces for term in piece.node.exact]


def make_plan(query: Query) -> Plan:
    """The plan of a parsed query."""
    node = None if query.node is None else _with_forms(query.node)
    if node is None:
        return Plan(query=query, node=None)
    if isinstance(node, Not):
        return Plan(query=query, node=None, excluded=_settled(node.operand, optional=False))
    every = list(_pieces(node, optional=True))
    if len(every) > 1:
        every = list(dict.fromkeys(every))
    pieces = tuple([piece for piece in every if not piece.stop] or every)[:MAX_PIECES]
    return Plan(
        query=query,
        node=_settled(node, optional=True),
        is_open=len(pieces) > 1 and _is_bag(node),
        pieces=pieces,
        stops=tuple([piece for piece in every if piece.stop and piece not in pieces])[:MAX_PIECES],
        characters=tuple(_characters(pieces)),
        may_name_dates=may_name_dates(query.text),
    )


def _with_forms(node: Node) -> Node:
    """The tree with irregular forms beside each plain word; quoted words stay as they are."""
    if isinstance(node, Not):
        return Not(_with_forms(node.operand))
    if isinstance(node, Any | Or | And):
        return type(node)(tuple(_with_forms(operand) for operand in node.operands))
    if not isinstance(node, Word) or node.stop or len(node.words) != 1 or node.grams:
        return node
    forms = other_forms(node.words[0])
    return replace(node, exact=(*node.exact, *[Term((form,)) for form in forms])) if forms else node


def together(pieces: Sequence[Piece]) -> Node:
    """All of the pieces in one message."""
    return pieces[0].node if len(pieces) == 1 else And(tuple(piece.node for piece in pieces))


def either(pieces: Sequence[Piece]) -> Node:
    """At least one of the pieces in a message."""
    return pieces[0].node if len(pieces) == 1 else Or(tuple(piece.node for piece in pieces))


def _is_bag(node: Node) -> bool:
    """Whether the query is a bag of optional words and nothing else."""
    if isinstance(node, Any):
        return all(isinstance(operand, Leaf) for operand in node.operands)
    return isinstance(node, Leaf) and bool(node.bag)


def _settled(node: Node, *, optional: bool) -> Node:
    """The tree with its optional parts made alternatives. Words without a subject count only if there are no others."""
    if isinstance(node, Leaf):
        if not (optional and node.bag):
            return node
        subjects = [term for term in node.bag if not term.stop] or node.bag
        return _either_node([_word(term) for term in subjects])
    if isinstance(node, Not):
        return Not(_settled(node.operand, optional=False))
    if isinstance(node, Any):
        telling = [each for each in node.operands if not (isinstance(each, Leaf) and each.stop)] or node.operands
        return _either_node([_settled(each, optional=True) for each in telling])
    return type(node)(tuple(_settled(each, optional=False) for each in node.operands))


def _either_node(nodes: Sequence[Node]) -> Node:
    return nodes[0] if len(nodes) == 1 else Or(tuple(nodes))


def _word(term: Term) -> Word:
    return Word(text="".join(term.words) if term.grams else " ".join(term.words), exact=(term,), stop=term.stop)


def _pieces(node: Node, *, optional: bool) -> Iterator[Piece]:
    """The pieces under a node, in the order typed; what is excluded is none."""
    if isinstance(node, Leaf):
        leaves: Sequence[Single] = [_word(term) for term in node.bag] if optional and node.bag else [node]
        for leaf in leaves:
            yield Piece(label=leaf.text, node=leaf, needles=tuple(_needles(leaf)), stop=leaf.stop)
    elif not isinstance(node, Not):
        for operand in node.operands:
            yield from _pieces(operand, optional=isinstance(node, Any))


def _needles(leaf: Leaf) -> Iterator[str]:
    for term in leaf.exact:
        if term.grams:
            yield "".join(term.words)
        elif len(term.words) == 1:
            yield term.words[0] if isinstance(leaf, Prefix) else _seed(term.words[0])
        else:
            yield fold(leaf.text).strip('"* ')


def _seed(token: str) -> str:
    """What the forms of an English word have in common: `happi` stands for happy and happier, `studi` for study."""
    is_bent = len(token) > 3 and token.isascii() and token[-1] in "iy"
    return token[:-1] if is_bent else token


def _characters(pieces: Sequence[Piece]) -> dict[str, None]:
    """Each single character of the terms that have pairs, once; without particles."""
    terms = [term for piece in pieces for term in piece.node.exact if term.grams]
    return dict.fromkeys(each for term in terms for each in term.words if not is_stopword(each))
