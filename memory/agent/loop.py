"""The model/tool loop: ask, run the tools it wants, ask again, until it answers; bounded."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memory.agent.failures import ModelAborted
from memory.agent.tools import SKILL_TOOL
from memory.context import Scrubber, sanitize

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory.agent.model import ApiMessage, Model, Reply, TokenUsage, ToolCall
    from memory.agent.surface import Surface
    from memory.agent.tools import Toolbox, ToolResult
    from memory.agent.transcript import Transcript

# Rounds of tools in one turn; then the model answers with what it has.
MAX_ITERATIONS = 30


@dataclass(slots=True)
class Outcome:
    """What the loop came to. It is filled as the loop goes, so that it is right when the loop is cut short.

    Attributes:
        text: the answer.
        partial: what was said in the call that is running.
        saved: lines about memories that were saved.
    """

    text: str = ""
    partial: str = ""
    iterations: int = 0
    tools: list[str] = field(default_factory=list)
    wrote_memory: bool = False
    changed_skill: bool = False
    saved: list[str] = field(default_factory=list)


class Speech:
    """The answer of one call as the person sees it: piece by piece, without the fences of recalled memory.

    What is shown is in `outcome.partial` before it is shown, so that no interrupt comes between.
    """

    def __init__(self, show: Callable[[str], object], outcome: Outcome) -> None:
        self.was_heard = False
        self._show = show
        self._outcome = outcome
        self._scrubber = Scrubber()
        outcome.partial = ""

    def hear(self, piece: str) -> None:
        """A piece of the model's text."""
        self.was_heard = True
        self._pass(self._scrubber.feed(piece))

    def end(self) -> None:
        """What was held back comes, or is dropped."""
        self._pass(self._scrubber.flush())

    def _pass(self, text: str) -> None:
        if text:
            self._outcome.partial += text
            self._show(text)


class Loop:
    """Runs the model and its tools over a transcript. Every message is stored before the next step.

    Args:
        request: gives the messages to send, for the transcript as it is.
        booked: gets the tokens of each call, and stores them together with its answer.
        outcome: goes on with this one, where a loop was cut short.
    """

    def __init__(
        self,
        model: Model,
        toolbox: Toolbox,
        transcript: Transcript,
        *,
        request: Callable[[], list[ApiMessage]],
        surface: Surface,
        booked: Callable[[TokenUsage | None], object],
        max_iterations: int = MAX_ITERATIONS,
        stop: threading.Event | None = None,
        outcome: Outcome | None = None,
    ) -> None:
        self._model = model
        self._toolbox = toolbox
        self._transcript = transcript
        self._request = request
        self._surface = surface
        self._booked = booked
        self._max_iterations = max_iterations
        self._stop = stop or threading.Event()
        self.outcome = outcome or Outcome()

    def run(self) -> Outcome:
        """Until the model answers without calling a tool.

        Raises:
            ModelFault: it could not answer; what it had said is in `outcome.partial`.
        """
        while True:
            reply = self._ask(may_call=self.outcome.iterations < self._max_iterations)
            text = sanitize(self.outcome.partial).strip()
            self._store_answer(reply, text)
            self.outcome.partial = ""
            if not reply.tool_calls:
                self.outcome.text = text
                return self.outcome
            self.outcome.iterations += 1
            for wanted in reply.tool_calls:
                self._use(wanted)

    def _ask(self, *, may_call: bool) -> Reply:
        self._check()
        speech = Speech(self._surface.text, self.outcome)
        reply = self._model.complete(
            self._request(), tools=self._toolbox.schemas() if may_call else (), on_text=speech.hear
        )
        if not speech.was_heard:  # a model that does not stream
            speech.hear(reply.text)
        speech.end()
        return reply

    def _store_answer(self, reply: Reply, text: str) -> None:
        calls = [call.as_message_part() for call in reply.tool_calls]
        self._transcript.append(
            also=lambda: self._booked(reply.usage),
            role="assistant",
            content=text or (None if calls else ""),
            tool_calls=calls or None,
            finish_reason=reply.finish_reason,
            token_count=reply.usage.output_tokens if reply.usage else None,
            **reply.replay,
        )

    def _use(self, wanted: ToolCall) -> None:
        self._check()
        self._surface.tool(wanted.name, wanted.arguments)
        result = self._toolbox.call(wanted)
        self._transcript.append(role="tool", content=result.text, tool_call_id=wanted.id, tool_name=wanted.name)
        self._note(wanted.name, result)

    def _note(self, name: str, result: ToolResult) -> None:
        self.outcome.tools.append(name)
        self.outcome.wrote_memory |= result.wrote_memory
        self.outcome.changed_skill |= name == SKILL_TOOL
        if result.saved:
            self.outcome.saved.append(result.saved)

    def _check(self) -> None:
        if self._stop.is_set():
            raise ModelAborted("the turn was interrupted")
