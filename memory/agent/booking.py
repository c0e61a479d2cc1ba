"""What a call to a model cost, in the store's ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_state import SessionDB
    from memory.agent.model import Model, TokenUsage


def book(db: SessionDB, session_id: str, model: Model, used: TokenUsage | None, *, task: str = "") -> None:
    """Record the tokens of a call in the store.

    Args:
        task: what the call was for; "" for the conversation itself.
    """
    db.usage.record(
        session_id,
        model=model.name,
        base_url=model.base_url,
        task=task,
        api_calls=1,
        input_tokens=used.input_tokens if used else 0,
        output_tokens=used.output_tokens if used else 0,
        cache_read_tokens=used.cache_read_tokens if used else 0,
        reasoning_tokens=used.reasoning_tokens if used else 0,
    )
