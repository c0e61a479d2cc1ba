"""The FTS5 expression for what a search asks. The only place where a MATCH string is made: nothing gets in unquoted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.text import And, Leaf, Not

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_state.text import Term
    from hermes_state.text.query import Node


def match_expression(node: Node) -> str:
    """The expression for a tree of leaves; `Any` means `Or` here, and a bare exclusion has no expression."""
    if isinstance(node, Leaf):
        return _joined(" OR ", [_term(term) for term in node.exact])
    assert not isinstance(node, Not), "an exclusion alone has no expression"
    if not isinstance(node, And):
        return _joined(" OR ", [match_expression(operand) for operand in node.operands])
    wanted = [match_expression(operand) for operand in node.operands if not isinstance(operand, Not)]
    excluded = [match_expression(operand.operand) for operand in node.operands if isinstance(operand, Not)]
    both = _joined(" AND ", wanted)
    return f"({both} NOT {_joined(' OR ', excluded)})" if excluded else both


def _term(term: Term) -> str:
    """One term: its pairs where it has any, since a pair is far rarer than a character; else its words."""
    if term.grams and not term.prefix:
        return f"grams : {_quoted(term.grams)}"
    return f"words : {_quoted(term.words)}{' *' if term.prefix else ''}"


def _quoted(tokens: Sequence[str]) -> str:
    return '"' + " ".join(tokens).replace('"', '""') + '"'


def _joined(operator: str, expressions: list[str]) -> str:
    return expressions[0] if len(expressions) == 1 else f"({operator.join(expressions)})"
