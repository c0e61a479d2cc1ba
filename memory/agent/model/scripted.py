"""A model that says what it was told to: for tests, demos, and for trying a memory without a model."""

from __future__ import annotations

import copy
import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from memory.agent.failures import ModelAborted, ModelAnswerBroken
from memory.agent.model.records import ApiMessage, Reply, TextSink, TokenUsage, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

# One step: the text, the whole reply, an error to raise, or a function of the request that gives one of these.
Step: TypeAlias = "str | Reply | BaseException | Callable[[Asked], str | Reply | BaseException]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What the model was asked, as it was at that moment."""

    messages: list[ApiMessage] = field(default_factory=list)
    tools: tuple[str, ...] = ()

    @property
    def system(self) -> str:
        """The system message."""
        return str(self.messages[0]["content"]) if self.messages and self.messages[0]["role"] == "system" else ""

    @property
    def last(self) -> Any:
        """The content of the last message."""
        return self.messages[-1]["content"]


class ScriptedModel:
    """Answers with the next step of a script; after the last one with `otherwise`.

    Args:
        script: the steps.
        otherwise: what it says when the script is over; None: that is an error.
        piece: characters of each streamed piece.
    """

    base_url = ""

    def __init__(
        self, script: Iterable[Step] = (), *, otherwise: Step | None = None, name: str = "scripted", piece: int = 3
    ) -> None:
        self.name = name
        self.asked: list[Asked] = []
        self._script = list(script)
        self._otherwise = otherwise
        self._piece = piece
        self._lock = threading.Lock()
        self._aborts = 0

    def will(self, *steps: Step) -> None:
        """Add steps to the end of the script."""
        with self._lock:
            self._script.extend(steps)

    def complete(
        self,
        messages: Sequence[ApiMessage],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        on_text: TextSink | None = None,
        max_tokens: int | None = None,  # noqa: ARG002  the protocol's
    ) -> Reply:
        """See `Model.complete`."""
        names = tuple(str(tool["function"]["name"]) for tool in tools)
        asked = Asked(messages=copy.deepcopy(list(messages)), tools=names)
        with self._lock:
            self.asked.append(asked)
            aborts = self._aborts
            step = self._script.pop(0) if self._script else self._otherwise
        if step is None:
            raise ModelAnswerBroken("the script is over")
        said = step(asked) if callable(step) else step
        if isinstance(said, BaseException):
            raise said
        reply = Reply(text=said, finish_reason="stop", usage=_counted(asked, said)) if isinstance(said, str) else said
        for start in range(0, len(reply.text), self._piece):
            if self._aborts != aborts:
                raise ModelAborted("the call to the model was ended")
            if on_text is not None:
                on_text(reply.text[start : start + self._piece])
        return reply

    def abort(self) -> None:
        """See `Model.abort`."""
        self._aborts += 1

    def close(self) -> None:
        """See `Model.close`."""


def call(name: str, text: str = "", /, *, id: str = "call_1", **arguments: Any) -> Reply:  # noqa: A002
    """A reply that calls a tool with these arguments."""
    made = ToolCall(id=id, name=name, arguments=json.dumps(arguments, ensure_ascii=False))
    return Reply(text=text, tool_calls=(made,), finish_reason="tool_calls", usage=TokenUsage(input_tokens=1))


def _counted(asked: Asked, text: str) -> TokenUsage:
    """Words for tokens: the same for the same script."""
    words = sum(len(str(message.get("content") or "").split()) for message in asked.messages)
    return TokenUsage(input_tokens=words, output_tokens=len(text.split()))
