"""A question put to the facts: what to look up, its words and its vector. Never a query language: every word counts."""

from __future__ import annotations

import re
from typing import NamedTuple

from hermes_state.search.plan import Plan, make_plan
from hermes_state.text import Any, Phrase, Prefix, Query, Word
from hermes_state.text.query import MAX_CHARS, MAX_LEAVES, make_leaf
from memory.providers.holographic.analysis import tokens
from memory.providers.holographic.entities import Entity, extract

# Sentences of a message that are asked for one by one: a longer one is a pasted text, and its ends say what is wanted.
MAX_SENTENCES = 6
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|[\r\n]+|;\s")


class Question(NamedTuple):
    """What is asked.

    Attributes:
        plan: what is looked up, by `hermes_state.search`.
        tokens: what its words come to, as `analysis.tokens` has it for facts.
        entities: what it names.
    """

    text: str
    plan: Plan
    tokens: tuple[str, ...]
    entities: tuple[Entity, ...]

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing that could be looked up: no words, or only such as carry no subject."""
        return self.plan.node is None or all(piece.stop for piece in self.plan.pieces)


def ask(text: str) -> Question:
    """Read a question. Operators, quotes and filters of the session search mean nothing here."""
    text = text[:MAX_CHARS]
    leaves: dict[Word | Phrase | Prefix, None] = {}
    for word in text.split():
        leaf = make_leaf(word.rstrip("*"), Word)
        if leaf is not None:
            leaves[leaf] = None
    some = tuple(leaves)[:MAX_LEAVES]
    node = Any(some) if len(some) > 1 else next(iter(some), None)
    return Question(
        text, make_plan(Query(text=text, node=node)), tuple(dict.fromkeys(tokens(text))), tuple(extract(text))
    )


def sentences(message: str) -> list[str]:
    """The sentences of a message that say something; of many the first and the last."""
    found = list(dict.fromkeys(part.strip() for part in _END.split(message[:MAX_CHARS]) if part.strip()))
    half = MAX_SENTENCES // 2
    return found if len(found) <= MAX_SENTENCES else [*found[:half], *found[-half:]]
