"""Which messages are worth ranking: chosen from the index at a cost that does not grow with how common a word is.

A list of all messages with a common word is long, and most of its entries rank nowhere. So lists are read newest first
and cut off:

* a query whose hits must all meet one condition takes so many of the newest as the caller wants;
* an open query (words of which any may be there) takes first the messages with the rarest words together, up to all of
  them; then the list of each word, rarest first, up to `LIST_HITS` each and `ALL_HITS` together. Which of the messages
  found by then also hold a word whose list was cut off is asked in one more look per such word.

So a message with a rare word is always found, wherever it is; one with all the words too; and one that holds only words
that thousands of newer messages hold is not. `Pool.cut` says which words that was, for `explain`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from hermes_state.search.plan import either, together
from hermes_state.text import And

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hermes_state.search.plan import Piece, Plan
    from hermes_state.text.query import Node

# Entries read of one word's list in an open query, and of all lists together: 5 ms. On the public conversations,
# with all figures here made smaller in proportion, longer lists of fewer words found more than shorter lists of all.
LIST_HITS = 8_000
ALL_HITS = 16_000
# Entries read to learn which candidates also hold a word whose list was cut off.
COMPLETED_HITS = 1_000
# Messages that hold several of the rarest words which are taken per step. When so many hold all words, the others are
# not looked at.
TOGETHER_HITS = 200
# Entries read of every list to begin with, to know how common a word is.
PROBE_HITS = 200


class Source(Protocol):
    """Where lists of matching messages come from: the index, with whatever has to be true of a message besides."""

    def matches(self, node: Node, *, below: int | None = None, limit: int) -> list[int]:
        """The highest ids of messages that meet the node, below an id, in falling order."""

    def spelled_out(self, node: Node) -> Node:
        """The same node in the form that is cheapest to ask for."""

    @property
    def documents(self) -> int:
        """About how many messages there are."""


class Pool(NamedTuple):
    """Messages to rank and what is known of them.

    Attributes:
        masks: Message id to the pieces it holds, bit i for piece i of the plan.
        counts: How many messages hold each piece; exact unless it is in `cut`.
        cut: The pieces whose list was not read to its end.
        is_whole: Whether every hit is in the pool.
        is_mixed: Whether some of them hold only some of the pieces.
    """

    masks: dict[int, int]
    counts: list[float]
    cut: frozenset[int] = frozenset()
    is_whole: bool = True
    is_mixed: bool = False


def gather(source: Source, plan: Plan, reach: int, wanted: int = PROBE_HITS, *, enough: int | None = None) -> Pool:
    """The messages worth ranking for a plan with a node.

    Args:
        reach: How many ids there are from the oldest message to the newest.
        wanted: How many of a query whose hits must all meet one condition: the newest ones.
        enough: For an open query: with so many messages found by rarer words, the lists of common ones are left
            unread, and which messages hold those is for the caller to see in their texts (`Pool.cut`).
    """
    is_single = [plan.node] == [piece.node for piece in plan.pieces]
    probe = wanted if is_single else PROBE_HITS
    lists = [_List(source, piece, index, reach, probe) for index, piece in enumerate(plan.pieces)]
    if is_single:
        only = lists[0]
        return Pool(dict.fromkeys(only.ids, 1), [only.count], _cut(lists), only.is_whole)
    return _gather_open(source, lists, enough) if plan.is_open else _gather_strict(source, plan, lists, wanted)


class _List:
    """The messages with one piece, newest first, read as far as somebody asked."""

    def __init__(self, source: Source, piece: Piece, index: int, reach: int, probe: int) -> None:
        self._source = source
        self.piece = piece
        self.bit = 1 << index
        self.index = index
        self.ids = source.matches(piece.node, limit=probe)
        self.is_whole = len(self.ids) < probe
        self._reach = reach

    def read(self, limit: int) -> None:
        """Read up to so many entries in all."""
        if not self.is_whole and len(self.ids) < limit:
            wanted = limit - len(self.ids)
            more = self._source.matches(self.piece.node, below=self.ids[-1], limit=wanted)
            self.ids += more
            self.is_whole = len(more) < wanted

    @property
    def is_common(self) -> bool:
        """Whether a message in five holds the piece."""
        return self.count * 5 > self._source.documents

    @property
    def count(self) -> float:
        """How many messages hold the piece; guessed from the span of what was read when that was not all."""
        if self.is_whole:
            return float(len(self.ids))
        span = self.ids[0] - self.ids[-1] + 1
        return max(float(len(self.ids)), len(self.ids) / span * self._reach)


def _gather_strict(source: Source, plan: Plan, lists: list[_List], limit: int) -> Pool:
    assert plan.node is not None
    hits = source.matches(plan.node, limit=limit)
    masks = dict.fromkeys(hits, 0)
    if hits:
        _mark_held(source, plan.node, lists, masks)
    return Pool(masks, [each.count for each in lists], _cut(lists), len(hits) < limit)


def _mark_held(source: Source, node: Node, lists: Iterable[_List], masks: dict[int, int]) -> None:
    """Note for each hit of the node which pieces it holds."""
    for each in lists:
        both = And((node, each.piece.node))
        for message_id in source.matches(both, limit=len(masks)):
            if message_id in masks:
                masks[message_id] |= each.bit


def _gather_open(source: Source, lists: list[_List], enough: int | None) -> Pool:
    found = sorted((each for each in lists if each.ids), key=lambda each: each.count)
    masks: dict[int, int] = {}
    counts = [each.count for each in lists]
    if _climb(source, found, masks):
        return Pool(masks, counts, _cut(lists), is_whole=False)
    left = ALL_HITS
    for each in found:
        if enough is not None and each.is_common and not each.is_whole and len(masks) >= enough:
            continue
        each.read(min(LIST_HITS, max(left, PROBE_HITS)))
        left -= len(each.ids)
        _add(masks, each.ids, each.bit)
    _complete(source, found, masks)
    is_whole = all(each.is_whole for each in lists)
    return Pool(masks, [each.count for each in lists], _cut(lists), is_whole, is_mixed=len(found) > 1)


def _climb(source: Source, found: Sequence[_List], masks: dict[int, int]) -> bool:
    """Take the messages with the two rarest words, with the three rarest, and so on, as long as there are many.

    When there are few, they hold all messages with still more of the words. When the rarest word's list is whole, that
    holds them all anyway.

    Returns:
        Whether so many hold all words that the others need not be looked at.
    """
    if len(found) < 2 or found[0].is_whole:
        return False
    for size in range(2, len(found) + 1):
        some = found[:size]
        ids = source.matches(together([each.piece for each in some]), limit=TOGETHER_HITS)
        _add(masks, ids, sum(each.bit for each in some))
        if len(ids) < TOGETHER_HITS:
            return False
    return True


def _complete(source: Source, found: Sequence[_List], masks: dict[int, int]) -> None:
    """Ask which messages found by rarer words also hold a word whose list was cut off.

    Not for the most common words: they are worth next to nothing, and the best texts are looked at anyhow.
    """
    for place, each in enumerate(found):
        rarer = [other.piece for other in found[:place]]
        if each.is_whole or not rarer or each.is_common:
            continue
        both = And((either(rarer), each.piece.node))
        ids = source.matches(both, below=each.ids[-1], limit=COMPLETED_HITS)
        _add(masks, (message_id for message_id in ids if message_id in masks), each.bit)


def _add(masks: dict[int, int], ids: Iterable[int], bits: int) -> None:
    get = masks.get
    for message_id in ids:
        masks[message_id] = get(message_id, 0) | bits


def _cut(lists: Iterable[_List]) -> frozenset[int]:
    return frozenset([each.index for each in lists if not each.is_whole])
