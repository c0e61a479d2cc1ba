"""Any endpoint that speaks OpenAI's chat completions over HTTP: hosted ones, OpenRouter, vLLM, Ollama, llama.cpp."""

from __future__ import annotations

import json
import random
import socket
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hermes_state.errors import InvalidValue, MissingExtra
from memory.agent.failures import (
    ModelAborted,
    ModelAnswerBroken,
    ModelFault,
    ModelRefused,
    ModelUnreachable,
)
from memory.agent.model.assembly import Assembly, parse
from memory.agent.model.refusals import refusal
from memory.agent.model.sse import events

if TYPE_CHECKING:
    from memory.agent.model.records import ApiMessage, Reply, TextSink

try:
    import httpx
except ImportError as error:
    raise MissingExtra("talking to a model over HTTP", "agent") from error

DONE = "[DONE]"
# Fields that some endpoints want and others refuse; one that is refused by name is not sent to that endpoint again.
_OPTIONAL = ("stream_options", "reasoning_content", "reasoning_details", "reasoning")


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """How long to wait, in seconds, and how often to ask again.

    Attributes:
        connect_s: for a connection.
        read_s: between two pieces of an answer; a slow model on a laptop thinks for minutes before the first.
        retries: further attempts after the first, while nothing of the answer was shown.
        backoff_s: the wait before the first of them; it doubles, with a jitter of a half, up to `max_backoff_s`.
    """

    connect_s: float = 10.0
    read_s: float = 300.0
    retries: int = 4
    backoff_s: float = 1.0
    max_backoff_s: float = 30.0

    def backoff(self, attempt: int) -> float:
        """Seconds to wait after the failed attempt number `attempt`, counted from 0."""
        full: float = min(self.backoff_s * 2.0**attempt, self.max_backoff_s)
        return full * random.uniform(0.5, 1.0)  # noqa: S311  jitter, no secret


