"""Engines: what differs between databases lives here and nowhere else."""

from hermes_state.engine.protocol import Engine
from hermes_state.engine.sqlite import DEFAULT_BUSY_BUDGET_S, SqliteEngine

__all__ = ["DEFAULT_BUSY_BUDGET_S", "Engine", "SqliteEngine"]
