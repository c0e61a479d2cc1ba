"""One answer put together from the fragments of a stream, in all the shapes that endpoints send."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory.agent.failures import ModelAnswerBroken
from memory.agent.model.records import Reply, TokenUsage, ToolCall
from memory.agent.model.thinking import ThinkingSplitter

if TYPE_CHECKING:
    from memory.agent.model.records import TextSink

# Text fields that grow with each fragment, and go back verbatim with the message.
_REASONING = ("reasoning", "reasoning_content")


@dataclass(slots=True)
class _Call:
    """A tool call that is still coming in."""

    id: str = ""
    name: str = ""
    arguments: str = ""


class Assembly:
    """Takes chunks, gives a `Reply`.

    Args:
        on_text: gets the text as it comes.
    """

    def __init__(self, on_text: TextSink | None = None) -> None:
        self.text = ""
        self.finish_reason: str | None = None
        self._on_text = on_text
        self._thinking = ThinkingSplitter()
        self._replay: dict[str, Any] = {}
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._usage: TokenUsage | None = None

    @property
    def is_final(self) -> bool:
        """Whether the endpoint said that the answer is complete."""
        return self.finish_reason is not None

    @property
    def has_spoken(self) -> bool:
        """Whether any text was given on already; then the call can't be made again unseen."""
        return bool(self.text)

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Take one chunk of a stream, or a whole answer that came as one document."""
        self._usage = _usage(chunk.get("usage")) or self._usage
        for choice in chunk.get("choices") or ():  # the last chunk, with the usage, has none
            part = choice.get("delta") or choice.get("message") or {}
            self._say(_text_of(part.get("content")))
            self._reason(part)
            self._call(part)
            self.finish_reason = choice.get("finish_reason") or self.finish_reason

    def reply(self) -> Reply:
        """The whole answer."""
        self._give(self._thinking.flush())
        if self._thinking.reasoning and not self._replay:
            self._replay["reasoning"] = self._thinking.reasoning.strip()
        calls = tuple(
            ToolCall(id=call.id or f"call_{secrets.token_hex(6)}", name=call.name, arguments=call.arguments or "{}")
            for call in self._calls
            if call.name
        )
        return Reply(
            text=self.text,
            tool_calls=calls,
            finish_reason=self.finish_reason,
            replay=self._replay,
            usage=self._usage,
        )

    def _say(self, text: str) -> None:
        if text:
            self._give(self._thinking.feed(text))

    def _give(self, text: str) -> None:
        if not text:
            return
        self.text += text
        if self._on_text is not None:
            self._on_text(text)

    def _reason(self, part: Mapping[str, Any]) -> None:
        for name in _REASONING:
            if isinstance(part.get(name), str) and part[name]:
                self._replay[name] = self._replay.get(name, "") + part[name]
        if isinstance(part.get("reasoning_details"), list) and part["reasoning_details"]:
            self._replay.setdefault("reasoning_details", []).extend(part["reasoning_details"])

    def _call(self, part: Mapping[str, Any]) -> None:
        fragments = part.get("tool_calls") or ()
        if not fragments and isinstance(part.get("function_call"), Mapping):  # the protocol's first form
            fragments = ({"index": 0, "function": part["function_call"]},)
        for place, fragment in enumerate(fragments):
            self._grow(self._slot(fragment, place), fragment)

    def _slot(self, fragment: Mapping[str, Any], place: int) -> _Call:
        """The call a fragment belongs to: by index; a second id at one index is another call."""
        index = fragment.get("index")
        index = index if isinstance(index, int) else place
        call = self._by_index.get(index)
        given = fragment.get("id")
        if call is None or (given and call.id and given != call.id):
            call = _Call()
            self._calls.append(call)
            self._by_index[index] = call
        return call

    @staticmethod
    def _grow(call: _Call, fragment: Mapping[str, Any]) -> None:
        call.id = call.id or str(fragment.get("id") or "")
        function = fragment.get("function") or {}
        name = str(function.get("name") or "")
        if name != call.name:  # some servers repeat the whole name in every fragment
            call.name += name
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            call.arguments += arguments
        elif arguments is not None:  # an object, where the protocol wants its text
            call.arguments += json.dumps(arguments, ensure_ascii=False)


def parse(data: str) -> dict[str, Any]:
    """The JSON object of one event.

    Raises:
        ModelAnswerBroken: it is none.
    """
    try:
        chunk = json.loads(data)
    except ValueError as error:
        raise ModelAnswerBroken(f"the model's endpoint sent what is no JSON: {data[:200]!r}") from error
    if not isinstance(chunk, dict):
        raise ModelAnswerBroken(f"the model's endpoint sent {type(chunk).__name__}, not an object: {data[:200]!r}")
    return chunk


def _text_of(content: Any) -> str:
    """The text of a content that may come as a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _usage(given: Any) -> TokenUsage | None:
    if not isinstance(given, Mapping):
        return None
    return TokenUsage(
        input_tokens=_count(given.get("prompt_tokens")),
        output_tokens=_count(given.get("completion_tokens")),
        cache_read_tokens=_count(_inside(given, "prompt_tokens_details", "cached_tokens")),
        reasoning_tokens=_count(_inside(given, "completion_tokens_details", "reasoning_tokens")),
    )


def _inside(given: Mapping[str, Any], outer: str, inner: str) -> Any:
    details = given.get(outer)
    return details.get(inner) if isinstance(details, Mapping) else None


def _count(value: Any) -> int:
    return max(int(value), 0) if isinstance(value, (int, float)) else 0
