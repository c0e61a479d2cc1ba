"""Reading the table `memories`: finding entries by what they say, and how they came to be what they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, exists, select

from hermes_state import memory_index
from hermes_state.clock import from_us
from hermes_state.schema import memories, memory_events, memory_tags
from hermes_state.text import And, Any, Leaf, Not, Or, parse, snippet
from hermes_state.text.snippet import WIDTH
from memory.builtin.entries import TARGETS
from memory.builtin.ledger import origin_of
from memory.errors import AmbiguousMatch, EntryNotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Select

    from hermes_state.text import Query, Term
    from hermes_state.text.query import Node
    from memory.builtin.changes import Origin

STATUSES = ("active", "archived", "replaced", "removed")
# What an entry that is no longer true counts beside one that is.
_WEIGHTS = {"active": 1.0, "archived": 0.95, "removed": 0.6, "replaced": 0.5}
# Candidates that are weighed for each that is wanted.
_CANDIDATES = 2
# A word is common when more entries than this have it, and more than one in so many. The rarest few are asked for in
# any case, and of a pasted text not more than so many.
_COMMON, _COMMON_SHARE, _FEWEST, _MOST_TERMS = 100, 25, 2, 16
_c, _t, _e = memories.c, memory_tags.c, memory_events.c


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """An entry as the table has it.

    Attributes:
        status: one of `STATUSES`.
        replaced_by: the id of the entry that took its place.
        snippet: the part that was found, for a hit; else empty.
        score: how well it answers, from 0 to 1, for a hit.
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
    excerpts: bool = True,
) -> list[Memory]:
    """The entries that answer a query best: those with all its words first, then those with some.

    Args:
        tags: an entry must have all of them.
        statuses: only entries that are in one of these.
        excerpts: fill `Memory.snippet`, which takes longer than the rest where entries are long.
    """
    parsed = parse_plain(query)
    node = parsed.node
    if node is None or isinstance(node, Not) or limit <= 0:
        return []
    conditions = _conditions(target, tuple(tags), tuple(statuses))
    scores: dict[int, float] = {}
    asked = _Asked(connection, node)
    for tier, ask in enumerate((asked.all, asked.some)):
        if tier and len(scores) >= limit:
            break
        best = memory_index.INDEX.best(connection, ask(), conditions=conditions, limit=limit * _CANDIDATES)
        for pk, score in best:
            # A whole answer, from 0.5 to 1, beats any part of one.
            scores.setdefault(pk, 0.5 * score / (1.0 + score) + (0.0 if tier else 0.5))
    found = by_pk(connection, list(scores))
    weighed = {each.pk: scores[each.pk] * _WEIGHTS.get(each.status, 1.0) for each in found}
    found.sort(key=lambda each: (-weighed[each.pk], -each.pk))
    return [
        replace(each, score=weighed[each.pk], snippet=_excerpt(each.text, parsed) if excerpts else "")
        for each in found[:limit]
    ]


def _excerpt(text: str, parsed: Query) -> str:
    """The part that was found, on one line: of a short entry all of it."""
    return " ".join(text.split()) if len(text) <= WIDTH else snippet(text, parsed, marks=("", ""))


def parse_plain(query: str) -> Query:
    """A query in the language of the store, in which a colon is no filter: memories have no roles or sources."""
    parsed = parse(query)
    return parse(query.replace(":", " ").replace("：", " ")) if parsed.filters else parsed


@lru_cache(maxsize=32)
def _conditions(
    target: str | None, tags: tuple[str, ...], statuses: tuple[str, ...]
) -> tuple[ColumnElement[bool], ...]:
    """What an entry must meet; the same objects again for the same arguments, so that statements are built once."""
    conditions: list[ColumnElement[bool]] = [] if target is None else [_c.target == target]
    if set(statuses) != set(STATUSES):
        conditions.append(_c.status.in_(statuses))
    return (*conditions, *(exists().where(_t.memory_pk == _c.pk, _t.tag == tag) for tag in tags))


