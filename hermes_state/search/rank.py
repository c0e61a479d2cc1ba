"""How good a hit is: pure arithmetic on what is known of the messages in a pool.

The score of a message is what its own words are worth (BM25, more if it holds all of them) times how much such a
message counts (tool output and automation less, older ones a little less), plus a share of what the messages next to it
in its session are worth. A date named in the query raises the messages of that date.

A conversation is worth its best message, the next few with falling weight, and for each word the best message that
holds it: an answer is often spread over several turns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

_DAY_US = 86_400_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """The parameters of ranking, each with its reason. Tuned on public conversations with questions, none finely.

    Attributes:
        k1: How soon repeating a word stops to count; 1 is soon, since people say a thing once.
        b: How much a long message has to hold more to be worth the same. Messages are no articles: a long one is often
            the one that explains, so it is low.
        all_words: Added to a message that holds every word, as a share of what it is worth; in proportion for some.
        stop: What a word without a subject counts beside one with.
        character: The same for a single character of a script without spaces beside a pair.
        beside: Share of the score of the message before and of the one after. A question and its answer stand together.
        near: The same for the next but one on both sides.
        date: What a date named in the query is worth, in scores of the best hit.
        recency: How much more the newest hit counts than one infinitely old; `half_life_days` says how fast it falls.
        tool: How much tool output counts: it repeats words that nobody said.
        automation: How much a conversation counts that no person took part in.
        further: Weight of a conversation's second-best message, its square that of the third, and so on.
        spread: Weight of what all of a conversation's messages together hold.
    """

    k1: float = 1.0
    b: float = 0.2
    all_words: float = 0.4
    stop: float = 0.45
    character: float = 0.3
    beside: float = 0.5
    near: float = 0.25
    date: float = 0.5
    recency: float = 0.1
    half_life_days: float = 30.0
    tool: float = 0.5
    automation: float = 0.7
    further: float = 0.5
    spread: float = 1.5


DEFAULT_WEIGHTS = Weights()
# Sources in which no person speaks.
AUTOMATION = frozenset({"cron", "subagent", "tool", "webhook", "batch", "api_server"})
# Messages of a conversation that add to its score.
_CONVERSATION_HITS = 5
# Times one word is counted in one text; beyond, BM25 hardly changes.
MAX_REPEATS = 8


class Found(NamedTuple):
    """A message of the pool, as far as ranking needs it: a row of `lookups.places`."""

    id: int
    session_pk: int
    conversation_pk: int
    position: int
    role: str
    source: str
    created_at: int
    state: int
    tool_name: str | None


class Scored:
    """A message with what its score is made of.

    Attributes:
        mask: Has bit i set when the message holds piece i.
        length: Its tokens.
        neighbours: Those next to it in its session that are scored too, each with the share of its worth that counts.
        parts: What each piece is worth in it, by the piece's index; for explanations and conversations.
    """

    neighbours: Sequence[tuple[float, Scored]] = ()
    parts: Mapping[int, float] = MappingProxyType({})
    beside = 0.0
    date = 0.0
    total = 0.0

    def __init__(self, found: Found, own: float, factor: float, mask: int = 0, length: int = 0) -> None:
        self.found = found
        self.own = own
        self.factor = factor
        self.mask = mask
        self.length = length


_total = attrgetter("total")
# Which of two equal messages comes first: the newer one, so that the order is always the same.
_newness = attrgetter("created_at", "id")


class Scale(NamedTuple):
    """What a score is measured with: the worth of each piece, and the mean length of a message in tokens."""

    worth: Sequence[float]
    mean_length: float
    weights: Weights = DEFAULT_WEIGHTS

    def norm(self, length: int) -> float:
        """BM25's k1 for a message of this length."""
        w = self.weights
        return w.k1 * (1.0 - w.b + w.b * length / self.mean_length)


def worth(count: float, documents: int) -> float:
    """How much it says that a message holds a piece which `count` of all messages hold (BM25's idf)."""
    return math.log(1.0 + (max(documents, count) - count + 0.5) / (count + 0.5))


def worth_of_mask(mask: int, scale: Scale) -> float:
    """What the pieces of a mask are worth together, before length and repetition."""
    total, bit = 0.0, 0
    while mask:
        if mask & 1:
            total += scale.worth[bit]
        mask >>= 1
        bit += 1
    return total


def best_by_mask(masks: Mapping[int, int], scale: Scale, limit: int) -> list[int]:
    """The ids whose pieces are worth most, newest first among equals."""
    distinct = set(masks.values())
    if len(distinct) == 1:
        return sorted(masks, reverse=True)[:limit]
    by_mask: dict[int, list[int]] = {mask: [] for mask in distinct}
    for message_id, mask in masks.items():
        by_mask[mask].append(message_id)
    best: list[int] = []
    for mask in sorted(by_mask, key=lambda each: (-worth_of_mask(each, scale), each)):
        best += sorted(by_mask[mask], reverse=True)
        if len(best) >= limit:
            return best[:limit]
    return best


