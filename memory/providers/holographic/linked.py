"""Which facts are about an entity: those linked to it, and those that only mention it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import exists, func, select

from hermes_state.errors import InvalidValue
from hermes_state.fact_index import INDEX
from hermes_state.schema import fact_entities, facts
from hermes_state.text import And, Or, Phrase
from hermes_state.text.query import make_leaf
from memory.providers.holographic import entity_table
from memory.providers.holographic.entities import mentions, normalise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection

    from hermes_state.text import Prefix, Word
    from hermes_state.text.query import Node

# Facts of one entity that are looked at when fewer are wanted: the most trusted and newest.
LOOKED_AT = 100
# Facts of each entity, the newest, that are looked through for what connects it with another.
MOST_CONNECTED = 500
_f, _l = facts.c, fact_entities.c


class Known(NamedTuple):
    """One entity that was asked for.

    Attributes:
        pk: None when no fact was linked to it; it may still be mentioned.
        keys: its own and those of its aliases.
        names: as asked, and as facts write it.
    """

    pk: int | None
    keys: tuple[str, ...]
    names: tuple[str, ...]


def know(connection: Connection, entity: str) -> Known:
    """The entity that a name means.

    Raises:
        InvalidValue: the name has nothing in it.
    """
    key = normalise(entity)
    if not key:
        raise InvalidValue(f"{entity!r} names nothing", hint="give the name of a person, project, tool, …")
    pk = entity_table.resolve(connection, [key]).get(key)
    if pk is None:
        return Known(None, (key,), (entity,))
    keys, names = entity_table.called(connection, pk)
    return Known(pk, tuple(dict.fromkeys([key, *keys])), tuple(dict.fromkeys([entity, *names])))


def facts_of(connection: Connection, known: Known, conditions: Sequence[ColumnElement[bool]], most: int) -> list[int]:
    """The facts that are linked to an entity, the most trusted first, then those that only mention it."""
    most = max(most, LOOKED_AT)
    linked: list[int] = []
    if known.pk is not None:
        query = select(_l.fact_pk).join(facts, _f.pk == _l.fact_pk).where(_l.entity_pk == known.pk, *conditions)
        query = query.order_by(_f.trust.desc(), _l.fact_pk.desc()).limit(most)
        linked = list(connection.execute(query).scalars().all())
    if len(linked) >= most:
        return linked
    return [*linked, *_mentioning(connection, [known], conditions, set(linked), most)]


def facts_of_all(
    connection: Connection, known: Sequence[Known], conditions: Sequence[ColumnElement[bool]], most: int
) -> list[int]:
    """The facts that are linked to each of some entities, or mention it; newest first."""
    most = max(most, LOOKED_AT)
    linked: list[int] = []
    pks = [each.pk for each in known if each.pk is not None]
    if len(pks) == len(known):
        counts = {pk: _links_up_to(connection, pk, MOST_CONNECTED) for pk in pks}
        first, *others = sorted(pks, key=lambda pk: counts[pk])  # the links of the rarest are walked
        query = select(_l.fact_pk).join(facts, _f.pk == _l.fact_pk).where(_l.entity_pk == first, *conditions)
        for other in others:
            query = query.where(_has_link(other))
        linked = list(connection.execute(query.order_by(_l.fact_pk.desc()).limit(most)).scalars().all())
    return [*linked, *_mentioning(connection, known, conditions, set(linked), most)]


def _links_up_to(connection: Connection, pk: int, most: int) -> int:
    """How many facts are linked to an entity; counted only so far."""
    some = select(_l.fact_pk).where(_l.entity_pk == pk).limit(most).subquery()
    return int(connection.execute(select(func.count()).select_from(some)).scalar_one())


def _has_link(pk: int) -> ColumnElement[bool]:
    other = fact_entities.alias()
    return exists().where(other.c.fact_pk == _l.fact_pk, other.c.entity_pk == pk)


def linked_to_both(
    connection: Connection, pk: int, bridge: int, conditions: Sequence[ColumnElement[bool]], most: int
) -> list[int]:
    """The newest facts linked to an entity and to the one that connects it."""
    query = (
        select(_l.fact_pk)
        .join(facts, _f.pk == _l.fact_pk)
        .where(_l.entity_pk == bridge, _has_link(pk), *conditions)
        .order_by(_l.fact_pk.desc())
        .limit(most)
    )
    return list(connection.execute(query).scalars().all())


def _mentioning(
    connection: Connection,
    known: Sequence[Known],
    conditions: Sequence[ColumnElement[bool]],
    linked: set[int],
    most: int,
) -> list[int]:
    """Facts that have a name of each entity in their text, although they were not linked to all of them."""
    if not INDEX.exists(connection):
        return []
    spoken = [_either([leaf for name in each.names if (leaf := make_leaf(name, Phrase))]) for each in known]
    nodes = [node for node in spoken if node is not None]
    if len(nodes) < len(known):
        return []
    node = nodes[0] if len(nodes) == 1 else And(tuple(nodes))
    matches = INDEX.matches(connection, node, limit=most + len(linked))
    wanted = [pk for pk in matches if pk not in linked][:most]
    if not wanted:
        return []
    query = select(_f.pk, _f.content).where(_f.pk.in_(wanted), *conditions)
    texts = {row.pk: row.content for row in connection.execute(query).all()}
    return [
        pk
        for pk in wanted
        if pk in texts and all(any(mentions(texts[pk], name) for name in each.names) for each in known)
    ]


def _either(leaves: Sequence[Word | Phrase | Prefix]) -> Node | None:
    return Or(tuple(leaves)) if len(leaves) > 1 else next(iter(leaves), None)


def around(connection: Connection, known: Known) -> Counter[int]:
    """The other entities of an entity's newest facts, and in how many of them each is."""
    newest = select(_l.fact_pk).where(_l.entity_pk == known.pk).order_by(_l.fact_pk.desc()).limit(MOST_CONNECTED)
    other = fact_entities.alias()
    count = func.count()
    query = (
        select(other.c.entity_pk, count)
        .where(other.c.fact_pk.in_(newest), other.c.entity_pk != known.pk)
        .group_by(other.c.entity_pk)
        .order_by(count.desc(), other.c.entity_pk)
    )
    return Counter({row[0]: row[1] for row in connection.execute(query).all()})
