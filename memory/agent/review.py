"""The background review: beside the next turn, a model looks at the conversation and saves what is worth keeping.

It has the tools of memory and nothing else, a budget, and a session of its own (`source="background_review"`, a
delegate of the conversation) that holds what it did and what it cost.
"""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_state.errors import HermesStateError, LeaseHeld
from memory.agent.booking import book
from memory.agent.content import text_of
from memory.agent.failures import ModelAborted
from memory.agent.loop import Loop
from memory.agent.surface import Surface
from memory.agent.tools import MEMORY_TOOL, Toolbox
from memory.agent.transcript import Transcript
from memory.threads import spawn_context_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hermes_state import SessionDB
    from memory.agent.cadence import Cadence, Due
    from memory.agent.model import ApiMessage, Model, TokenUsage
    from memory.agent.ports import Memory
    from memory.agent.tools import Tool

SOURCE = "background_review"
# Messages that another model than the conversation's gets verbatim; of older ones it gets so many characters each.
_VERBATIM, _USER_CHARS, _ASSISTANT_CHARS = 24, 300, 200
_LEASE_S = 900.0

_MEMORY = """\
Look back over the conversation above. Did the user reveal something that will matter in later conversations: who they \
are, what they prefer, how they want you to work, a correction, a decision, a convention? Then save it with the \
`memory` tool. First look at what is there: merge entries that say the same, replace what is out of date, and add only \
what is new, in one call with `operations` where several belong together. Save statements, no task progress. If there \
is nothing worth keeping, answer "Nothing to save." and call nothing."""
_SKILLS = """\
Look back over the conversation above. Did you learn a procedure that will be needed again, or did the user correct \
how one is done? Then write it into the skill it belongs to; make a new one only for a class of tasks that none \
covers. Leave out failures of this machine, passing errors and one-off tasks."""
_ONLY = "Only memory and skill tools can be called here. Nobody reads your answer."


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewBudget:
    """What a review may use up.

    Attributes:
        iterations: rounds of tools.
        tokens: of all its calls together; no further call is made once they are used.
        seconds: after which no further call is made.
    """

    iterations: int = 8
    tokens: int = 200_000
    seconds: float = 300.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Reviewed:
    """What a review came to.

    Attributes:
        session_id: the session that holds it.
        saved: lines about what was saved.
        error: why it did not end well; "" when it did.
        cancelled: it was told to stop, and is due again.
    """

    session_id: str
    saved: tuple[str, ...] = ()
    error: str = ""
    cancelled: bool = False


@dataclass(slots=True)
class _Running:
    """A review in flight."""

    thread: threading.Thread
    stop: threading.Event = field(default_factory=threading.Event)


