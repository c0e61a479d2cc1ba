"""Where two stores, or a store and an archive, say different things: down to the message and its fields."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from hermes_state.copying.digest import digests, fact_name
from hermes_state.transfer.progress import no_progress

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from hermes_state.copying.content import Content
    from hermes_state.transfer.lines import Line
    from hermes_state.transfer.progress import Progress

# Sessions that are compared together; their fields are held as short digests.
_GROUP = 200
_DIGEST_BYTES = 12
# Of a session line, what only counts its messages.
_COUNTED = frozenset(("messages",))
_Fields = dict[str, bytes]


class Change(StrEnum):
    """What became of something, seen from the first store."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """One thing that is not the same in both.

    Attributes:
        kind: `session`, `message`, `memory`, `fact` or `entity`.
        name: the id of the session (of a message: the one it is in) or memory; the words of a fact; an entity's name.
        position: of a message.
        fields: which names have other values, for what changed.
    """

    kind: str
    name: str
    change: Change
    position: int | None = None
    fields: tuple[str, ...] = ()


def differences(before: Content, after: Content, progress: Progress = no_progress) -> Iterator[Difference]:
    """How `after` differs from `before`; both are digested, and what has other digests is looked at again."""
    ours, theirs = digests(before, progress), digests(after, progress)
    yield from _sessions(before, after, ours.sessions, theirs.sessions)
    yield from _items("memory", before.memories(), after.memories(), ours.memories, theirs.memories)
    yield from _items("fact", before.facts(), after.facts(), ours.facts, theirs.facts)


def _sessions(
    before: Content, after: Content, ours: Mapping[str, bytes], theirs: Mapping[str, bytes]
) -> Iterator[Difference]:
    yield from _lone("session", ours, theirs)
    changed = _changed(ours, theirs)
    for start in range(0, len(changed), _GROUP):
        some = changed[start : start + _GROUP]
        here, there = _looked_at(before, some), _looked_at(after, some)
        for session_id in some:
            yield from _session(session_id, here[session_id], there[session_id])


def _lone(kind: str, ours: Collection[str], theirs: Collection[str]) -> Iterator[Difference]:
    for name in sorted({*ours} ^ {*theirs}):
        yield _difference(kind, name, Change.REMOVED if name in ours else Change.ADDED)


def _changed(ours: Mapping[str, bytes], theirs: Mapping[str, bytes]) -> list[str]:
    return sorted(name for name, digest in ours.items() if theirs.get(name, digest) != digest)


def _looked_at(content: Content, ids: Collection[str]) -> dict[str, tuple[_Fields, dict[int, _Fields]]]:
    """The fields of sessions, and those of their messages by position."""
    return {
        line["id"]: (_fields(line), {message["position"]: _fields(message) for message in messages})
        for line, messages in content.named(ids)
    }


def _fields(line: Line) -> _Fields:
    return {name: _short(value) for name, value in line.items() if name not in _COUNTED}


def _short(value: Any) -> bytes:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()[:_DIGEST_BYTES]


def _session(
    session_id: str, here: tuple[_Fields, dict[int, _Fields]], there: tuple[_Fields, dict[int, _Fields]]
) -> Iterator[Difference]:
    if fields := _other(here[0], there[0]):
        yield Difference(kind="session", name=session_id, change=Change.CHANGED, fields=fields)
    for position in sorted({*here[1], *there[1]}):
        ours, theirs = here[1].get(position), there[1].get(position)
        if ours is None or theirs is None:
            change = Change.ADDED if ours is None else Change.REMOVED
            yield Difference(kind="message", name=session_id, position=position, change=change)
        elif fields := _other(ours, theirs):
            yield Difference(kind="message", name=session_id, position=position, change=Change.CHANGED, fields=fields)


def _other(ours: _Fields, theirs: _Fields) -> tuple[str, ...]:
    return tuple(sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name)))


def _items(
    kind: str,
    before: Iterable[Line],
    after: Iterable[Line],
    ours: Mapping[str, bytes],
    theirs: Mapping[str, bytes],
) -> Iterator[Difference]:
    yield from _lone(kind, ours, theirs)
    changed = frozenset(_changed(ours, theirs))
    if not changed:
        return
    here = {_name(line): _fields(line) for line in before if _name(line) in changed}
    there = {_name(line): _fields(line) for line in after if _name(line) in changed}
    for name in sorted(changed):
        yield _difference(kind, name, Change.CHANGED, _other(here[name], there[name]))


def _name(line: Line) -> str:
    return str(line["id"]) if line["type"] == "memory" else fact_name(line)


def _difference(kind: str, name: str, change: Change, fields: tuple[str, ...] = ()) -> Difference:
    if kind == "fact":  # whose name says whether it is a fact or an entity
        kind, _, name = name.partition(" ")
    return Difference(kind=kind, name=name.strip(), change=change, fields=fields)
