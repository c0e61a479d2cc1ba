"""Where a conversation begins, goes on elsewhere and ends, and what providers are told of it.

What is still to be told comes first (a flush of memory, the turns that wait in a provider's lane), then the end, then
the switch. A session's end is told once for each time it was entered and something was said; a compression is no end.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from hermes_state.errors import HermesStateError, NotFound
from hermes_state.ids import new_session_id
from hermes_state.records import Relation
from memory.agent.cadence import Cadence, Due
from memory.agent.prompt import assemble
from memory.agent.transcript import everything_said

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_state import SessionDB
    from hermes_state.records import Message, Session
    from memory.agent.parts import Parts
    from memory.settings import MemorySettings

_log = logging.getLogger(__name__)
# Seconds that a flush of memory at the end of a session may take; what is not done by then is due on resume.
FLUSH_TIMEOUT_S = 30.0


class Boundaries:
    """The session an agent is in, and the ways out of it.

    Args:
        facts: what providers are told beside the session: the user, the chat, the profile.
    """

    def __init__(self, parts: Parts, facts: Mapping[str, Any]) -> None:
        self._parts = parts
        self._facts = dict(facts)
        self._lock = threading.Lock()
        self._is_over = False
        self._left_id = ""
        self._active_at = time.monotonic()

    # --- in -----------------------------------------------------------------------------------------------------

    def start(self, *, is_stored: bool) -> None:
        """Enter the session the agent was made for.

        Args:
            is_stored: it is there already; a new one is stored with its first message.
        """
        parts = self._parts
        context = "cron" if parts.platform == "cron" else "primary"
        title = parts.db.sessions.reopen(parts.session_id).title if is_stored else None
        facts = {"platform": parts.platform, "agent_context": context} | self._facts
        parts.memory.initialize(parts.session_id, **facts | ({"session_title": title} if title else {}))
        _live.add(self)

    def touch(self) -> None:
        """A turn begins: after an end it begins a new session."""
        if self._is_over:
            self._enter_new(reason="new_session")
        self._active_at = time.monotonic()

    def new(self, title: str | None = None) -> None:
        """End this session and begin another one."""
        self.end("new_session", flush=True)
        self._enter_new(reason="new_session")
        if title:
            self.rename(title)

    def resume(self, ref: str) -> Session:
        """Leave this session and go on in another conversation.

        Raises:
            SessionNotFound, Ambiguous: nothing changed.
        """
        parts = self._parts
        target = parts.db.sessions.resume(ref)
        if target.id != parts.session_id or self._is_over:
            self.end("resumed_other", flush=True)
            parts.db.sessions.reopen(target.id)
            # No parent: the session that was left is not where this one came from.
            self._enter(target.id, opening=None, reset=False, reason="resume")
        return target

    def branch(self, title: str | None = None) -> Session:
        """Go on in a copy of this conversation; the original stays as it is.

        Raises:
            SessionNotFound: nothing was said yet.
        """
        parts = self._parts
        parent = parts.session_id
        child = parts.db.lineage.branch(parent, title=title)
        parts.db.sessions.end(parent, "branched")
        self._enter(child.id, opening=None, reset=False, reason="branch", parent=parent)
        return child

    def rewind(self, turns: int = 1) -> list[Message]:
        """Take back the last turns of the user and what followed them; returns the messages taken back.

        Raises:
            NotFound: there is no turn to take back.
        """
        parts = self._parts
        asked = [m for m in parts.transcript.records if m.role == "user" and not m.extras.get("_compressed_summary")]
        if turns < 1 or len(asked) < turns:
            raise NotFound("there is nothing to take back", hint="the conversation has no turn, or was summarised")
        taken = parts.db.messages.rewind(parts.session_id, to_message_id=asked[-turns].id)
        parts.transcript.load()
        parts.memory.on_session_switch(
            parts.session_id, parent_session_id="", reset=False, rewound=True, reason="rewind"
        )
        return list(taken.messages)

    def rename(self, title: str) -> Session:
        """Give this session a title.

        Raises:
            TitleTaken, InvalidValue: it can't have it.
        """
        parts = self._parts
        parts.ensure_session()
        return parts.db.sessions.rename(parts.session_id, title)

    # --- out ----------------------------------------------------------------------------------------------------

    def end(self, reason: str, *, flush: bool) -> bool:
        """End this session; False when it had ended already.

        Args:
            flush: review what was not saved yet first, within `FLUSH_TIMEOUT_S`.
        """
        with self._lock:
            if self._is_over:
                return False
            self._is_over = True
        try:
            if flush:
                self._flush()
            self._parts.reviewer.cancel()
        finally:  # whatever cuts the flush short, the end is told
            self._tell_end(reason)
        return True

    def end_if_idle(self, idle_s: float) -> bool:
        """End this session when nothing was said for so many seconds."""
        return time.monotonic() - self._active_at >= idle_s and self.end("idle", flush=True)

    def leave(self) -> None:
        """Forget this session without ending it: another process, or a later object, goes on with it."""
        self._is_over = True
        self._parts.reviewer.cancel()
        _live.discard(self)

    def close(self, *, flush: bool) -> None:
        """End the session and let go of the memory."""
        try:
            self.end("close", flush=flush)
        finally:
            _live.discard(self)
            self._parts.memory.shutdown(self._parts.settings.shutdown_timeout_s)

    # --- steps --------------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        """Before what was said leaves the context: a review, when enough was said since the last one."""
        parts = self._parts
        if parts.spoke and parts.opening is None and parts.cadence.is_worth_a_flush():
            request = assemble(parts.system_prompt(), parts.transcript)
            parts.reviewer.start(Due(memory=True), parts.cadence, request, parts.session_id)
        if not parts.reviewer.wait(0):
            parts.surface.notice("a review of the conversation ends, so that what matters is kept")
            parts.reviewer.wait(FLUSH_TIMEOUT_S)

    def _tell_end(self, reason: str) -> None:
        parts = self._parts
        self._left_id = parts.session_id
        if parts.opening is not None:  # nothing was said
            self._left_id = ""
            return
        try:
            messages = everything_said(parts.db, parts.session_id)
            parts.db.sessions.end(parts.session_id, reason)
        except HermesStateError as error:  # closed before the agent: what is in memory is told
            _log.warning("session %s was not ended in the store: %s", parts.session_id, error.message)
            messages = parts.transcript.as_said()
        if parts.spoke:
            parts.spoke = False
            parts.memory.on_session_end(messages)

    def _enter_new(self, *, reason: str) -> None:
        opening: dict[str, Any] = {"source": self._parts.platform, "model": self._parts.model.name}
        if self._left_id:
            opening |= {"parent_id": self._left_id, "relation": Relation.RESET}
        self._enter(new_session_id(), opening=opening, reset=True, reason=reason)

    def _enter(
        self, session_id: str, *, opening: dict[str, Any] | None, reset: bool, reason: str, parent: str = ""
    ) -> None:
        parts = self._parts
        parts.transcript.move(session_id)
        parts.opening, parts.spoke, self._is_over = opening, False, False
        parts.prompt.forget()
        parts.cadence = cadence_of(parts.db, session_id, parts.settings, is_automation=parts.is_automation)
        parts.memory.on_session_switch(session_id, parent_session_id=parent, reset=reset, reason=reason)


def cadence_of(db: SessionDB, session_id: str, settings: MemorySettings, *, is_automation: bool) -> Cadence:
    """The counters of a session's conversation."""
    stored = db.sessions.find(session_id) is not None
    root = db.lineage.segments(session_id)[0].id if stored else session_id
    return Cadence(db, root, settings, counts_turns=not is_automation)


# Sessions of this process that have not ended. Weak: an agent that was dropped is not ended by that.
_live: weakref.WeakSet[Boundaries] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """The interpreter ends: so do the sessions that are left, without a flush, which would need the model."""
    for boundaries in list(_live):
        try:
            boundaries.close(flush=False)
        except Exception:  # noqa: BLE001  nobody is left to catch it, and the next one has to be ended too
            _log.exception("a session was not ended well")
