"""Tokens and cost, per session, model, route and task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, and_, bindparam, cast, func, insert, select, update

from hermes_state.clock import from_us, from_us_or_none, now_us
from hermes_state.errors import InvalidValue
from hermes_state.records import Usage
from hermes_state.schema import sessions, usage
from hermes_state.session_rows import pk_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_state.engine import Engine

_u = usage.c
COUNTERS = (
    "api_calls",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
COSTS = ("estimated_cost_usd", "actual_cost_usd")
_KEYS = ("model", "task", "provider", "base_url", "mode")

# The row of one session, model, route and task. Built once: building a statement takes longer than running it.
_IS_ONE = and_(_u.session_pk == bindparam("of_session"), *(_u[name] == bindparam(f"of_{name}") for name in _KEYS))
_ONE = select(usage).where(_IS_ONE)
_CHANGED = (*COUNTERS, *COSTS, "cost_status", "cost_source", "last_at")
_CHANGE = update(usage).where(_IS_ONE).values({name: bindparam(f"new_{name}") for name in _CHANGED})


class UsageLedger:
    """The usage of a store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def record(
        self,
        session_id: str,
        *,
        model: str = "",
        task: str = "",
        provider: str = "",
        base_url: str = "",
        mode: str = "",
        api_calls: int = 0,
        input_tokens: int = 0,
        output_tokens: int = 0,
        cache_read_tokens: int = 0,
        cache_write_tokens: int = 0,
        reasoning_tokens: int = 0,
        estimated_cost_usd: float | None = None,
        actual_cost_usd: float | None = None,
        cost_status: str | None = None,
        cost_source: str | None = None,
        absolute: bool = False,
    ) -> Usage:
        """Book the tokens (and US dollars) of a call; returns the new sum for this model, route and task.

        Args:
            task: "" for the conversation itself, else what the call was for: `compression`, `title_generation`, …
            reasoning_tokens: the part of `output_tokens` that was reasoning.
            absolute: the numbers are the running total so far, not what one call added.

        Raises:
            SessionNotFound: there is no such session.
            InvalidValue: a negative number.
        """
        given = {name: value for name, value in locals().items() if name in (*COUNTERS, *COSTS)}
        negative = [name for name, value in given.items() if value is not None and value < 0]
        if negative:
            raise InvalidValue(f"{negative[0]} can't be negative")
        keys = {"model": model, "task": task, "provider": provider, "base_url": base_url, "mode": mode}
        provenance = {"cost_status": cost_status, "cost_source": cost_source}
        with self._engine.write() as connection:
            pk = pk_of(connection, session_id)
            one = {"of_session": pk} | {f"of_{name}": value for name, value in keys.items()}
            row = connection.execute(_ONE, one).mappings().fetchone()
            values = given if absolute or row is None else _added(dict(row), given)
            values = {name: value for name, value in (values | provenance).items() if value is not None}
            now = now_us()
            if row is None:
                connection.execute(insert(usage).values(session_pk=pk, first_at=now, last_at=now, **keys, **values))
                return _record(dict(connection.execute(_ONE, one).mappings().one()), session_id)
            booked = dict(row) | values | {"last_at": now}
            connection.execute(_CHANGE, one | {f"new_{name}": booked[name] for name in _CHANGED})
            return _record(booked, session_id)

    def of_session(self, session_id: str) -> list[Usage]:
        """What a session used, a row per model, route and task."""
        with self._engine.read() as connection:
            query = select(usage).where(_u.session_pk == pk_of(connection, session_id)).order_by(*_key_columns())
            return [_record(dict(row), session_id) for row in connection.execute(query).mappings()]

    def of_conversation(self, session_id: str) -> Usage:
        """What a conversation used over all its segments, in one sum."""
        with self._engine.read() as connection:
            pk = pk_of(connection, session_id)
            whole = select(sessions.c.conversation_pk).where(sessions.c.pk == pk).scalar_subquery()
            query = _sums().join(sessions, sessions.c.pk == _u.session_pk).where(sessions.c.conversation_pk == whole)
            row = connection.execute(query).one()
        return _sum_record(row, session_id=session_id)

    def by_model(self) -> list[Usage]:
        """What the whole store used, a sum per model and task, the dearest first."""
        query = _sums(_u.model, _u.task).group_by(_u.model, _u.task)
        with self._engine.read() as connection:
            rows = connection.execute(query).fetchall()
        found = [_sum_record(row, session_id="", model=row.model, task=row.task) for row in rows]
        return sorted(found, key=_dearest_first)


def _dearest_first(used: Usage) -> tuple[float, int, str]:
    return (-(used.actual_cost_usd or used.estimated_cost_usd or 0.0), -used.total_tokens, used.model)


def _key_columns() -> list[Any]:
    return [_u[name] for name in _KEYS]


def _added(row: Mapping[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """New sums; a cost that is still unknown stays unknown rather than becoming 0."""
    sums: dict[str, Any] = {name: row[name] + given[name] for name in COUNTERS}
    for name in COSTS:
        if given[name] is not None:
            sums[name] = (row[name] or 0.0) + given[name]
    return sums


def _sums(*keys: Any) -> Any:
    # PostgreSQL adds large integers up to a `numeric`.
    totals = [cast(func.coalesce(func.sum(_u[name]), 0), BigInteger).label(name) for name in COUNTERS]
    costs = [func.sum(_u[name]).label(name) for name in COSTS]
    times = [func.min(_u.first_at).label("first_at"), func.max(_u.last_at).label("last_at")]
    return select(*keys, *totals, *costs, *times).select_from(usage)


def _sum_record(row: Any, **keys: Any) -> Usage:
    numbers = {name: getattr(row, name) for name in (*COUNTERS, *COSTS)}
    return Usage(first_at=from_us_or_none(row.first_at), last_at=from_us_or_none(row.last_at), **keys, **numbers)


def _record(row: Mapping[str, Any], session_id: str) -> Usage:
    names = (*_KEYS, *COUNTERS, *COSTS, "cost_status", "cost_source")
    return Usage(
        session_id=session_id,
        first_at=from_us(row["first_at"]),
        last_at=from_us(row["last_at"]),
        **{name: row[name] for name in names},
    )
