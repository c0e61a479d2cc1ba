"""What an agent is made of: the parts that a turn and a session boundary work with."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memory.agent.booking import book

if TYPE_CHECKING:
    from hermes_state import SessionDB
    from memory.agent.cadence import Cadence
    from memory.agent.compression import Compressor
    from memory.agent.model import Model, TokenUsage
    from memory.agent.ports import Memory
    from memory.agent.prompt import SystemPrompt
    from memory.agent.review import Reviewer
    from memory.agent.surface import Surface
    from memory.agent.tools import Toolbox
    from memory.agent.transcript import Transcript
    from memory.settings import MemorySettings


@dataclass(kw_only=True, slots=True)
class Parts:
    """The parts, and what is known of the session at hand.

    Attributes:
        opening: fields of a session that is stored with its first message; None: it is stored.
        stop: set to end the turn that is running.
        is_automation: nobody is at the other end, or there is no memory: nothing is handed to it, and no turn counts.
        spoke: whether a turn was completed since the session was entered, so that its end is worth telling.
    """

    db: SessionDB
    model: Model
    memory: Memory
    settings: MemorySettings
    surface: Surface
    transcript: Transcript
    prompt: SystemPrompt
    cadence: Cadence
    compressor: Compressor
    reviewer: Reviewer
    toolbox: Toolbox
    platform: str
    max_iterations: int
    opening: dict[str, Any] | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    is_automation: bool = False
    spoke: bool = False

    @property
    def session_id(self) -> str:
        """Where the conversation is now."""
        return self.transcript.session_id

    def system_prompt(self) -> str:
        """The system prompt of the session at hand."""
        records = self.transcript.records
        return self.prompt.text(self.session_id, records[-1].created_at if records else None)

    def store_session(self) -> None:
        """Store the session, if that was not done yet."""
        if self.opening is not None:
            self.db.sessions.create(self.session_id, system_prompt=self.system_prompt(), **self.opening)

    def ensure_session(self) -> None:
        """As `store_session`, for what has to be there before anything was said."""
        self.store_session()
        self.opening = None

    def book(self, used: TokenUsage | None) -> None:
        """Record what a call of the conversation cost."""
        book(self.db, self.session_id, self.model, used)

    def book_compression(self, used: TokenUsage | None) -> None:
        """Record what a summary cost."""
        book(self.db, self.session_id, self.model, used, task="compression")
