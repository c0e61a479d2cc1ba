"""The entities that facts are about, as rows: names, aliases, links. Works inside the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, exists, insert, select, update

from hermes_state.schema import entities, entity_aliases, fact_entities
from memory.providers.holographic import bank_table
from memory.providers.holographic.banks import MAX_DEPTH, shard_of
from memory.providers.holographic.entities import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import Connection

    from memory.providers.holographic.aliases import Alias
    from memory.providers.holographic.analysis import Analysis

_e, _a, _l = entities.c, entity_aliases.c, fact_entities.c


def resolve(connection: Connection, keys: Iterable[str]) -> dict[str, int]:
    """The entities that have these keys as their name or an alias; keys that nothing has are left out."""
    wanted = list(dict.fromkeys(keys))
    if not wanted:
        return {}
    named = select(_e.folded, _e.pk).where(_e.folded.in_(wanted))
    called = select(_a.folded, _a.entity_pk).where(_a.folded.in_(wanted))
    found = {row[0]: row[1] for row in connection.execute(called)}
    return found | {row[0]: row[1] for row in connection.execute(named)}


def names_of(connection: Connection, pks: Iterable[int]) -> dict[int, str]:
    """Entities as they were first written."""
    query = select(_e.pk, _e.name).where(_e.pk.in_(list(pks)))
    return {row[0]: row[1] for row in connection.execute(query)}


def called(connection: Connection, pk: int) -> tuple[list[str], list[str]]:
    """The keys and the names of an entity: its own, then its aliases'."""
    own = connection.execute(select(_e.folded, _e.name).where(_e.pk == pk)).all()
    others = connection.execute(select(_a.folded, _a.name).where(_a.entity_pk == pk).order_by(_a.folded)).all()
    return [row.folded for row in (*own, *others)], [row.name for row in (*own, *others)]


def link(connection: Connection, analysed: Mapping[int, Analysis]) -> dict[int, frozenset[int]]:
    """Link facts to the entities that they name, making those that are new.

    Returns:
        The entities of each fact.
    """
    names = {entity.key: entity.name for each in analysed.values() for entity in each.entities}
    for each in analysed.values():
        for alias in each.aliases:
            names.setdefault(normalise(alias.name), alias.name)
    names.pop("", None)
    known = resolve(connection, names)
    if new := [_row(key, name) for key, name in names.items() if key not in known]:
        connection.execute(insert(entities), new)
        known |= resolve(connection, [row["folded"] for row in new])
    for each in analysed.values():
        for alias in each.aliases:
            _call(connection, alias, known)
    links = {fact: frozenset(known[key] for key in _keys(each)) for fact, each in analysed.items()}
    if rows := [{"fact_pk": fact, "entity_pk": pk} for fact, pks in links.items() for pk in sorted(pks)]:
        connection.execute(insert(fact_entities), rows)
    return links


def _keys(analysis: Analysis) -> list[str]:
    """Everything that a fact is about: what it names, and what it gives another name to."""
    called = [key for alias in analysis.aliases if (key := normalise(alias.name))]
    return [*analysis.keys, *called]


def _row(key: str, name: str) -> dict[str, Any]:
    return {"folded": key, "name": name, "shard": shard_bytes(key)}


def shard_bytes(key: str) -> bytes:
    """The hash of an entity by which banks are split, as bytes that sort like its bits."""
    return int(shard_of(key, MAX_DEPTH), 2).to_bytes(MAX_DEPTH // 8, "big")


def _call(connection: Connection, alias: Alias, known: dict[str, int]) -> None:
    """Note that a name is another one's; two entities that turn out to be one become one."""
    key, other = normalise(alias.name), normalise(alias.alias)
    if not key or not other or key == other or key not in known:
        return
    pk = known[key]
    holder = known.get(other) or resolve(connection, [other]).get(other)
    if holder == pk:
        known[other] = pk
        return
    if holder is not None:
        _merge(connection, holder, pk)
        for each, at in known.items():
            if at == holder:
                known[each] = pk
    if not connection.execute(select(_a.entity_pk).where(_a.folded == other)).first():
        connection.execute(insert(entity_aliases).values(folded=other, entity_pk=pk, name=alias.alias))
    known[other] = pk


def _merge(connection: Connection, gone: int, kept: int) -> None:
    """Make one entity a name of another. The banks know its links under a name that is gone, so they are made anew."""
    bank_table.forget(connection)
    name = connection.execute(select(_e.folded, _e.name).where(_e.pk == gone)).one()
    both = select(_l.fact_pk).where(_l.entity_pk == kept)
    connection.execute(delete(fact_entities).where(_l.entity_pk == gone, _l.fact_pk.in_(both)))
    connection.execute(update(fact_entities).where(_l.entity_pk == gone).values(entity_pk=kept))
    connection.execute(update(entity_aliases).where(_a.entity_pk == gone).values(entity_pk=kept))
    connection.execute(delete(entities).where(_e.pk == gone))
    connection.execute(insert(entity_aliases).values(folded=name.folded, entity_pk=kept, name=name.name))


def unlink(connection: Connection, fact_pks: Iterable[int]) -> None:
    """Take links away, and the entities that no fact is about any more."""
    of_facts = _l.fact_pk.in_(list(fact_pks))
    touched = list(connection.execute(select(_l.entity_pk).where(of_facts).distinct()).scalars())
    connection.execute(delete(fact_entities).where(of_facts))
    drop_orphans(connection, touched)


def drop_orphans(connection: Connection, pks: Iterable[int]) -> None:
    """Take away those of these entities that no fact is about."""
    linked = exists().where(_l.entity_pk == _e.pk)
    connection.execute(delete(entities).where(_e.pk.in_(list(pks)), ~linked))
