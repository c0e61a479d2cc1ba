"""Reading the table `memories`: finding entries by what they say, and how they came to be what they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import exists, select

from hermes_state import memory_index
from hermes_state.clock import from_us
from hermes_state.engine.match import match_expression
from hermes_state.schema import memories, memory_events, memory_tags
from hermes_state.text import And, Any, Leaf, Not, Or, parse, snippet
from memory.builtin.ledger import origin_of
from memory.errors import AmbiguousMatch, EntryNotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection

    from hermes_state.text.query import Node, Query
    from memory.builtin.changes import Origin

STATUSES = ("active", "archived", "replaced", "removed")
# What an entry that is no longer true counts beside one that is.
_WEIGHTS = {"active": 1.0, "archived": 0.95, "removed": 0.6, "replaced": 0.5}
# Candidates that are weighed for each that is wanted.
_CANDIDATES = 4
_c, _t, _e = memories.c, memory_tags.c, memory_events.c


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """An entry as the table has it.

    Attributes:
        status: one of `STATUSES`.
        replaced_by: the id of the entry that took its place.
        snippet: the part that was found, for a hit; else empty.
        score: how well it answers, for a hit.
    """

    pk: int
    id: str
    target: str
    status: str
    text: str
    tags: tuple[str, ...]
    created_at: datetime
    changed_at: datetime
    replaced_by: str | None = None
    snippet: str = ""
    score: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One thing that happened to an entry.

    Attributes:
        id: of the entry it happened to.
        batch: names what was changed with it.
        undoes: the batch that it took back.
    """

    id: str
    target: str
    action: str
    at: datetime
    before: str | None
    after: str | None
    batch: str
    undoes: str | None
    origin: Origin


def search(
    connection: Connection,
    query: str,
    *,
    target: str | None = None,
    tags: Sequence[str] = (),
    statuses: Sequence[str] = STATUSES,
    limit: int = 20,
) -> list[Memory]:
    """The entries that answer a query best: those with all its words first, then those with some.

    Args:
        tags: an entry must have all of them.
        statuses: only entries that are in one of these.
    """
    parsed = parse_plain(query)
    node = parsed.node
    if node is None or isinstance(node, Not) or limit <= 0:
        return []
    conditions = _conditions(target, tags, statuses)
    scores: dict[int, float] = {}
    for tier, expression in enumerate(
        dict.fromkeys((match_expression(_all_of(node)), match_expression(_any_of(node))))
    ):
        if tier and len(scores) >= limit:
            break
        best = memory_index.INDEX.best(connection, expression, conditions=conditions, limit=limit * _CANDIDATES)
        for pk, score in best:
            # BM25 is below 1 only where a word is in most entries; a whole answer beats any part of one.
            scores.setdefault(pk, score + (0.0 if tier else 1000.0))
    found = [replace(each, score=scores[each.pk]) for each in by_pk(connection, list(scores))]
    found.sort(key=lambda each: (-each.score * _WEIGHTS.get(each.status, 1.0), -each.pk))
    return [replace(each, snippet=snippet(each.text, parsed, marks=("", ""))) for each in found[:limit]]


def parse_plain(query: str) -> Query:
    """A query in the language of the store, in which a colon is no filter: memories have no roles or sources."""
    parsed = parse(query)
    return parse(query.replace(":", " ").replace("：", " ")) if parsed.filters else parsed


def _conditions(target: str | None, tags: Sequence[str], statuses: Sequence[str]) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [] if target is None else [_c.target == target]
    if set(statuses) != set(STATUSES):
        conditions.append(_c.status.in_(statuses))
    return conditions + [exists().where(_t.memory_pk == _c.pk, _t.tag == tag) for tag in tags]


def _all_of(node: Node) -> Node:
    """What has every word that carries a subject."""
    if isinstance(node, Any):
        telling = tuple(each for each in node.operands if not (isinstance(each, Leaf) and each.stop)) or node.operands
        return And(tuple(_any_of(each) for each in telling)) if len(telling) > 1 else _any_of(telling[0])
    if isinstance(node, And):
        return And(tuple(_all_of(each) for each in node.operands))
    return _any_of(node)


