"""hermes-state: the state and memory layer that an agent runtime embeds."""

from hermes_state.errors import HermesStateError
from hermes_state.records import Message, MessageState, Relation, Session
from hermes_state.store import SessionDB

__version__ = "0.1.0"

__all__ = ["HermesStateError", "Message", "MessageState", "Relation", "Session", "SessionDB", "__version__"]