def first_scores(
    ids: Iterable[int], masks: Mapping[int, int], lengths: Mapping[int, int], scale: Scale
) -> dict[int, float]:
    """Each message's own worth as far as the index knows it, best first, newest first among equals.

    Every word is counted once.
    """
    w = scale.weights
    full = worth_of_mask((1 << len(scale.worth)) - 1, scale) or 1.0
    shortest, per_token = 1.0 + scale.norm(0), w.k1 * w.b / scale.mean_length
    values: dict[int, float] = {}
    scores: dict[int, float] = {}
    length_of = lengths.get
    for message_id in sorted(ids, reverse=True):
        mask = masks[message_id]
        value = values.get(mask)
        if value is None:
            value = worth_of_mask(mask, scale)
            value *= (1.0 + w.all_words * value / full) * (w.k1 + 1.0)
            values[mask] = value
        scores[message_id] = value / (shortest + per_token * length_of(message_id, 0))
    return {message_id: scores[message_id] for message_id in sorted(scores, key=scores.__getitem__, reverse=True)}


def scored_of(
    found: list[Found],
    own: Mapping[int, float],
    masks: Mapping[int, int],
    lengths: Mapping[int, int],
    weights: Weights,
) -> list[Scored]:
    """The messages with what is known of them, newest first.

    Args:
        own: What each is worth by itself.
    """
    found.sort(key=_newness, reverse=True)
    half_life = weights.half_life_days * _DAY_US
    fresh, newest = weights.recency * half_life, found[0].created_at if found else 0
    scored: list[Scored] = []
    for each in found:
        factor = 1.0 + fresh / (half_life + newest - each.created_at)
        if each.role == "tool":
            factor *= weights.tool
        if each.source in AUTOMATION:
            factor *= weights.automation
        message_id = each.id
        scored.append(Scored(each, own[message_id], factor, masks[message_id], lengths.get(message_id, 0)))
    _link(scored, weights)
    return scored


def _link(scored: Iterable[Scored], weights: Weights) -> None:
    """Let each message know those beside it."""
    sessions: dict[int, list[Scored]] = {}
    for each in scored:
        sessions.setdefault(each.found.session_pk, []).append(each)
    shares = ((-2, weights.near), (-1, weights.beside), (1, weights.beside), (2, weights.near))
    for members in sessions.values():
        if len(members) == 1:
            continue
        places = {each.found.position: each for each in members}
        for at, each in places.items():
            each.neighbours = [(share, places[at + step]) for step, share in shares if at + step in places]


def settle(scored: Sequence[Scored], weights: Weights, is_dated: Callable[[int], float] | None = None) -> list[Scored]:
    """Work out the totals from what each message is worth by itself.

    Args:
        scored: Newest first.
        is_dated: How well a time (microseconds) fits the dates that the query names, 0 to 1; None: it names none.

    Returns:
        Best first, newest first among equals.
    """
    for each in scored:
        each.total = each.own * each.factor
    together = [each for each in scored if each.neighbours]
    for each in together:
        each.beside = sum([share * other.total for share, other in each.neighbours])
    for each in together:
        each.total += each.beside
    if is_dated is not None:
        best = max(map(_total, scored), default=0.0)
        for each in scored:
            each.date = weights.date * best * is_dated(each.found.created_at)
            each.total += each.date
    return sorted(scored, key=_total, reverse=True)


class Evidence(NamedTuple):
    """What the text of a message shows that the index does not: repetitions, by index of the piece, stop word and
    character."""

    repeats: Mapping[int, int]
    stops: Collection[int] = ()
    characters: int = 0


def refine(each: Scored, evidence: Evidence, scale: Scale, stop_worth: Sequence[float], characters: int) -> None:
    """Work out anew what a message is worth by itself, now that its text is known.

    Args:
        stop_worth: What each stop word is worth.
        characters: How many single characters the query has.
    """
    w = scale.weights
    norm, most = scale.norm(each.length), w.k1 + 1.0
    mask, repeats = each.mask, evidence.repeats
    full = sum(scale.worth) or 1.0
    held = own = 0.0
    parts: dict[int, float] = {}
    for index, value in enumerate(scale.worth):
        if mask >> index & 1:
            times = min(MAX_REPEATS, repeats.get(index, 1))
            parts[index] = part = value * times * most / (times + norm)
            own += part
            held += value
    own *= 1.0 + w.all_words * held / full
    if evidence.stops:
        own += sum(w.stop * stop_worth[index] for index in evidence.stops) * most / (1.0 + norm)
    if characters:
        own += w.character * full * evidence.characters / characters
    each.own, each.parts = own, parts


def parts_of(each: Scored, scale: Scale) -> Mapping[int, float]:
    """What each piece is worth in a message of which only the index is known."""
    share = (scale.weights.k1 + 1.0) / (1.0 + scale.norm(each.length))
    return {index: value * share for index, value in enumerate(scale.worth) if each.mask >> index & 1}


class ConversationScore(NamedTuple):
    """What a conversation is worth, and its messages in the pool, best first."""

    total: float
    messages: Sequence[Scored]


def score_conversations(scored: Sequence[Scored], scale: Scale) -> dict[int, ConversationScore]:
    """The conversations of the messages (best first), by key."""
    w = scale.weights
    groups: dict[int, list[Scored]] = {}
    for each in scored:
        groups.setdefault(each.found.conversation_pk, []).append(each)
    result: dict[int, ConversationScore] = {}
    for key, members in groups.items():
        total = sum(each.total * w.further**rank for rank, each in enumerate(members[:_CONVERSATION_HITS]))
        parts: dict[int, float] = {}
        for each in members:
            for index, part in (each.parts or parts_of(each, scale)).items():
                parts[index] = max(parts.get(index, 0.0), part * each.factor)
        total += w.spread * sum(parts.values())
        result[key] = ConversationScore(total, members)
    return result
