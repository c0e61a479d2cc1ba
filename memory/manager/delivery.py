"""One call that a provider is to get in its turn: what is said, and how it is written down until it was."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# Hooks that are told from the lane. The first four say what happened and are written down; a prefetch is only a hint,
# and a switch means something to this process alone.
SYNC, END, WRITE, DELEGATION = "sync_turn", "on_session_end", "on_memory_write", "on_delegation"
PREFETCH, SWITCH = "queue_prefetch", "on_session_switch"
# No hook: the last call of ended processes was made, and the provider works for its own session again.
HOME = "come_back"
DURABLE = frozenset({SYNC, END, WRITE, DELEGATION})


@dataclass(kw_only=True, slots=True, eq=False)
class Delivery:
    """One call of a hook.

    Attributes:
        kind: the hook.
        session_id: the session it is about.
        said: its arguments, as JSON can hold them; None while they are only in the outbox.
        messages: the transcript as it was, for hooks that take one; never written down, since the store has it.
        turn_id: the same each time it is told.
        pk: its row in the outbox; None while there is none.
        attempts: how often it failed, or ended a process.
        replayed: it was left by a process that ended.
    """

    kind: str
    session_id: str
    said: dict[str, Any] | None
    messages: list[dict[str, Any]] | None = None
    turn_id: str = field(default_factory=lambda: secrets.token_hex(16))
    pk: int | None = None
    attempts: int = 0
    replayed: bool = False

    @property
    def is_durable(self) -> bool:
        """Whether it has to survive this process."""
        return self.kind in DURABLE


def encode(said: Mapping[str, Any]) -> str:
    """Arguments as they are written down. Lone surrogates survive as escapes; what JSON does not know, as its text."""
    try:
        text = json.dumps(said, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):  # keys that are no text, a circle: facts that a runtime passed on
        text = json.dumps({str(key): value if isinstance(value, str) else repr(value) for key, value in said.items()})
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(said, default=str)
    return text


def decode(payload: str) -> dict[str, Any]:
    """The arguments that were written down; empty when they can't be read."""
    try:
        said = json.loads(payload)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
