"""Where a search reads lists of matching messages: the index, and the messages that are not in it yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from hermes_state.codec import searchable_text
from hermes_state.engine import fts
from hermes_state.schema import messages, sessions
from hermes_state.text import And, Leaf, Not, Prefix, Term, Word
from hermes_state.text.matches import find_term
from hermes_state.text.offsets import FoldedText

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection

    from hermes_state.search.scope import Scope
    from hermes_state.text.query import Node

# Messages read and looked through without an index, newest first: a second of CPU or two. More are reported, not read.
MAX_SCANNED = 200_000
# Characters of a message that such a look sees.
MAX_SCANNED_CHARS = 200_000
# Of English text; good enough to tell a long message from a short one.
_CHARS_PER_TOKEN = 6

_m = messages.c


class IndexSource:
    """Matches from the index.

    Args:
        is_filtered: Apply the scope's conditions to every match; else only its span of ids, and the caller drops what
            does not belong.
    """

    def __init__(self, connection: Connection, scope: Scope, *, is_filtered: bool) -> None:
        self._connection = connection
        self._tokens = fts.tokens_in(connection)
        self._scope = scope
        self.is_filtered = is_filtered
        self._words: dict[Prefix, Word] = {}
        self._documents: int | None = None

    def matches(self, node: Node, *, below: int | None = None, limit: int) -> list[int]:
        """The highest ids of indexed messages that meet the node, below an id, in falling order."""
        scope = self._scope
        highest = scope.highest if below is None else min(scope.highest, below - 1)
        asked = self.spelled_out(node)
        if not self.is_filtered:
            return self._tokens.matches(self._connection, asked, lowest=scope.lowest, highest=highest, limit=limit)
        return self._tokens.matches_where(
            self._connection, asked, scope.conditions, lowest=scope.lowest, highest=highest, limit=limit
        )

    def spelled_out(self, node: Node) -> Node:
        """The node with each prefix replaced by the words that begin so, where the index says that this is cheaper."""
        if isinstance(node, Prefix):
            return self._words_of(node)
        if isinstance(node, Leaf):
            return node
        if isinstance(node, Not):
            return Not(self.spelled_out(node.operand))
        return type(node)(tuple(self.spelled_out(operand) for operand in node.operands))

    def _words_of(self, node: Prefix) -> Prefix | Word:
        if node not in self._words:
            terms: dict[Term, None] = {}
            for term in node.exact:
                found = self._tokens.spelled_out(self._connection, term.words[-1]) if term.prefix else None
                if found is None:
                    return node
                terms.update((Term(words=(*term.words[:-1], word), prefix=more), None) for word, more in found)
            self._words[node] = Word(text=node.text, exact=tuple(terms) or node.exact)
        return self._words[node]

    @property
    def documents(self) -> int:
        """How many messages the index holds."""
        if self._documents is None:
            self._documents = self._tokens.totals(self._connection).documents
        return self._documents


class TailSource:
    """Matches among the messages above the index's mark, read one by one, and then those of the index.

    Attributes:
        lengths: About how many tokens each message read has that holds anything asked for.
        scanned: How many messages were read; with more than `MAX_SCANNED`, not all.
    """

    def __init__(
        self, connection: Connection, scope: Scope, nodes: Iterable[Node], above: int, index: IndexSource | None
    ) -> None:
        self._index = index
        self._held: dict[int, frozenset[Term]] = {}
        self.lengths: dict[int, int] = {}
        self.scanned = 0
        terms = {term for node in nodes for term in _terms(node)}
        query = (
            select(_m.id, _m.content, _m.content_format, _m.tool_calls)
            .join(sessions)
            .where(_m.id > above, *scope.conditions)
            .order_by(_m.id.desc())
            .limit(MAX_SCANNED + 1)
        )
        for row in connection.execute(query.execution_options(yield_per=500)):
            self.scanned += 1
            text = FoldedText(searchable_text(row.content, row.content_format, row.tool_calls)[:MAX_SCANNED_CHARS])
            if held := frozenset(term for term in terms if any(find_term(text, term))):
                self._held[row.id] = held
                self.lengths[row.id] = 1 + len(text.folded) // _CHARS_PER_TOKEN

    def matches(self, node: Node, *, below: int | None = None, limit: int) -> list[int]:
        """The highest ids that meet the node, below an id, in falling order."""
        met = [each for each, held in self._held.items() if (below is None or each < below) and _meets(node, held)]
        if len(met) < limit and self._index is not None:
            met += self._index.matches(node, below=below, limit=limit - len(met))
        return met[:limit]

    @property
    def documents(self) -> int:
        """How many messages there are to look through."""
        return self.scanned + (self._index.documents if self._index is not None else 0)

    def spelled_out(self, node: Node) -> Node:
        """See `IndexSource.spelled_out`."""
        return self._index.spelled_out(node) if self._index is not None else node


def _terms(node: Node) -> Iterator[Term]:
    if isinstance(node, Leaf):
        yield from node.exact
    else:
        for operand in (node.operand,) if isinstance(node, Not) else node.operands:
            yield from _terms(operand)


def _meets(node: Node, held: frozenset[Term]) -> bool:
    if isinstance(node, Leaf):
        return not held.isdisjoint(node.exact)
    if isinstance(node, Not):
        return not _meets(node.operand, held)
    met = (_meets(operand, held) for operand in node.operands)
    return all(met) if isinstance(node, And) else any(met)