class OpenAIModel:
    """A chat model behind an OpenAI-compatible endpoint.

    Args:
        name: the model, as the endpoint calls it.
        base_url: where the endpoint is; `/v1` is added to a bare host.
        api_key: sent as a bearer token; None: none is sent, as local servers like it.
        headers: more headers, e.g. those that OpenRouter ranks applications by.
        options: more fields of the request, e.g. `{"temperature": 0.2}`.
        on_wait: is told why, and for how long, before the endpoint is asked again.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        patience: Patience | None = None,
        on_wait: Callable[[str], object] = lambda _words: None,
    ) -> None:
        self.name = name
        self.base_url = endpoint(base_url)
        self._patience = patience or Patience()
        self._on_wait = on_wait
        self._options = dict(options or {})
        self._refused: set[str] = set()
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._aborts = threading.Condition()
        self._abort_count = 0
        authorization = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.Client(
            headers=authorization | {"Accept": "text/event-stream, application/json"} | dict(headers or {}),
            timeout=httpx.Timeout(self._patience.read_s, connect=self._patience.connect_s),
        )

    def complete(
        self,
        messages: Sequence[ApiMessage],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        on_text: TextSink | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """See `Model.complete`. Asks again while the endpoint is busy or away and nothing was shown yet."""
        body: dict[str, Any] = {"model": self.name, "messages": list(messages), "stream": True, **self._options}
        if tools:
            body["tools"] = list(tools)
        if max_tokens is not None:
            body["max_tokens"] = max_tokens
        attempt, aborts = 0, self._abort_count
        while True:
            assembly = Assembly(on_text)
            try:
                return self._attempt(body, assembly, aborts)
            except ModelFault as failure:
                if not failure.retryable or assembly.has_spoken or attempt >= self._patience.retries:
                    raise
                pause_s = failure.retry_after_s or self._patience.backoff(attempt)
                self._on_wait(f"{failure.message}; asking again in {pause_s:.0f} s")
                self._wait(pause_s, aborts)
                attempt += 1

    def abort(self) -> None:
        """See `Model.abort`. Sockets are shut down, which wakes a thread that waits for the endpoint."""
        with self._aborts:
            self._abort_count += 1
            self._aborts.notify_all()
        for connected in list(self._sockets):
            with suppress(OSError):  # the other side was quicker
                connected.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """See `Model.close`."""
        self._client.close()

    # --- one attempt --------------------------------------------------------------------------------------------

    def _attempt(self, body: dict[str, Any], assembly: Assembly, aborts: int) -> Reply:
        try:
            with self._translated(aborts), self._post(self._accepted(body)) as response:
                self._read(response, assembly, aborts)
        except ModelRefused as refused:
            named = next((name for name in _OPTIONAL if name in refused.message and name not in self._refused), None)
            if named is None:
                raise
            self._refused.add(named)
            return self._attempt(body, assembly, aborts)
        return assembly.reply()

    def _accepted(self, body: dict[str, Any]) -> dict[str, Any]:
        """The request without what this endpoint refused before."""
        if "stream_options" not in self._refused:
            body = body | {"stream_options": {"include_usage": True}}
        messages = [{k: v for k, v in message.items() if k not in self._refused} for message in body["messages"]]
        return body | {"messages": messages}

    @contextmanager
    def _post(self, body: dict[str, Any]) -> Iterator[httpx.Response]:
        url = f"{self.base_url}/chat/completions"
        with self._client.stream("POST", url, json=body, extensions={"trace": self._trace}) as response:
            if response.status_code != 200:
                response.read()
                raise refusal(
                    response.status_code,
                    response.text,
                    retry_after=response.headers.get("Retry-After"),
                    model=self.name,
                    url=url,
                )
            yield response

    def _read(self, response: httpx.Response, assembly: Assembly, aborts: int) -> None:
        if "json" in response.headers.get("Content-Type", ""):  # it does not stream
            response.read()
            self._take(parse(response.text), assembly)
            return
        for data in events(response.iter_bytes()):
            self._check(aborts)
            if data.strip() == DONE:
                return
            self._take(parse(data), assembly)
        if not assembly.is_final:
            raise ModelAnswerBroken(
                f"{self.base_url} ended the stream before the answer was complete", hint="ask again"
            )

    def _take(self, chunk: dict[str, Any], assembly: Assembly) -> None:
        """One chunk; an error can come inside a stream that began with 200."""
        error = chunk.get("error")
        if error and not chunk.get("choices"):
            code = str(error.get("code")) if isinstance(error, Mapping) else ""
            status = int(code) if code.isdecimal() else 500
            raise refusal(status, json.dumps({"error": error}, ensure_ascii=False), url=self.base_url)
        assembly.add(chunk)

    @contextmanager
    def _translated(self, aborts: int) -> Iterator[None]:
        """Errors of the transport become ours; an aborted call says so, whatever the broken socket looked like."""
        try:
            yield
        except httpx.TimeoutException as error:
            self._check(aborts)
            raise ModelUnreachable(
                f"{self.base_url} did not answer in time ({type(error).__name__})",
                hint="the model may still be loading; try again, or raise the time-out",
            ) from error
        except httpx.TransportError as error:
            self._check(aborts)
            hint = f"is a server running at {self.base_url}? `--base-url` names another one"
            raise ModelUnreachable(
                f"{self.base_url} can't be reached: {error or type(error).__name__}", hint=hint
            ) from error
        except ModelFault:
            self._check(aborts)
            raise

    # --- ending calls -------------------------------------------------------------------------------------------

    def _trace(self, event: str, info: dict[str, Any]) -> None:
        """Remember the sockets that are connected, so that `abort` can wake who waits on one."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            connected = info["return_value"].get_extra_info("socket")
            if isinstance(connected, socket.socket):
                self._sockets.add(connected)

    def _check(self, aborts: int) -> None:
        if self._abort_count != aborts:
            raise ModelAborted("the call to the model was ended")

    def _wait(self, seconds: float, aborts: int) -> None:
        with self._aborts:
            self._aborts.wait_for(lambda: self._abort_count != aborts, timeout=seconds)
        self._check(aborts)


def endpoint(base_url: str) -> str:
    """A base URL in its usual form: with a scheme, a path such as `/v1`, and no `/chat/completions` at the end.

    Raises:
        InvalidValue: it is no HTTP URL.
    """
    trimmed = base_url.strip().rstrip("/").removesuffix("/chat/completions")
    try:
        parts = urlsplit(trimmed)
        is_http = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_http = False
    if not is_http:
        raise InvalidValue(
            f"{base_url!r} is no HTTP URL of a model's endpoint", hint="give one like http://localhost:11434/v1"
        )
    return trimmed if parts.path else f"{trimmed}/v1"


__all__ = ["OpenAIModel", "Patience", "endpoint"]