class Reviewer:
    """Starts reviews of a conversation, one at a time, and ends them.

    Args:
        model: the conversation's own, or a cheaper one.
        is_own_model: it is the conversation's: it gets the same prefix, which its endpoint may still have cached.
        tools: tools of the host of which those that are marked may be called.
        announce: gets a line when something was saved, or when the review failed; from the review's thread.
        platform: goes into the provenance of what is written.
    """

    def __init__(
        self,
        db: SessionDB,
        memory: Memory,
        model: Model,
        *,
        is_own_model: bool,
        tools: Sequence[Tool] = (),
        announce: Callable[[str], object],
        budget: ReviewBudget | None = None,
        platform: str = "cli",
    ) -> None:
        self._db = db
        self._memory = memory
        self._model = model
        self._is_own_model = is_own_model
        self._tools = [tool for tool in tools if tool.reviews]
        self._announce = announce
        self._budget = budget or ReviewBudget()
        self._platform = platform
        self._running: _Running | None = None
        self.last: Reviewed | None = None

    @property
    def reviews_skills(self) -> bool:
        """Whether there is a tool that changes skills."""
        return bool(self._tools)

    def start(self, due: Due, cadence: Cadence, request: list[ApiMessage], session_id: str) -> bool:
        """Start a review in a thread of its own; False when one is running, here or in another process.

        Args:
            request: the conversation as it was sent, system message first.
        """
        if self._running is not None and self._running.thread.is_alive():
            return False
        lease, owner = f"review:{session_id}", f"review-{secrets.token_hex(6)}"
        try:
            self._db.leases.acquire(lease, owner, ttl_s=_LEASE_S)
        except LeaseHeld:
            return False
        cadence.review_began(due)
        stop = threading.Event()

        def run() -> None:
            try:
                self.last = self._run(due, request, session_id, stop)
                if not self.last.cancelled:
                    cadence.review_ended()
                self._tell(self.last)
            except HermesStateError as error:  # the store is gone or busy: the review stays due
                self._announce(f"memory review failed: {error.message}")
            finally:
                self._release(lease, owner)

        thread = spawn_context_thread(run, name="bg-review")
        self._running = _Running(thread=thread, stop=stop)
        thread.start()
        return True

    def wait(self, timeout_s: float) -> bool:
        """Wait for a running review; False when it is still running."""
        running = self._running
        if running is None:
            return True
        running.thread.join(timeout_s)
        return not running.thread.is_alive()

    def cancel(self, timeout_s: float = 5.0) -> bool:
        """End a running review: no tool is run any more, and its call to the model is ended. It stays due.

        Returns:
            Whether its thread has ended.
        """
        running = self._running
        if running is None or not running.thread.is_alive():
            return True
        running.stop.set()
        self._model.abort()
        return self.wait(timeout_s)

    # --- in the thread ------------------------------------------------------------------------------------------

    def _run(self, due: Due, request: list[ApiMessage], parent_id: str, stop: threading.Event) -> Reviewed:
        session = self._db.lineage.delegate(parent_id, source=SOURCE, model=self._model.name)
        transcript = Transcript(self._db, session.id)
        transcript.append(role="user", content=_instructions(due))
        shown = request if self._is_own_model else _digest(request)
        meter = _Meter(self._db, self._model, session.id, self._budget, stop)
        loop = Loop(
            self._model,
            self._toolbox(session.id, parent_id, stop),
            transcript,
            request=lambda: [*shown, *transcript.as_sent()],
            surface=Surface(),
            booked=meter.book,
            max_iterations=self._budget.iterations,
            stop=stop,
        )
        error, cancelled = "", False
        try:
            loop.run()
        except ModelAborted:
            cancelled = not meter.is_spent
        except HermesStateError as failure:
            error = failure.message
        self._db.sessions.end(session.id, "cancelled" if cancelled else "done")
        return Reviewed(session_id=session.id, saved=tuple(loop.outcome.saved), error=error, cancelled=cancelled)

    def _toolbox(self, session_id: str, parent_id: str, stop: threading.Event) -> Toolbox:
        facts = {
            "session_id": session_id,
            "parent_session_id": parent_id,
            "platform": self._platform,
            "write_origin": SOURCE,
            "execution_context": SOURCE,
        }
        names = {MEMORY_TOOL, *(tool.name for tool in self._tools)}
        return Toolbox(
            self._memory, self._tools, facts=lambda: facts, allowed=lambda name: name in names and not stop.is_set()
        )

    def _tell(self, done: Reviewed) -> None:
        if done.saved:
            self._announce(f"💾 Memory review: {' · '.join(done.saved)}")
        if done.error:
            self._announce(f"memory review failed: {done.error}")

    def _release(self, lease: str, owner: str) -> None:
        try:
            self._db.leases.release(lease, owner)
        except HermesStateError as error:  # it expires by itself
            self._announce(f"memory review: {error.message}")


class _Meter:
    """Books what a review uses under its own session, and ends it when the budget is spent."""

    def __init__(
        self, db: SessionDB, model: Model, session_id: str, budget: ReviewBudget, stop: threading.Event
    ) -> None:
        self._db = db
        self._model = model
        self._session_id = session_id
        self._budget = budget
        self._stop = stop
        self._tokens = 0
        self._until = time.monotonic() + budget.seconds
        self.is_spent = False

    def book(self, used: TokenUsage | None) -> None:
        """One call was made."""
        book(self._db, self._session_id, self._model, used, task=SOURCE)
        self._tokens += used.total if used else 0
        if self._tokens >= self._budget.tokens or time.monotonic() > self._until:
            self.is_spent = True
            self._stop.set()


def _instructions(due: Due) -> str:
    parts = [*([_MEMORY] if due.memory else []), *([_SKILLS] if due.skills else []), _ONLY]
    return "\n\n".join(parts)


def _digest(request: list[ApiMessage]) -> list[ApiMessage]:
    """A conversation for a model that has not seen it: the newest messages whole, a line for each older one.

    The tail does not begin with a tool's result, since its call would be missing.
    """
    messages = [message for message in request if message["role"] != "system"]
    start = max(0, len(messages) - _VERBATIM)
    while start > 0 and messages[start]["role"] == "tool":
        start -= 1
    lines = [line for message in messages[:start] if (line := _line(message))]
    older: list[ApiMessage] = [{"role": "user", "content": "Earlier:\n" + "\n".join(lines)}] if lines else []
    return [*(message for message in request if message["role"] == "system"), *older, *messages[start:]]


def _line(message: ApiMessage) -> str:
    caps: dict[Any, int] = {"user": _USER_CHARS, "assistant": _ASSISTANT_CHARS}
    text = " ".join(text_of(message.get("content")).split())
    cap = caps.get(message["role"])
    return f"{message['role'].upper()}: {text[:cap]}" if cap and text else ""
