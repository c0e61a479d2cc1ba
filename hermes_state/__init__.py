"""hermes-state: the state and memory layer that an agent runtime embeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermes_state.errors import HermesStateError
    from hermes_state.records import Message, MessageState, Relation, Session
    from hermes_state.store import SessionDB

__version__ = "0.1.0"

__all__ = ["HermesStateError", "Message", "MessageState", "Relation", "Session", "SessionDB", "__version__"]

# Loaded at first use: `hermes-state --help` answers without paying for SQLAlchemy.
_HOMES = {
    "HermesStateError": "hermes_state.errors",
    "Message": "hermes_state.records",
    "MessageState": "hermes_state.records",
    "Relation": "hermes_state.records",
    "Session": "hermes_state.records",
    "SessionDB": "hermes_state.store",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
