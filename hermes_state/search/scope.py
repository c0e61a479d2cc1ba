"""Where a search looks: filters of the query and of the call as one set of conditions on messages and sessions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict

from sqlalchemy import ColumnElement, false, func, or_, select

from hermes_state.clock import to_us
from hermes_state.engine import fts
from hermes_state.errors import Ambiguous, SessionNotFound
from hermes_state.records import MessageState
from hermes_state.resolve import resolve
from hermes_state.schema import messages, sessions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from hermes_state.index_zones import Zone
    from hermes_state.text import Filter

_m, _s = messages.c, sessions.c


class Filters(TypedDict, total=False):
    """The filters a caller may name; see `Wanted`."""

    role: str | Sequence[str] | None
    source: str | Sequence[str] | None
    exclude_sources: Sequence[str]
    session: str | Sequence[str] | None
    exclude_conversation: str | Sequence[str] | None
    tool: str | Sequence[str] | None
    model: str | None
    cwd: str | None
    title: str | None
    after: datetime | None
    before: datetime | None
    include_children: bool
    include_archived: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """The filters of one call; every one that is set must hold.

    Attributes:
        role, source, tool: One name or several, any of which will do.
        exclude_sources: None of these.
        session, exclude_conversation: Ids, unique id prefixes or titles; the whole conversation is meant.
        model, cwd, title: Part of the text, whatever the case; `cwd` is a folder and all below it.
        after, before: Aware times; `after` is in, `before` is not.
        include_children: Also the sessions of delegates; such a hit names the parent.
        include_archived: Also archived sessions; such a hit says so.
    """

    role: str | Sequence[str] | None = None
    source: str | Sequence[str] | None = None
    exclude_sources: Sequence[str] = ()
    session: str | Sequence[str] | None = None
    exclude_conversation: str | Sequence[str] | None = None
    tool: str | Sequence[str] | None = None
    model: str | None = None
    cwd: str | None = None
    title: str | None = None
    after: datetime | None = None
    before: datetime | None = None
    include_children: bool = False
    include_archived: bool = True


# No filter at all.
EVERYTHING = Wanted()


@dataclass(slots=True)
class Scope:
    """The conditions of one search.

    Attributes:
        message_conditions, session_conditions: What must hold; those every search has are among them.
        shows_children: Delegates' sessions are not hidden.
        is_narrow: There are others, so that candidates are to be filtered while they are collected.
        after_us, before_us: The bounds of time, for leaving whole zones out.
        notes: What a person should know about the filters.
    """

    message_conditions: list[ColumnElement[bool]]
    session_conditions: list[ColumnElement[bool]]
    shows_children: bool = False
    is_narrow: bool = False
    after_us: int | None = None
    before_us: int | None = None
    notes: list[str] = field(default_factory=list)
    lowest: int = 0
    highest: int = fts.MAX_ID

    @property
    def conditions(self) -> list[ColumnElement[bool]]:
        """All of them, for messages joined with their sessions."""
        return [*self.message_conditions, *self.session_conditions]

    @property
    def asks_for_messages(self) -> bool:
        """Whether there are conditions on messages that not every search has."""
        return len(self.message_conditions) > 1

    def add(self, name: str, condition: ColumnElement[bool], *, negated: bool = False) -> None:
        """One more condition that must hold, or must not; `name` is the filter's."""
        conditions = self.message_conditions if name in _ON_MESSAGES else self.session_conditions
        conditions.append(~condition if negated else condition)
        self.is_narrow = True

    def within(self, zones: Sequence[Zone]) -> None:
        """Narrow the span of ids in the index to the zones that can hold the times asked for."""
        if self.after_us is None and self.before_us is None:
            return
        fit = [zone for zone in zones if self._fits(zone)]
        self.lowest, self.highest = (fit[0].first_id, fit[-1].last_id) if fit else (1, 0)

    def _fits(self, zone: Zone) -> bool:
        too_old = self.after_us is not None and zone.max_created_at < self.after_us
        too_new = self.before_us is not None and zone.min_created_at >= self.before_us
        return not (too_old or too_new)


