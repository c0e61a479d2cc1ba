"""Long conversations: at a number of tokens the older part becomes a summary, and the conversation goes on.

The order holds whatever happens: take the lease; let providers keep what will be summarised away (`on_pre_compress`);
summarise; rewrite the transcript in one transaction, as a child session (`rotate`) or in place (`compact`); tell
providers where it goes on. Killed before the rewrite, everything is as it was; killed after it, the next start finds
the conversation at its new tip.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_state.errors import LeaseHeld
from hermes_state.leases import compression_lease
from memory.agent.summary import summarise, summary_messages
from memory.agent.transcript import SUMMARY_MARK, said
from memory.checkpoint import evidence
from memory.errors import CompressionCheckpointUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_state import SessionDB
    from hermes_state.records import Message
    from memory.agent.model import Model, TokenUsage
    from memory.agent.ports import Memory
    from memory.agent.transcript import Transcript
    from memory.settings import MemorySettings

# A summary of a slow model, with retries, takes minutes. A lease whose process has died ends at once.
_LEASE_S = 1800.0
# The newest messages stay as they are, up to this share of the threshold.
_TAIL_SHARE = 0.5
# Share of the model's context that the summariser's request may take; the rest is for the summary.
_REQUEST_SHARE = 0.75


@dataclass(frozen=True, kw_only=True, slots=True)
class Compressed:
    """A compression that took place.

    Attributes:
        parent_id, session_id: where the conversation was and where it goes on; equal when compressed in place.
        summarised: messages that the summary stands for.
    """

    parent_id: str
    session_id: str
    summarised: int


class Compressor:
    """Compresses the conversation of an agent.

    Args:
        context_tokens: what the model's context holds.
        booked: gets the tokens that the summary took.
        is_side_agent: it has no memory of its own, so no checkpoint is asked for.
    """

    def __init__(
        self,
        db: SessionDB,
        model: Model,
        memory: Memory,
        settings: MemorySettings,
        *,
        context_tokens: int,
        booked: Callable[[TokenUsage | None], object],
        is_side_agent: bool = False,
    ) -> None:
        self._db = db
        self._model = model
        self._memory = memory
        self._settings = settings
        self._context = context_tokens
        self._booked = booked
        self._is_side_agent = is_side_agent
        self._owner = f"agent-{os.getpid()}-{secrets.token_hex(4)}"

    @property
    def threshold_tokens(self) -> int:
        """Tokens from which on a conversation is compressed."""
        return int(self._context * self._settings.compression_threshold)

    def is_due(self, tokens: int) -> bool:
        """Whether a request of so many tokens is long enough."""
        return self._settings.compression_enabled and tokens >= self.threshold_tokens

    def is_over(self, tokens: int) -> bool:
        """Whether a request of so many tokens does not fit into the model's context at all."""
        return tokens >= self._context

    def compress(self, transcript: Transcript) -> Compressed | None:
        """Compress a conversation; None when there is nothing to summarise, or another process is at it.

        Raises:
            CompressionCheckpointUnavailable: a checkpoint is required and there is none; nothing was changed.
            ModelFault: there is no summary; nothing was changed.
        """
        left = transcript.session_id
        try:
            with self._db.leases.hold(compression_lease(left), self._owner, ttl_s=_LEASE_S):
                done = self._under_lease(transcript)
        except LeaseHeld:
            return None
        if done is not None:
            transcript.move(done.session_id)
            self._memory.on_session_switch(
                done.session_id, parent_session_id=done.parent_id, reset=False, reason="compression"
            )
        return done

    def _under_lease(self, transcript: Transcript) -> Compressed | None:
        tip = self._db.sessions.resume(transcript.session_id).id
        if tip != transcript.session_id:  # another process was quicker
            transcript.follow(tip)
            return None
        transcript.load()
        head = self.split(transcript)[0]
        if not head:
            return None
        context = self._keep_in_memory(head)
        summary = summarise(
            self._model,
            head,
            memory_context=context,
            room_tokens=int(self._context * _REQUEST_SHARE),
            booked=self._booked,
        )
        return self._rewrite(tip, head, summary)

    def split(self, transcript: Transcript) -> tuple[list[Message], list[Message]]:
        """What is to be summarised, and the newest messages, which stay.

        The tail has at most `protect_last_n` messages and half of the threshold's tokens, and begins with a message of
        the user, so that no call is parted from its result. A single turn longer than that stays whole.
        """
        records = transcript.records
        starts = [
            i for i, record in enumerate(records) if record.role == "user" and not record.extras.get(SUMMARY_MARK)
        ]
        room, tokens, begin = self.threshold_tokens * _TAIL_SHARE, 0, len(records)
        for start in reversed(starts):
            tokens += sum(transcript.tokens_of(record) for record in records[start:begin])
            if begin < len(records) and (tokens > room or len(records) - start > self._settings.protect_last_n):
                break
            begin = start
        head = records[:begin]
        return (head, records[begin:]) if any(not m.extras.get(SUMMARY_MARK) for m in head) else ([], records)

    def _keep_in_memory(self, head: list[Message]) -> str:
        """Providers extract what is about to be summarised away, or make a durable checkpoint of it."""
        messages = [said(record) for record in head]
        required = self._settings.checkpoint_required and not self._is_side_agent
        if required and not self._memory.supports_pre_compress_checkpoint():
            raise CompressionCheckpointUnavailable("no memory provider makes checkpoints", capability=True)
        try:
            return self._memory.on_pre_compress(
                messages, evidence_messages=evidence(messages), require_checkpoint=required, checkpoint_api_version=2
            )
        except Exception as error:
            if not required or isinstance(error, CompressionCheckpointUnavailable):
                raise
            raise CompressionCheckpointUnavailable(f"{type(error).__name__}: {error}") from error

    def _rewrite(self, session_id: str, head: list[Message], summary: str) -> Compressed | None:
        """Put the summary in the place of the head, in one transaction; what others appended meanwhile stays."""
        lease = compression_lease(session_id)
        with self._db.transaction():
            if not self._db.leases.heartbeat(lease, self._owner, ttl_s=_LEASE_S):
                return None  # somebody else took over
            active = self._db.messages.list(session_id)
            kept = [record for record in active if record.position > head[-1].position]
            messages: list[Any] = summary_messages(summary)
            if self._settings.compression_in_place:
                self._db.messages.compact(session_id, messages, keep_last=len(kept))
                return Compressed(parent_id=session_id, session_id=session_id, summarised=len(head))
            rotation = self._db.lineage.rotate(session_id, [*messages, *kept], owner=self._owner)
            return Compressed(parent_id=session_id, session_id=rotation.child.id, summarised=len(head))
