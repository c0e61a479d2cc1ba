"""Engines: what differs between databases lives here and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_state.engine.protocol import Engine

if TYPE_CHECKING:
    from hermes_state.engine.sqlite import DEFAULT_BUSY_BUDGET_S, SqliteEngine

__all__ = ["DEFAULT_BUSY_BUDGET_S", "Engine", "SqliteEngine"]


def __getattr__(name: str) -> Any:
    """SQLite's engine when it is asked for: backups use modules of this package without one, and without SQLAlchemy."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hermes_state.engine import sqlite

    return getattr(sqlite, name)
