"""How Hermes sessions came from each other. It has no column for that; markers, end reasons and times tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hermes_state.conversation import COMPRESSION_END
from hermes_state.records import Relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hermes_state.importers.hermes_reader import SessionKey

# Sources of a sub-agent's or a tool's own sessions: never a continuation of what called them.
_WORKERS = frozenset(("subagent", "tool", "delegate"))
_KINDS = {
    "_delegate_from": Relation.DELEGATE,
    "_branched_from": Relation.BRANCH,
    "_reset_from": Relation.RESET,
}


class Kin(NamedTuple):
    """What of a session decides its relation to another."""

    id: str
    source: str
    started_at: int
    ended_at: int | None
    end_reason: str | None
    markers: Mapping[str, str]


def relation(child: Kin, parent: Kin) -> Relation:
    """How a child came from its parent.

    A continuation takes over its parent's `model_config` with all markers, so a marker counts first of all when it
    names the parent itself.
    """
    for marker, kind in _KINDS.items():
        if child.markers.get(marker) == parent.id:
            return kind
    if child.source in _WORKERS and parent.source not in _WORKERS:
        return Relation.DELEGATE
    if parent.end_reason == COMPRESSION_END and child.source != "tool":
        return Relation.COMPRESSION
    if parent.end_reason == "branched" and child.started_at >= (parent.ended_at or 0):
        return Relation.BRANCH
    return marked(child) or worker(child) or Relation.RESET


def marked(child: Kin) -> Relation | None:
    """What its markers alone say, whoever they name; None without any."""
    return next((kind for marker, kind in _KINDS.items() if marker in child.markers), None)


def worker(child: Kin) -> Relation | None:
    """What the source of an unmarked child says: a sub-agent's session of an old version is to stay hidden."""
    return Relation.DELEGATE if child.source in _WORKERS else None


class Order(NamedTuple):
    """Sessions with every parent before its children.

    Attributes:
        keys: in that order.
        cut: sessions whose parent is one of their own descendants, or themselves; the link is left out.
    """

    keys: Sequence[SessionKey]
    cut: frozenset[str]


def parents_first(keys: Iterable[SessionKey]) -> Order:
    """Order sessions so that each can be linked when it is stored."""
    by_id = {key.id: key for key in keys}
    placed: dict[str, SessionKey] = {}
    cut: set[str] = set()
    for start in by_id.values():
        path: list[SessionKey] = []
        on_path: set[str] = set()
        here: SessionKey | None = start
        while here is not None and here.id not in placed and here.id not in on_path:
            path.append(here)
            on_path.add(here.id)
            here = by_id.get(here.parent_id) if here.parent_id else None
        if here is not None and here.id not in placed:
            path = _opened(path, path.index(here))
            cut.add(path[-1].id)
        for key in reversed(path):
            placed[key.id] = key
    return Order(list(placed.values()), frozenset(cut))


def _opened(path: list[SessionKey], entry: int) -> list[SessionKey]:
    """A path that runs into a circle, child to parent, turned so that it ends at the circle's first session.

    That is the one started first, which can't have come from the others.
    """
    tail, circle = path[:entry], path[entry:]
    numbers = [key for key in circle if isinstance(key.started_at, float | int)]
    first = min(numbers or circle, key=lambda key: (key.started_at, key.id) if numbers else (0, key.id))
    at = circle.index(first) + 1
    return tail + circle[at:] + circle[:at]
