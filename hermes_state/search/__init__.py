"""Search: full text over every message, ranked; conversations; filters; explanations."""

from hermes_state.search.fusion import Ranker, fuse
from hermes_state.search.rank import DEFAULT_WEIGHTS, Weights
from hermes_state.search.records import (
    ContextMessage,
    ConversationHit,
    Explanation,
    Hits,
    MessageHit,
    PieceScore,
    Why,
)
from hermes_state.search.search import Search

__all__ = [
    "DEFAULT_WEIGHTS",
    "ContextMessage",
    "ConversationHit",
    "Explanation",
    "Hits",
    "MessageHit",
    "PieceScore",
    "Ranker",
    "Search",
    "Weights",
    "Why",
    "fuse",
]
