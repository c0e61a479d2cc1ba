"""`Agent`: a conversation with a model that remembers. The parts are composed here; each has a module of its own."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

from hermes_state.errors import InvalidValue
from hermes_state.ids import new_session_id
from memory.agent.boundaries import Boundaries, cadence_of
from memory.agent.compression import Compressed, Compressor
from memory.agent.delegation import SOURCE, Delegation
from memory.agent.failures import AgentBusy
from memory.agent.loop import MAX_ITERATIONS
from memory.agent.parts import Parts
from memory.agent.ports import NoMemory
from memory.agent.prompt import BASE_INSTRUCTIONS, SystemPrompt
from memory.agent.review import ReviewBudget, Reviewer
from memory.agent.surface import Surface
from memory.agent.tools import Tool, Toolbox, session_search_tool
from memory.agent.transcript import Transcript
from memory.agent.turn import Answer, Turn
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from types import TracebackType

    from hermes_state import SessionDB
    from hermes_state.records import Content, Message, Session
    from memory.agent.model import Model
    from memory.agent.ports import Memory

# What a model's context holds when nobody says, in tokens.
DEFAULT_CONTEXT_TOKENS = 128_000
_AUTOMATION = ("cron", SOURCE)


class Agent:
    """A conversation with a model, stored, recalled and reviewed. A context manager; its end is the session's.

    One turn at a time; `interrupt` may come from any thread.

    Args:
        db: the store.
        model: who answers.
        memory: a `MemoryManager` with its providers; None: no memory at all.
        session_id: go on in this session (or the tip of its conversation); None: a new one, stored with its first
            message.
        settings: the `memory:` section of the home's configuration.
        tools: the host's tools; `session_search` is there anyway, unless there is no memory.
        home: where other profiles lie, for `session_search`.
        instructions: the base of the system prompt.
        skills: gives the block about skills, when the prompt is built.
        surface: what a person sees.
        platform: the surface's name; `cron` and sub-agents leave no trace in memory.
        review_model: who reviews in the background; None: `model`.
        context_tokens: what the model's context holds.
        facts: more for `MemoryProvider.initialize`: `user_id`, `chat_id`, `agent_identity`, …

    Raises:
        SessionNotFound: there is no session `session_id`.
    """

    def __init__(
        self,
        db: SessionDB,
        model: Model,
        *,
        memory: Memory | None = None,
        session_id: str | None = None,
        settings: MemorySettings | None = None,
        tools: Iterable[Tool] = (),
        home: Path | None = None,
        instructions: str = BASE_INSTRUCTIONS,
        skills: Callable[[], str] = str,
        surface: Surface | None = None,
        platform: str = "cli",
        review_model: Model | None = None,
        review_budget: ReviewBudget | None = None,
        context_tokens: int = DEFAULT_CONTEXT_TOKENS,
        max_iterations: int = MAX_ITERATIONS,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        if context_tokens < 1:
            raise InvalidValue(f"a context holds at least 1 token, not {context_tokens}")
        settings, surface = settings or MemorySettings(), surface or Surface()
        remembering = NoMemory() if memory is None else memory
        self._busy = threading.Lock()
        self._own_tools = tuple(tools)
        tip = None if session_id is None else db.sessions.resume(session_id).id
        transcript = Transcript(db, tip or new_session_id(), on_move=self._moved)
        transcript.load()
        offered = [*self._own_tools]
        if memory is not None:
            offered.append(session_search_tool(db, lambda: transcript.session_id, home))
        is_automation = platform in _AUTOMATION or memory is None
        self._parts = Parts(
            db=db,
            model=model,
            memory=remembering,
            settings=settings,
            surface=surface,
            transcript=transcript,
            prompt=SystemPrompt(db, remembering, base=instructions, skills=skills),
            cadence=cadence_of(db, transcript.session_id, settings, is_automation=is_automation),
            compressor=Compressor(
                db,
                model,
                remembering,
                settings,
                context_tokens=context_tokens,
                booked=lambda used: self._parts.book_compression(used),
                is_side_agent=platform == SOURCE,
            ),
            reviewer=Reviewer(
                db,
                remembering,
                review_model or model,
                is_own_model=review_model is None,
                tools=self._own_tools,
                announce=surface.notice,
                budget=review_budget,
                platform=platform,
            ),
            toolbox=Toolbox(remembering, offered, facts=self._tool_facts),
            platform=platform,
            max_iterations=max_iterations,
            opening={"source": platform, "model": model.name} if tip is None else None,
            is_automation=is_automation,
        )
        self._boundaries = Boundaries(self._parts, facts or {})
        self._boundaries.start(is_stored=tip is not None)

    # --- talking ------------------------------------------------------------------------------------------------

    def turn(self, content: Content) -> Answer:
        """Say something, and get the answer.

        Args:
            content: text, or a list of parts (`{"type": "text", …}`, `{"type": "image_url", …}`).

        Returns:
            The answer; one that `interrupt` cut short says so.

        Raises:
            AgentBusy: a turn is running.
            HermesStateError: the model or the store failed. What was said until then is stored.
        """
        if not self._busy.acquire(blocking=False):
            raise AgentBusy("a turn is running", hint="wait for its answer, or interrupt it")
        try:
            self._parts.stop.clear()
            self._boundaries.touch()
            return Turn(self._parts, content).run()
        finally:
            self._busy.release()

    def interrupt(self) -> None:
        """End the turn that is running, from another thread; its `turn` returns with `interrupted`."""
        self._parts.stop.set()
        self._parts.model.abort()

    def delegate(self, task: str) -> Delegation:
        """Have a child agent do a task: with the host's tools, without memory. The memory hears of the result.

        Raises:
            HermesStateError: the child failed.
        """
        parts = self._parts
        parts.ensure_session()
        session = parts.db.lineage.delegate(parts.session_id, source=SOURCE, model=parts.model.name)
        child = Agent(
            parts.db,
            parts.model,
            session_id=session.id,
            settings=parts.settings,
            tools=self._own_tools,
            instructions="You do one task for another agent. Nobody answers questions; return the result.",
            platform=SOURCE,
        )
        with child:
            result = child.turn(task).text
        parts.memory.on_delegation(task, result, child_session_id=session.id)
        return Delegation(result=result, session_id=session.id)

    def compress(self) -> Compressed | None:
        """Compress the conversation now; None when there is nothing to compress.

        Raises:
            CompressionCheckpointUnavailable, ModelFault: nothing was changed.
        """
        done = self._parts.compressor.compress(self._parts.transcript)
        if done is not None:
            self._parts.prompt.rebuild(done.session_id)
        return done

    # --- sessions -----------------------------------------------------------------------------------------------

    @property
    def session_id(self) -> str:
        """Where the conversation is now."""
        return self._parts.session_id

    @property
    def is_stored(self) -> bool:
        """Whether anything was stored of this session yet."""
        return self._parts.opening is None

    @property
    def messages(self) -> list[Message]:
        """The active messages of the conversation."""
        return list(self._parts.transcript.records)

    @property
    def reviewer(self) -> Reviewer:
        """The background review: wait for it, cancel it, see what it came to."""
        return self._parts.reviewer

    def new(self, title: str | None = None) -> None:
        """End this session and begin another one."""
        self._boundaries.new(title)

    def resume(self, ref: str) -> Session:
        """Go on in another conversation, by id, start of one, or title."""
        return self._boundaries.resume(ref)

    def branch(self, title: str | None = None) -> Session:
        """Go on in a copy of this conversation."""
        return self._boundaries.branch(title)

    def rewind(self, turns: int = 1) -> list[Message]:
        """Take back the last turns."""
        return self._boundaries.rewind(turns)

    def rename(self, title: str) -> Session:
        """Give this session a title."""
        return self._boundaries.rename(title)

    def end(self, reason: str = "explicit") -> bool:
        """End this session; the next turn begins another one. False when it had ended already."""
        return self._boundaries.end(reason, flush=True)

    def end_if_idle(self, idle_s: float) -> bool:
        """End this session when nothing was said for so many seconds; a gateway asks now and then."""
        return not self._busy.locked() and self._boundaries.end_if_idle(idle_s)

    def leave(self) -> None:
        """Let go of the session without ending it: a gateway that makes an agent for each message."""
        self._boundaries.leave()

    def close(self, *, flush: bool = True) -> None:
        """End the session and shut the memory down. Closing twice is fine.

        Args:
            flush: first review what was not saved yet, where `flush_min_turns` says so.
        """
        self._boundaries.close(flush=flush)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(flush=kind is None)

    # --- what parts ask of the whole ----------------------------------------------------------------------------

    def _moved(self, left: str, tip: str) -> None:
        """Another process compressed the conversation while we were in it."""
        self._parts.prompt.forget()
        self._parts.memory.on_session_switch(tip, parent_session_id=left, reset=False, reason="compression")

    def _tool_facts(self) -> dict[str, Any]:
        return {
            "session_id": self.session_id,
            "platform": self._parts.platform,
            "write_origin": "assistant_tool",
            "execution_context": "foreground",
        }


__all__ = ["Agent", "Answer"]
