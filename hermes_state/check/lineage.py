"""Sessions: their columns, their parents, and one tip for each conversation."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Integer, select, type_coerce

from hermes_state.check.report import Kind
from hermes_state.clock import MAX_US, MIN_US
from hermes_state.codec import from_json
from hermes_state.records import Relation
from hermes_state.schema import routes, sessions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_state.check.report import Collector

_JSON = ("model_config", "origin", "extras")
_FLAGS = ("is_tip", "delegated", "sealed", "archived")
_TIMES = ("started_at", "ended_at", "last_active_at")
_COUNTERS = ("message_count", "tool_call_count", "rewind_count")
_c = sessions.c


def sessions_are_valid(collector: Collector) -> None:
    """Columns hold what they may, JSON can be read."""
    names = ("id", "source", "relation", "parent_pk", *_TIMES, *_COUNTERS, *_JSON)
    # Not as booleans: a flag that is neither true nor false must be seen.
    flags = (type_coerce(_c[name], Integer).label(name) for name in _FLAGS)
    with collector.snapshot() as connection:
        for row in connection.execute(select(*(_c[name] for name in names), *flags)):
            collector.checked["sessions"] += 1
            for what in _wrong(row):
                collector.add(Kind.SESSION, f"session {row.id}", what)
        for row in connection.execute(select(routes.c.scope, routes.c.key, routes.c.entry)):
            if why := unreadable(row.entry):
                collector.add(Kind.SESSION, f"route {row.scope} {row.key}", f"its entry is no JSON: {why}")


def _wrong(row: Any) -> list[str]:
    found = [f"{name} is {getattr(row, name)!r}" for name in _FLAGS if getattr(row, name) not in (0, 1)]
    for name in _TIMES:
        at = getattr(row, name)
        if not (isinstance(at, int) and MIN_US <= at <= MAX_US) and not (at is None and name == "ended_at"):
            found.append(f"{name} is {at!r}, which is no time")
    found += [f"{name} is {getattr(row, name)!r}" for name in _COUNTERS if _is_no_count(getattr(row, name))]
    if row.relation is not None and row.relation not in set(Relation):
        found.append(f"relation is {row.relation!r}")
    if (row.relation is None) != (row.parent_pk is None):
        found.append("has a parent but no relation" if row.relation is None else "has a relation but no parent")
    if not row.id or not row.source:
        found.append("has an empty id or source")
    return found + [f"{name} is no JSON: {why}" for name in _JSON if (why := unreadable(getattr(row, name)))]


def _is_no_count(value: object) -> bool:
    return not isinstance(value, int) or value < 0


def unreadable(text: Any) -> str:
    """Why a JSON column can't be read, or ""."""
    try:
        from_json(text)
    except Exception as error:  # noqa: BLE001  whatever a decoder makes of damaged bytes is the finding
        return str(error) or type(error).__name__
    return ""


class _Node(NamedTuple):
    pk: int
    id: str
    parent_pk: int | None
    relation: str | None
    conversation_pk: int
    is_tip: bool
    delegated: bool
    sealed: bool


def conversations(collector: Collector) -> None:
    """No session is its own ancestor, every segment is in the conversation of the one before, and one is the tip."""
    with collector.snapshot() as connection:
        columns = (_c[name] for name in _Node._fields)
        nodes = {row.pk: _Node._make(row) for row in connection.execute(select(*columns))}
    groups: dict[int, list[_Node]] = defaultdict(list)
    continued: set[int] = set()
    for node in nodes.values():
        groups[node.conversation_pk].append(node)
        for what in _misplaced(node, nodes):
            collector.add(Kind.LINEAGE, f"session {node.id}", what)
        if node.relation == Relation.COMPRESSION and node.parent_pk is not None:
            continued.add(node.parent_pk)
    for pk in continued & nodes.keys():
        if not nodes[pk].sealed:
            collector.add(Kind.LINEAGE, f"session {nodes[pk].id}", "was compressed, but can still be appended to")
    for conversation_pk, segments in groups.items():
        _one_tip(collector, conversation_pk, segments, continued)


def _misplaced(node: _Node, nodes: Mapping[int, _Node]) -> list[str]:
    if _is_own_ancestor(node, nodes):
        return ["is its own ancestor"]
    parent = None if node.parent_pk is None else nodes.get(node.parent_pk)
    continues = node.relation == Relation.COMPRESSION and parent is not None
    home = parent.conversation_pk if parent is not None and continues else node.pk
    delegated = node.relation == Relation.DELEGATE or (parent is not None and continues and parent.delegated)
    found = []
    if node.conversation_pk != home:
        found.append(f"is in conversation {node.conversation_pk}, not {home}")
    if delegated and not node.delegated:
        found.append("is a sub-agent's, but not marked as one")
    return found


def _is_own_ancestor(node: _Node, nodes: Mapping[int, _Node]) -> bool:
    seen: set[int] = set()
    above = node.parent_pk
    while above is not None and above in nodes and above not in seen:
        seen.add(above)
        above = nodes[above].parent_pk
    return node.pk in seen


def _one_tip(collector: Collector, conversation_pk: int, segments: list[_Node], continued: set[int]) -> None:
    tips = [node for node in segments if node.is_tip]
    where = f"conversation of {segments[0].id}"
    if len(tips) != 1:
        names = ", ".join(node.id for node in tips[:5]) or "none"
        collector.add(Kind.LINEAGE, where, f"has {len(tips)} tips: {names}")
    elif tips[0].pk in continued:
        collector.add(Kind.LINEAGE, where, f"its tip {tips[0].id} has a later segment")
    if conversation_pk not in {node.pk for node in segments}:
        collector.add(Kind.LINEAGE, where, f"is named after session {conversation_pk}, which is not in it")
