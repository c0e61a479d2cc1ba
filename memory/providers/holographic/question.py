"""A question put to the facts: what to look up, its words and its vector. Never a query language: every word counts."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.search.plan import Plan, make_plan
from hermes_state.text import Any, Phrase, Prefix, Query, Word, is_stopword
from hermes_state.text.query import MAX_CHARS, MAX_LEAVES, make_leaf
from memory.providers.holographic import chinese_names, korean_names, korean_stems
from memory.providers.holographic.chinese_names import HAN_RUN
from memory.providers.holographic.content_words import ASKING, HANGUL, JAPANESE, KANA, content_words, japanese
from memory.providers.holographic.entities import Entity, extract, normalise
from memory.providers.holographic.japanese_names import asked_name
from memory.providers.holographic.roles import Role, roles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memory.providers.holographic.spans import Span

Leaf = Word | Phrase | Prefix

# Sentences of a message that are asked for one by one: a longer one is a pasted text, and its ends say what is wanted.
MAX_SENTENCES = 6
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|[\r\n]+|;\s")
# A word of scripts without spaces up to this length is looked up as it is, unless it asks something.
_EXACT_CHARS = 4
_PRONOUN = re.compile(
    r"\b(?:it|its|he|him|his|she|her|hers|they|them|their|there|that)\b|[他她它]|那里|那儿|那个|それ|そこ|彼|その|그는|그녀|그것|거기|그의",
    re.IGNORECASE,
)
_LATIN = re.compile(r"[^\W\u0e00-\ud7af\u3041-\u9fff]+(?:[-_.@/:+#]+[^\W\u0e00-\ud7af\u3041-\u9fff]+)*\+{0,2}#?")


class Question(NamedTuple):
    """What is asked.

    Attributes:
        plan: what is looked up, by `hermes_state.search`.
        tokens: what its words come to, as `content_words` has it for facts.
        entities: what it names.
        roles: the part that a named one has in it, where it says so; by key.
    """

    text: str
    plan: Plan
    tokens: tuple[str, ...]
    entities: tuple[Entity, ...]
    roles: dict[str, Role]

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing that could be looked up: no words, or only such as carry no subject."""
        return self.plan.node is None or all(piece.stop for piece in self.plan.pieces)


def ask(text: str, before: Question | None = None) -> Question:
    """Read a question. Operators, quotes and filters of the session search mean nothing here.

    Args:
        before: what was asked just before; a pronoun speaks of what that named.
    """
    text = text[:MAX_CHARS]
    leaves: dict[Leaf, None] = {}
    for word in text.split():
        for leaf in _leaves(word.rstrip("*")):
            leaves[leaf] = None
    some = tuple(leaves)[:MAX_LEAVES]
    node = Any(some) if len(some) > 1 else next(iter(some), None)
    named = _named(text)
    if before is not None and not named and _PRONOUN.search(text):
        named = before.entities
    return Question(
        text,
        make_plan(Query(text=text, node=node)),
        tuple(dict.fromkeys(content_words(text))),
        named,
        {} if before is not None and named is before.entities else roles(text, named),
    )


def ask_each(parts: Sequence[str]) -> list[Question]:
    """Read the sentences of one message."""
    questions: list[Question] = []
    for part in parts:
        questions.append(ask(part, questions[-1] if questions else None))
    return questions


def sentences(message: str) -> list[str]:
    """The sentences of a message that say something; of many the first and the last."""
    found = list(dict.fromkeys(part.strip() for part in _END.split(message[:MAX_CHARS]) if part.strip()))
    half = MAX_SENTENCES // 2
    return found if len(found) <= MAX_SENTENCES else [*found[:half], *found[-half:]]


def _named(text: str) -> tuple[Entity, ...]:
    """What a question names. It may be somebody of whom nothing is known, so more counts as a name than in a fact."""
    found = {entity.key: entity for entity in extract(text)}
    for span in () if text.isascii() else chain(chinese_names.asked_names(text), asked_name(text), _korean_names(text)):
        if not any(span.start < entity.end and entity.start < span.end for entity in found.values()):
            name = text[span.start : span.end]
            found.setdefault(normalise(name), Entity(name, normalise(name), span.kind, span.start, span.end))
    return tuple(sorted(found.values(), key=lambda entity: entity.start))


def _korean_names(text: str) -> Iterator[Span]:
    for span in korean_names.asked_names(text):
        if korean_stems.stem(text[span.start : span.end]).key not in korean_stems.STOPS:
            yield span


def _leaves(word: str) -> Iterator[Leaf]:
    """What is looked up for a word between spaces, which is a clause in some scripts."""
    if word.isascii():
        parts: Iterator[Leaf | None] = iter([make_leaf(word, Word)])
    elif HANGUL.search(word):
        parts = _korean(word)
    elif KANA.search(word) and len(word) > 1:
        parts = _japanese(word)
    elif HAN_RUN.search(word) and (len(word) > _EXACT_CHARS or ASKING.search(word)):
        parts = _chinese(word)
    else:
        parts = iter([make_leaf(word, Word)])
    found = [leaf for leaf in parts if leaf is not None]
    if found:
        yield from found
    elif (leaf := make_leaf(word, Word)) is not None:
        yield replace(leaf, bag=(), stop=True)


def _korean(word: str) -> Iterator[Leaf | None]:
    at = 0
    for match in HANGUL.finditer(word):
        yield from _latin(word[at : match.start()])
        at = match.end()
        stem = korean_stems.stem(match.group())
        if stem.key not in korean_stems.STOPS:
            leaf = make_leaf(stem.shown, Word)
            yield None if leaf is None else replace(leaf, bag=())
    yield from _latin(word[at:])


def _japanese(word: str) -> Iterator[Leaf | None]:
    for match in JAPANESE.finditer(word):
        for part in japanese(match):
            leaf = make_leaf(part, Word)
            yield None if leaf is None else replace(leaf, bag=())
    yield from _latin(JAPANESE.sub(" ", word))


def _chinese(word: str) -> Iterator[Leaf | None]:
    for part in ASKING.sub(" ", word).split():
        for run in HAN_RUN.findall(part):
            for at in range(max(1, len(run) - 1)):
                pair = run[at : at + 2]
                if not is_stopword(pair):
                    yield make_leaf(pair, Word)
        yield from _latin(HAN_RUN.sub(" ", part))


def _latin(text: str) -> Iterator[Leaf | None]:
    for match in _LATIN.finditer(text):
        yield make_leaf(match.group(), Word)
