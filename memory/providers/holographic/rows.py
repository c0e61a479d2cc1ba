"""Rows of `facts`: who sees them, and the records they become."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from hermes_state.clock import from_us, from_us_or_none
from hermes_state.schema import facts
from memory.providers.holographic.records import Fact

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import ColumnElement, Connection

    from memory.providers.holographic.records import Scope

_f = facts.c


def visible(scope: Scope, *, category: str | None = None, superseded: bool = False) -> list[ColumnElement[bool]]:
    """The conditions on `facts` for what somebody sees."""
    conditions: list[ColumnElement[bool]] = []
    for column, value in ((_f.user_id, scope.user_id), (_f.session_id, scope.session_id)):
        if value is not None:
            conditions.append(column.in_(("", value)) if value else column == "")
    if category is not None:
        conditions.append(_f.category == category)
    if not superseded:
        conditions.append(_f.superseded_at.is_(None))
    return conditions


def load(connection: Connection, pks: Iterable[int]) -> dict[int, Fact]:
    """Facts by id."""
    return {row.pk: fact_of(row) for row in connection.execute(select(facts).where(_f.pk.in_(list(pks))))}


def fact_of(row: Any) -> Fact:
    """The record of a row of `facts`."""
    return Fact(
        id=row.pk,
        content=row.content,
        category=row.category,
        tags=row.tags,
        trust=row.trust,
        retrieval_count=row.retrieval_count,
        helpful_count=row.helpful_count,
        created_at=from_us(row.created_at),
        updated_at=from_us(row.updated_at),
        source=row.source,
        user_id=row.user_id,
        session_id=row.session_id,
        superseded_by=row.superseded_by,
        superseded_at=from_us_or_none(row.superseded_at),
    )
