"""How far derived data has come: one row, read and moved inside the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select, update

from hermes_state.schema import fact_state, facts

if TYPE_CHECKING:
    from sqlalchemy import Connection

_s = fact_state.c


class State(NamedTuple):
    """The columns of `fact_state`; see there. `newest` is the highest key of a fact."""

    id_floor: int
    changes: int
    segmentation: str | None
    indexed_through: int
    dim: int
    encoding: str | None
    encoded_through: int
    banked_through: int
    compared_through: int
    newest: int


_COLUMNS = tuple(_s[name] for name in State._fields if name != "newest")
_NEWEST = select(func.coalesce(func.max(facts.c.pk), 0)).scalar_subquery()
_STATE = select(*_COLUMNS, _NEWEST)


def read(connection: Connection) -> State:
    """Where everything stands."""
    return State._make(connection.execute(_STATE).one())


def move(connection: Connection, **values: Any) -> None:
    """Set columns."""
    connection.execute(update(fact_state).values(**values))


def changed(connection: Connection) -> None:
    """Note that facts changed, so that what a process remembers of them is looked up again."""
    connection.execute(update(fact_state).values(changes=_s.changes + 1))
