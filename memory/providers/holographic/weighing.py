"""How well each of some facts answers a question: the signals of `relevance`, and what speaks against it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hermes_state.search.rank import worth_of_mask
from hermes_state.text import fold
from memory.providers.holographic import algebra, entity_table, relevance
from memory.providers.holographic.analysis import tag_words
from memory.providers.holographic.comparing import HAS, Vectors
from memory.providers.holographic.content_words import content_words
from memory.providers.holographic.entities import Entity, mentions
from memory.providers.holographic.relevance import Against, Signals
from memory.providers.holographic.roles import AGENT, roles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from hermes_state.search.candidates import Pool
    from hermes_state.search.rank import Scale
    from memory.providers.holographic.comparing import Candidate
    from memory.providers.holographic.question import Question
    from memory.providers.holographic.roles import Role

# The exponent of the length of a fact by which the similarity of its words is raised; one half would be all of it.
_LENGTH_GIVEN_BACK = 0.25
_OPPOSITE = {True: (algebra.ROLE_AGENT, algebra.ROLE_PATIENT), False: (algebra.ROLE_PATIENT, algebra.ROLE_AGENT)}


class Named(NamedTuple):
    """A name in a question.

    Attributes:
        keys: of the entity that it means: its own, and those of its aliases.
        role: its part in the question, if that is told.
    """

    name: str
    keys: tuple[str, ...]
    role: Role | None


def names(connection: Connection, question: Question) -> list[Named]:
    """The names that a question has."""
    known = entity_table.resolve(connection, [entity.key for entity in question.entities])
    found = []
    for entity in question.entities:
        pk = known.get(entity.key)
        keys = [entity.key, *(entity_table.called(connection, pk)[0] if pk else ())]
        found.append(Named(entity.name, tuple(dict.fromkeys(keys)), question.roles.get(entity.key)))
    return found


def weigh(
    question: Question,
    named: Sequence[Named],
    found: Sequence[Candidate],
    pool: Pool,
    scale: Scale,
    *,
    with_vectors: bool = True,
) -> Iterator[tuple[Signals, Against]]:
    """The signals of each candidate, and what speaks against it.

    Args:
        pool: which of the question's pieces each fact has, as far as the index was read.
        scale: what each piece is worth.
        with_vectors: False: what only vectors tell is left out.
    """
    full = worth_of_mask((1 << len(scale.worth)) - 1, scale) or 1.0
    masks = [_whole_mask(question, pool, each) for each in found]
    shares = {mask: worth_of_mask(mask, scale) / full for mask in set(masks)}
    asked = frozenset(question.tokens)
    vectors = Vectors(found if with_vectors else [each._replace(phases=None) for each in found])
    about = [vectors.about(each.keys) for each in named]
    content = vectors.near(lambda dim: algebra.content_probe(question.tokens, dim))
    near = _nearness(question, content, about, found)
    turned = _turned(vectors, named, found) if with_vectors else [False] * len(found)
    for place, candidate in enumerate(found):
        row = candidate.row
        told = {*content_words(row.content), *(tag_words(row.tags) if row.tags else ())}
        value = None if np.isnan(near[place]) else near[place]
        missing = sum(_missing(row.content, each, have[place]) for each, have in zip(named, about, strict=True))
        against = Against(missing / len(named) if named else 0.0, is_turned=turned[place])
        yield Signals(shares[masks[place]], relevance.overlap(asked, told), value), against


def _nearness(
    question: Question, content: NDArray[np.float32], about: Sequence[NDArray[np.float32]], found: Sequence[Candidate]
) -> list[float]:
    """What vectors tell of each candidate: of its words, and of each name that some of them have in their vectors.

    The similarity of two bundles falls with the root of the length of either. For a long fact half of that is given
    back: two words of a long fact that has both are worth more than one of a short one, and token overlap already
    prefers what says this and no more.
    """
    sizes = np.array([len(content_words(each.row.content)) for each in found], np.float32)
    content = np.minimum(content * np.maximum(1.0, sizes / max(1, len(question.tokens))) ** _LENGTH_GIVEN_BACK, 1.0)
    known = [each for each in about if np.any(each >= HAS)]
    near: list[float] = np.mean([content, *known], axis=0).tolist()
    return near


def _whole_mask(question: Question, pool: Pool, candidate: Candidate) -> int:
    """Which pieces a fact has. Those whose lists were not read to their end are looked for in its text."""
    mask = pool.masks[candidate.row.pk]
    if pool.cut:
        text = fold(f"{candidate.row.content} {candidate.row.tags}")
        for index in pool.cut:
            if any(needle in text for needle in question.plan.pieces[index].needles):
                mask |= 1 << index
    return mask


def _missing(content: str, named: Named, have: float) -> float:
    """How far a fact lacks a name: not, wholly, or by half when it has the word and not the name (Rose, a rose)."""
    if have >= HAS:
        return 0.0
    if not mentions(content, named.name):
        return 1.0
    is_word = have < HAS and named.name not in content and named.name.lower() in content
    return 0.5 if is_word else 0.0


def _turned(vectors: Vectors, named: Sequence[Named], found: Sequence[Candidate]) -> list[bool]:
    """Which facts have a name in the part opposite to that in the question, and not in the same.

    Vectors tell it of all at once; the text is read of those that mention a name which was not known for one.
    """
    turned = np.zeros(len(found), np.bool_)
    for each in named:
        if each.role is None:
            continue
        same, opposite = _OPPOSITE[each.role == AGENT]
        turned |= (vectors.about(each.keys, opposite) >= HAS) & ~(vectors.about(each.keys, same) >= HAS)
        unknown = ~(vectors.about(each.keys) >= HAS)
        for place in np.flatnonzero(unknown).tolist():
            role = _role_in(found[place].row.content, each)
            turned[place] |= role is not None and role != each.role
    return turned.tolist()


def _role_in(content: str, named: Named) -> Role | None:
    """The part of a name in a text of which it is not known to be a name."""
    start = content.find(named.name)
    if start < 0:
        return None
    entity = Entity(named.name, named.keys[0], "name", start, start + len(named.name))
    return roles(content, [entity]).get(entity.key)
