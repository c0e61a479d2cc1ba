"""The seam for other opinions on what is relevant, such as embeddings: reciprocal rank fusion. Off by default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_state.text import Query

# Damps the head of each list: the first place is worth 1/61, the tenth 1/70. The usual value.
RRF_K = 60
# Messages asked of each ranker.
FUSED = 100


class Ranker(Protocol):
    """Another way to rank messages.

    Attributes:
        weight: How much its opinion counts beside the full-text ranking, which counts 1.
    """

    weight: float

    def rank(self, query: Query, limit: int) -> Sequence[int]:
        """The ids of the messages it thinks best, best first. Those that a search may not show are dropped later."""


def fuse(rankings: Sequence[tuple[float, Sequence[int]]], *, k: int = RRF_K) -> dict[int, float]:
    """Reciprocal rank fusion: each message's sum of weight / (k + rank) over the rankings that have it.

    Args:
        rankings: (weight, ids best first).

    Returns:
        Scores by id, best first; ties keep the order of the first ranking that has them.
    """
    scores: dict[int, float] = {}
    for weight, ids in rankings:
        for place, message_id in enumerate(ids, start=1):
            scores[message_id] = scores.get(message_id, 0.0) + weight / (k + place)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))