def make_scope(connection: Connection, wanted: Wanted, filters: Sequence[Filter]) -> Scope:
    """The scope of a search.

    Raises:
        SessionNotFound, Ambiguous: the call names a session that there is not. One that the query names gives a note.
    """
    if wanted is EVERYTHING and not filters:
        return Scope([_NOT_REWOUND], [_NOT_DELEGATED])
    asks_children = any(each.name == "is" and "child" in each.values and not each.negated for each in filters)
    scope = Scope([_NOT_REWOUND], [], shows_children=wanted.include_children or asks_children)
    if not scope.shows_children:
        scope.session_conditions.append(_NOT_DELEGATED)
    if not wanted.include_archived:
        scope.add("archived", _s.archived.is_(False))
    for name in ("role", "source", "tool", "model", "cwd", "title"):
        if values := _sequence(getattr(wanted, name)):
            scope.add(name, _CONDITIONS[name](values))
    if wanted.exclude_sources:
        scope.add("source", _any_equal(_s.source, _sequence(wanted.exclude_sources)), negated=True)
    if wanted.session is not None:
        scope.add("session", _of_conversations(connection, _sequence(wanted.session)))
    if wanted.exclude_conversation is not None:
        scope.add("session", _of_conversations(connection, _sequence(wanted.exclude_conversation)), negated=True)
    _bound(scope, wanted.after, wanted.before)
    for each in filters:
        _add_filter(connection, scope, each)
    return scope


def _add_filter(connection: Connection, scope: Scope, each: Filter) -> None:
    if each.name in ("after", "before"):
        instant = each.instant(datetime.now().astimezone())
        is_after = (each.name == "after") != each.negated
        _bound(scope, instant if is_after else None, None if is_after else instant)
    elif each.name == "session":
        try:
            scope.add("session", _of_conversations(connection, each.values), negated=each.negated)
        except (SessionNotFound, Ambiguous) as error:
            scope.notes.append(f"session: {error.message}")
            scope.add("session", false(), negated=each.negated)
    else:
        name = "role" if each.name == "is" and not _ON_SESSIONS.issuperset(each.values) else each.name
        scope.add(name, _CONDITIONS[each.name](each.values), negated=each.negated)


def _bound(scope: Scope, after: datetime | None, before: datetime | None) -> None:
    if after is not None:
        bound = to_us(after)
        scope.after_us = bound if scope.after_us is None else max(bound, scope.after_us)
        scope.add("after", _m.created_at >= bound)
    if before is not None:
        bound = to_us(before)
        scope.before_us = bound if scope.before_us is None else min(bound, scope.before_us)
        scope.add("before", _m.created_at < bound)


def _sequence(value: str | Sequence[str] | None) -> Sequence[str]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _of_conversations(connection: Connection, refs: Sequence[str]) -> ColumnElement[bool]:
    pks = [resolve(connection, ref) for ref in refs]
    keys = connection.execute(select(_s.conversation_pk).where(_s.pk.in_(pks))).scalars().all()
    return _s.conversation_pk.in_(keys)


def _any_equal(column: ColumnElement[Any], values: Sequence[str]) -> ColumnElement[bool]:
    return func.lower(column).in_([value.lower() for value in values])


def _any_contains(column: ColumnElement[Any], values: Sequence[str]) -> ColumnElement[bool]:
    # NULL must be a plain "no", or the negation of the condition would be NULL as well and lose the row.
    text = func.coalesce(func.lower(column), "")
    return or_(*(text.contains(value.lower(), autoescape=True) for value in values))


def _any_below(values: Sequence[str]) -> ColumnElement[bool]:
    column = func.coalesce(_s.cwd, "")
    folders = [value.rstrip("/\\") or value for value in values]
    return or_(
        *(
            or_(
                column == folder,
                column.startswith(f"{folder}/", autoescape=True),
                column.startswith(f"{folder}\\", autoescape=True),
            )
            for folder in folders
        )
    )


def _is(values: Sequence[str]) -> ColumnElement[bool]:
    return or_(*(_IS[value] for value in values))


def _tools(values: Sequence[str]) -> ColumnElement[bool]:
    return _any_equal(func.coalesce(_m.tool_name, ""), values)


_IS: dict[str, ColumnElement[bool]] = {
    "archived": _s.archived,
    "active": _m.state == MessageState.ACTIVE,
    "compacted": _m.state == MessageState.COMPACTED,
    "tool": _m.role == "tool",
    "open": _s.ended_at.is_(None),
    "ended": _s.ended_at.is_not(None),
    "child": _s.delegated,
}

_NOT_REWOUND = _m.state != MessageState.REWOUND
_NOT_DELEGATED = _s.delegated.is_(False)

# Filters on the message itself; all others are on its session.
_ON_MESSAGES = frozenset({"role", "tool", "after", "before"})
_ON_SESSIONS = frozenset({"archived", "open", "ended", "child"})

_CONDITIONS: dict[str, Any] = {
    "role": lambda values: _any_equal(_m.role, values),
    "source": lambda values: _any_equal(_s.source, values),
    "tool": _tools,
    "model": lambda values: _any_contains(_s.model, values),
    "cwd": _any_below,
    "title": lambda values: _any_contains(_s.title, values),
    "is": _is,
}
