"""Before a compression: what providers extract, and whether one of them has made the evidence durable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory.checkpoint import evidence
from memory.context import sanitize
from memory.errors import MemoryFault, ProviderFailed
from memory.manager.answers import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory.manager.slot import Slot

HOOK = "on_pre_compress"
NOT_COMPLETED = "No active memory provider completed pre-compress checkpoint API v2"


class CheckpointIncomplete(MemoryFault, RuntimeError):
    """No provider said that the evidence is durable; the transcript must stay as it is."""

    exit_code = 44


def pre_compress(
    slots: Sequence[Slot],
    messages: list[dict[str, Any]],
    *,
    evidence_messages: list[dict[str, Any]] | None,
    require_checkpoint: bool,
    api_version: int,
    deadline_s: float,
) -> str:
    """What the providers extract, joined by blank lines.

    Version 1 gets the transcript, version 2 and above the evidence; both get copies.

    Args:
        evidence_messages: the normalised evidence; None: made from `messages`.
        require_checkpoint: strict: what a provider of `api_version` raises comes through, and one at least has to
            succeed.
        deadline_s: seconds each provider has.

    Raises:
        Exception: strict; what the provider raised, unchanged.
        ProviderFailed: strict; it did not come back in time, or raised what is no ordinary error.
        CheckpointIncomplete: strict; no provider of that version succeeded.
    """
    given = evidence(messages) if evidence_messages is None else evidence_messages
    texts = []
    is_durable = False
    for slot in slots:
        acknowledges = slot.adapted.checkpoint_api_version >= api_version
        share = given if acknowledges else messages
        try:
            text = _extract(slot, share, require_checkpoint=require_checkpoint, deadline_s=deadline_s)
        except ProviderFailed as error:  # recorded where it happened
            if require_checkpoint and acknowledges:
                raise _unchanged(error) from error.__cause__
            continue
        is_durable = is_durable or acknowledges
        texts.append(sanitize(text).strip())
    if require_checkpoint and not is_durable:
        raise CheckpointIncomplete(NOT_COMPLETED)
    return "\n\n".join(text for text in texts if text)


def _extract(slot: Slot, messages: list[dict[str, Any]], *, require_checkpoint: bool, deadline_s: float) -> str:
    def call() -> str:
        copies = slot.handoff.messages(messages)
        return text_of(slot.adapted.on_pre_compress(copies, require_checkpoint=require_checkpoint))

    text: str = slot.demand(HOOK, call, deadline_s=deadline_s)
    return text


def _unchanged(error: ProviderFailed) -> Exception:
    """What the provider itself raised, when it is an ordinary error of its own."""
    cause = error.__cause__
    own = isinstance(cause, Exception) and not type(cause).__module__.startswith("memory.manager")
    return cause if own and isinstance(cause, Exception) else error