class _Asked:
    """What a query asks of the index: entries that have all of it, and entries that have some."""

    def __init__(self, connection: Connection, node: Node) -> None:
        self._connection = connection
        self._node = node
        self._entries = memory_index.INDEX.counts(connection)[1]
        self._most = max(_COMMON, self._entries // _COMMON_SHARE)

    def all(self) -> Node:
        """What has every word that carries a subject."""
        return self._all(self._node)

    def some(self) -> Node:
        """What has one of the words that tell most; a clause without spaces is met by its parts."""
        return self._some(self._node)

    def _all(self, node: Node) -> Node:
        if isinstance(node, Any):
            telling = _telling(node.operands)
            return And(tuple(telling)) if len(telling) > 1 else telling[0]
        return And(tuple(map(self._all, node.operands))) if isinstance(node, And) else node

    def _some(self, node: Node) -> Node:
        if isinstance(node, Leaf) and node.bag:
            terms = [term for term in node.bag if not term.stop] or node.bag
            return replace(node, exact=(*node.exact, *self._rarest(terms)))
        if isinstance(node, Any):
            words = [each for each in _telling(node.operands) if isinstance(each, Leaf) and not each.bag]
            rare = set(self._rarest([each.exact[0] for each in words]))
            kept = (
                e for e in _telling(node.operands) if e not in words or (isinstance(e, Leaf) and e.exact[0] in rare)
            )
            return Any(tuple(map(self._some, kept)))
        if isinstance(node, And | Or):
            return type(node)(tuple(each if isinstance(each, Not) else self._some(each) for each in node.operands))
        return node

    def _rarest(self, terms: Sequence[Term]) -> list[Term]:
        """Without those that many entries have: each match is scored, and they tell little beside the others."""
        if len(terms) <= (_FEWEST if self._entries > self._most else _MOST_TERMS):
            return list(terms)  # none can be common
        known = memory_index.INDEX.frequencies(
            self._connection, {t for term in terms for t in term.grams or term.words}
        )
        often = {term: min(known[token] for token in term.grams or term.words) for term in terms}
        few = sorted(often, key=often.__getitem__)
        return few[:_FEWEST] + [term for term in few[_FEWEST:_MOST_TERMS] if often[term] <= self._most]


def _telling(operands: Sequence[Node]) -> Sequence[Node]:
    """Without words that carry no subject, if there are others."""
    return [each for each in operands if not (isinstance(each, Leaf) and each.stop)] or operands


_SUCCESSOR = memories.alias("successor")
_WITH_SUCCESSOR = select(memories, _SUCCESSOR.c.id.label("successor_id")).outerjoin(
    _SUCCESSOR, _SUCCESSOR.c.pk == _c.replaced_by_pk
)

_BY_PK = _WITH_SUCCESSOR.where(_c.pk.in_(bindparam("of_pks", expanding=True)))
_ALL_TAGS = select(_t.memory_pk, _t.tag).order_by(_t.tag)
_TAGS_OF = _ALL_TAGS.where(_t.memory_pk.in_(bindparam("of_pks", expanding=True)))

# Both targets are named, so that their index can tell.
_HAS = select(_c.pk).where(_c.target.in_(TARGETS), _c.status == bindparam("of_status")).limit(1)


def has(connection: Connection, status: str) -> bool:
    """Whether there is any entry with this status."""
    return connection.execute(_HAS, {"of_status": status}).first() is not None


def by_pk(connection: Connection, pks: Sequence[int]) -> list[Memory]:
    """These entries, in no order."""
    return _memories(connection, _BY_PK, {"of_pks": pks}) if pks else []


def listed(
    connection: Connection, *, target: str | None = None, tags: Sequence[str] = (), statuses: Sequence[str] = STATUSES
) -> list[Memory]:
    """The entries that fit, oldest first."""
    query = _WITH_SUCCESSOR.where(*_conditions(target, tuple(tags), tuple(statuses)))
    return sorted(_memories(connection, query), key=lambda each: each.pk)


def named(connection: Connection, name: str) -> Memory:
    """The entry with this id, or the only one whose id begins so.

    Raises:
        EntryNotFound, AmbiguousMatch: there is none, or there are several.
    """
    start = name.strip().lower()
    query = _WITH_SUCCESSOR.where(_c.id.startswith(start, autoescape=True))
    found = _memories(connection, query) if len(start) >= 4 else []
    exact = [each for each in found if each.id == start]
    if len(exact or found) > 1:
        raise AmbiguousMatch(name, [f"[{each.id}] {each.text}" for each in found])
    if not found:
        raise EntryNotFound(name, hint="an entry that left the files is named by its id, which a search for it shows")
    return (exact or found)[0]


def _memories(
    connection: Connection, query: Select[tuple[object, ...]], bound: Mapping[str, object] | None = None
) -> list[Memory]:
    rows = connection.execute(query, bound).fetchall()
    tags: dict[int, list[str]] = {}
    if rows:
        few = {"of_pks": [row.pk for row in rows]} if len(rows) < 1_000 else None
        for pk, tag in connection.execute(_TAGS_OF, few) if few else connection.execute(_ALL_TAGS):
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