def _any_of(node: Node) -> Node:
    """What has some word; a clause without spaces is met by its parts."""
    if isinstance(node, Leaf):
        bag = tuple(term for term in node.bag if not term.stop) or node.bag
        return replace(node, exact=(*node.exact, *bag)) if bag else node
    if isinstance(node, Any):
        telling = tuple(each for each in node.operands if not (isinstance(each, Leaf) and each.stop)) or node.operands
        return Any(tuple(_any_of(each) for each in telling))
    if isinstance(node, And | Or):
        return type(node)(tuple(each if isinstance(each, Not) else _any_of(each) for each in node.operands))
    return node


def by_pk(connection: Connection, pks: Sequence[int]) -> list[Memory]:
    """These entries, in no order."""
    return _memories(connection, [_c.pk.in_(pks)]) if pks else []


def listed(
    connection: Connection, *, target: str | None = None, tags: Sequence[str] = (), statuses: Sequence[str] = STATUSES
) -> list[Memory]:
    """The entries that fit, oldest first."""
    return sorted(_memories(connection, _conditions(target, tags, statuses)), key=lambda each: each.pk)


def named(connection: Connection, name: str) -> Memory:
    """The entry with this id, or the only one whose id begins so.

    Raises:
        EntryNotFound, AmbiguousMatch: there is none, or there are several.
    """
    start = name.strip().lower()
    found = _memories(connection, [_c.id.startswith(start, autoescape=True)]) if len(start) >= 4 else []
    exact = [each for each in found if each.id == start]
    if len(exact or found) > 1:
        raise AmbiguousMatch(name, [f"[{each.id}] {each.text}" for each in found])
    if not found:
        raise EntryNotFound(name)
    return (exact or found)[0]


def _memories(connection: Connection, conditions: Sequence[ColumnElement[bool]]) -> list[Memory]:
    successor = memories.alias("successor")
    query = (
        select(memories, successor.c.id.label("successor_id"))
        .outerjoin(successor, successor.c.pk == _c.replaced_by_pk)
        .where(*conditions)
    )
    rows = connection.execute(query).fetchall()
    tags: dict[int, list[str]] = {}
    if rows:
        pks = [row.pk for row in rows] if len(rows) < 1_000 else None
        tagged = select(_t.memory_pk, _t.tag).order_by(_t.tag)
        for pk, tag in connection.execute(tagged if pks is None else tagged.where(_t.memory_pk.in_(pks))):
            tags.setdefault(pk, []).append(tag)
    return [
        Memory(
            pk=row.pk,
            id=row.id,
            target=row.target,
            status=row.status,
            text=row.content,
            tags=tuple(tags.get(row.pk, ())),
            created_at=from_us(row.created_at),
            changed_at=from_us(row.changed_at),
            replaced_by=row.successor_id,
        )
        for row in rows
    ]


def history(connection: Connection, name: str | None = None, *, limit: int | None = None) -> list[Event]:
    """What happened, newest first: to one entry and those it came from or became, or to all.

    Raises:
        EntryNotFound, AmbiguousMatch: no entry, or several, have that id.
    """
    query = select(memory_events, _c.id, _c.target).join(memories, _c.pk == _e.memory_pk)
    if name is not None:
        query = query.where(_e.memory_pk.in_(_kin(connection, named(connection, name).pk)))
    rows = connection.execute(query.order_by(_e.pk.desc()).limit(limit)).fetchall()
    return [
        Event(
            id=row.id,
            target=row.target,
            action=row.action,
            at=from_us(row.at),
            before=row.before,
            after=row.after,
            batch=row.batch,
            undoes=row.undoes,
            origin=origin_of(row.origin),
        )
        for row in rows
    ]


def _kin(connection: Connection, pk: int) -> set[int]:
    """An entry with what it replaced and what replaced it."""
    kin, frontier = {pk}, {pk}
    while frontier:
        query = select(_c.pk, _c.replaced_by_pk).where(_c.replaced_by_pk.in_(frontier) | _c.pk.in_(frontier))
        near = {each for row in connection.execute(query) for each in row if each is not None}
        frontier = near - kin
        kin |= near
    return kin
