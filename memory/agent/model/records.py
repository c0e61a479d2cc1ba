"""What a model is asked and what it answers, whatever serves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

# A message as chat completion endpoints take it: `{"role", "content", …}`.
ApiMessage: TypeAlias = dict[str, Any]
# Gets the answer's text piece by piece, as it comes.
TextSink: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenUsage:
    """Tokens of one call. `cache_read_tokens` are part of the input, `reasoning_tokens` part of the output."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def total(self) -> int:
        """Input and output."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """A tool the model wants to run. `arguments` is JSON text as the model wrote it, and may be broken."""

    id: str
    name: str
    arguments: str = "{}"

    def as_message_part(self) -> dict[str, Any]:
        """The call as an assistant message carries it."""
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """One answer of a model.

    Attributes:
        finish_reason: as the endpoint said it: `stop`, `tool_calls`, `length`, …
        replay: fields that go back verbatim with this message: `reasoning`, `reasoning_content`, `reasoning_details`.
        usage: None where the endpoint counts nothing.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    replay: Mapping[str, Any] = field(default_factory=dict)
    usage: TokenUsage | None = None


class Model(Protocol):
    """A chat model. One object serves one call at a time per thread; `abort` may come from any thread."""

    @property
    def name(self) -> str:
        """What the endpoint calls the model."""

    @property
    def base_url(self) -> str:
        """Where it is served; "" when nowhere."""

    def complete(
        self,
        messages: Sequence[ApiMessage],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        on_text: TextSink | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """Ask the model.

        Args:
            messages: the whole conversation, system message first.
            tools: schemas of the tools it may call, as `{"type": "function", "function": {…}}`.
            on_text: gets the text while it comes; without it nothing is shown before the end.
            max_tokens: the most the answer may take; None: the endpoint's own limit.

        Raises:
            ModelFault: it could not answer.
        """

    def abort(self) -> None:
        """End every call in flight, from any thread; they raise `ModelAborted`. Later calls work."""

    def close(self) -> None:
        """Give connections back."""
