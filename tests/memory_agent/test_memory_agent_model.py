"""The client of chat completion endpoints: every shape they stream in, every way they fail."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import DONE, Endpoint, Scene, calls, delta, event, refuses, says
from hypothesis import given
from hypothesis import strategies as st

from hermes_state.errors import InvalidValue
from memory.agent.failures import (
    ContextTooLong,
    ModelAborted,
    ModelAnswerBroken,
    ModelOverloaded,
    ModelRefused,
    ModelUnreachable,
)
from memory.agent.model.assembly import Assembly
from memory.agent.model.openai import OpenAIModel, Patience
from memory.agent.model.openai import endpoint as normalised
from memory.agent.model.refusals import wait_of
from memory.agent.model.sse import events
from memory.agent.model.thinking import ThinkingSplitter

if TYPE_CHECKING:
    from collections.abc import Iterator

HELLO = [{"role": "user", "content": "你好"}]
QUICK = Patience(connect_s=5, read_s=5, retries=3, backoff_s=0.001)


@pytest.fixture
def model(endpoint: Endpoint) -> Iterator[OpenAIModel]:
    made = OpenAIModel("m-1", base_url=endpoint.url, api_key="k-test", patience=QUICK)
    yield made
    made.close()


def test_text_streams_in_pieces_and_usage_is_counted(endpoint: Endpoint, model: OpenAIModel) -> None:
    endpoint.will(says("Grüße, 世界 👋🏽", prompt_tokens=11))
    pieces: list[str] = []
    reply = model.complete(HELLO, on_text=pieces.append)
    assert reply.text == "".join(pieces) == "Grüße, 世界 👋🏽"
    assert len(pieces) > 1
    assert reply.finish_reason == "stop"
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 3)
    assert endpoint.asked[0]["messages"] == HELLO
    assert endpoint.asked[0]["stream"] is True
    assert endpoint.headers[0]["Authorization"] == "Bearer k-test"


def test_tool_calls_come_in_fragments(endpoint: Endpoint, model: OpenAIModel) -> None:
    endpoint.will(calls("memory", action="add", content="喝茶"))
    reply = model.complete(HELLO, tools=[{"type": "function", "function": {"name": "memory"}}])
    (call,) = reply.tool_calls
    assert (call.id, call.name) == ("call_a", "memory")
    assert json.loads(call.arguments) == {"action": "add", "content": "喝茶"}
    assert endpoint.asked[0]["tools"][0]["function"]["name"] == "memory"


def chunks_of(*parts: dict[str, Any]) -> Assembly:
    assembly = Assembly()
    for part in parts:
        assembly.add({"choices": [{"delta": part}]})
    return assembly


def test_several_calls_by_index() -> None:
    reply = chunks_of(
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "x", "arguments": '{"n"'}}]},
        {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "y", "arguments": "{}"}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]},
    ).reply()
    assert [(call.id, call.name, call.arguments) for call in reply.tool_calls] == [
        ("a", "x", '{"n":1}'),
        ("b", "y", "{}"),
    ]


def test_two_calls_with_one_index_are_two_calls() -> None:
    whole = [{"index": 0, "id": i, "function": {"name": "x", "arguments": "{}"}} for i in ("a", "b")]
    assert [call.id for call in chunks_of(*({"tool_calls": [part]} for part in whole)).reply().tool_calls] == ["a", "b"]


def test_arguments_as_an_object_without_id_or_index() -> None:
    """Ollama's shape."""
    reply = chunks_of({"tool_calls": [{"function": {"name": "x", "arguments": {"q": "茶"}}}]}).reply()
    (call,) = reply.tool_calls
    assert json.loads(call.arguments) == {"q": "茶"}
    assert call.id.startswith("call_")


def test_a_name_repeated_in_every_fragment_is_said_once() -> None:
    parts = [{"index": 0, "id": "a", "function": {"name": "find", "arguments": part}} for part in ('{"a":', "1}")]
    (call,) = chunks_of(*({"tool_calls": [part]} for part in parts)).reply().tool_calls
    assert (call.name, call.arguments) == ("find", '{"a":1}')


def test_a_nameless_call_is_none_and_no_arguments_are_an_empty_object() -> None:
    reply = chunks_of(
        {"tool_calls": [{"index": 0, "id": "a", "function": {"arguments": "{}"}}]},
        {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "now", "arguments": ""}}]},
    ).reply()
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("now", "{}")]


def test_the_first_protocol_s_function_call() -> None:
    reply = chunks_of(
        {"function_call": {"name": "now", "arguments": ""}}, {"function_call": {"arguments": "{}"}}
    ).reply()
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("now", "{}")]


def test_reasoning_is_kept_apart_and_goes_back_verbatim() -> None:
    detail = {"type": "reasoning.text", "text": "hm"}
    reply = chunks_of(
        {"reasoning": "let ", "reasoning_details": [detail]}, {"reasoning": "me see"}, {"content": "4"}
    ).reply()
    assert reply.text == "4"
    assert reply.replay == {"reasoning": "let me see", "reasoning_details": [detail]}


def test_content_may_be_parts_or_null() -> None:
    assert chunks_of({"content": None}, {"content": [{"type": "text", "text": "ja"}]}).reply().text == "ja"


def test_an_endpoint_that_does_not_stream(endpoint: Endpoint, model: OpenAIModel) -> None:
    body = {"choices": [{"message": {"role": "assistant", "content": "whole"}, "finish_reason": "stop"}]}
    endpoint.will(Scene(chunks=(json.dumps(body).encode(),), headers={"Content-Type": "application/json"}))
    assert model.complete(HELLO).text == "whole"


def test_comments_and_a_missing_end_mark(endpoint: Endpoint, model: OpenAIModel) -> None:
    """OpenRouter keeps the connection alive with comments; some servers forget `[DONE]` or the last blank line."""
    last = b'data: {"choices": [{"delta": {"content": "!"}, "finish_reason": "stop"}]}'
    endpoint.will(Scene(chunks=(b": OPENROUTER PROCESSING\n\n", delta(content="hi"), last)))
    assert model.complete(HELLO).text == "hi!"


def test_a_server_that_knows_no_stream_options(endpoint: Endpoint, model: OpenAIModel) -> None:
    endpoint.will(refuses(400, "Unrecognized request argument: stream_options"), says("fine"), says("again"))
    assert model.complete(HELLO).text == "fine"
    model.complete(HELLO)
    assert ["stream_options" in asked for asked in endpoint.asked] == [True, False, False]


def test_fields_that_an_endpoint_refuses_are_not_sent_again(endpoint: Endpoint, model: OpenAIModel) -> None:
    endpoint.will(refuses(400, "messages.1: property 'reasoning_content' is unsupported"), says("fine"), says("again"))
    history = [*HELLO, {"role": "assistant", "content": "hi", "reasoning_content": "hm"}, *HELLO]
    assert model.complete(history).text == "fine"
    assert model.complete(history).text == "again"
    assert ["reasoning_content" in asked["messages"][1] for asked in endpoint.asked] == [True, False, False]


# --- failing ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_a_busy_endpoint_is_asked_again(endpoint: Endpoint, model: OpenAIModel, status: int) -> None:
    endpoint.will(refuses(status, "later", **{"Retry-After": "0"}), says("now"))
    assert model.complete(HELLO).text == "now"


def test_a_wait_is_told(endpoint: Endpoint) -> None:
    told: list[str] = []
    model = OpenAIModel("m", base_url=endpoint.url, patience=QUICK, on_wait=told.append)
    endpoint.will(refuses(503, "loading model"), says("now"))
    model.complete(HELLO)
    model.close()
    assert len(told) == 1
    assert "loading model; asking again in 0 s" in told[0]


def test_it_gives_up_in_the_end(endpoint: Endpoint, model: OpenAIModel) -> None:
    endpoint.otherwise = refuses(503, "loading model")
    with pytest.raises(ModelOverloaded, match="loading model") as caught:
        model.complete(HELLO)
    assert caught.value.retryable
    assert len(endpoint.asked) == 4


@pytest.mark.parametrize(
    ("status", "message", "kind", "hint"),
    [
        (401, "invalid key", ModelRefused, "API key"),
        (404, "model not found", ModelRefused, "m-1"),
        (400, "This model's maximum context length is 8192 tokens", ContextTooLong, "compress"),
        (429, "insufficient_quota", ModelRefused, "credit"),
        (402, "Insufficient credits", ModelRefused, "credit"),
        (422, "bad field", ModelRefused, "does not take"),
    ],
)
def test_a_refusal_is_not_asked_again(
    endpoint: Endpoint, model: OpenAIModel, status: int, message: str, kind: type[ModelRefused], hint: str
) -> None:
    endpoint.otherwise = refuses(status, message)
    with pytest.raises(kind, match=message) as caught:
        model.complete(HELLO)
    assert hint in caught.value.hint
    assert len(endpoint.asked) == 1


def test_an_error_inside_the_stream(endpoint: Endpoint, model: OpenAIModel) -> None:
    endpoint.will(Scene(chunks=(event({"error": {"code": 502, "message": "upstream died"}}),)), says("second try"))
    assert model.complete(HELLO).text == "second try"


def test_once_something_was_shown_it_is_not_said_twice(endpoint: Endpoint, model: OpenAIModel) -> None:
    endpoint.will(Scene(chunks=(delta(content="half an ans"),), cut=True))
    pieces: list[str] = []
    with pytest.raises(ModelUnreachable):
        model.complete(HELLO, on_text=pieces.append)
    assert "".join(pieces) == "half an ans"
    assert len(endpoint.asked) == 1


def test_a_connection_that_breaks_before_the_first_word_is_made_again(endpoint: Endpoint, model: OpenAIModel) -> None:
    endpoint.will(Scene(chunks=(b": wait\n\n",), cut=True), says("there"))
    assert model.complete(HELLO).text == "there"


def test_a_stream_that_ends_early_is_no_answer(endpoint: Endpoint, model: OpenAIModel) -> None:
    endpoint.will(Scene(chunks=(delta(content="unfin"),)))
    with pytest.raises(ModelAnswerBroken, match="before the answer was complete"):
        model.complete(HELLO)


def test_what_is_no_json_is_said(endpoint: Endpoint) -> None:
    model = OpenAIModel("m", base_url=endpoint.url, patience=Patience(retries=0))
    endpoint.will(Scene(chunks=(b"data: <html>gateway</html>\n\n", DONE)))
    with pytest.raises(ModelAnswerBroken, match="gateway"):
        model.complete(HELLO)
    model.close()


def test_nobody_listens() -> None:
    model = OpenAIModel("m", base_url="http://127.0.0.1:9", patience=Patience(retries=1, backoff_s=0.001))
    with pytest.raises(ModelUnreachable) as caught:
        model.complete(HELLO)
    assert "--base-url" in caught.value.hint
    model.close()


def test_a_silent_endpoint_times_out(endpoint: Endpoint) -> None:
    model = OpenAIModel("m", base_url=endpoint.url, patience=Patience(read_s=0.05, retries=0))
    hold = threading.Event()
    endpoint.will(Scene(chunks=(b": hm\n\n", DONE), hold=hold))
    with pytest.raises(ModelUnreachable, match="in time"):
        model.complete(HELLO)
    hold.set()
    model.close()


def test_abort_wakes_a_call_that_waits(endpoint: Endpoint, model: OpenAIModel) -> None:
    begun, hold, ended = threading.Event(), threading.Event(), []
    endpoint.will(Scene(chunks=(delta(content="thinking"), DONE), begun=begun, hold=hold))

    def ask() -> None:
        try:
            model.complete(HELLO)
        except ModelAborted as error:
            ended.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert begun.wait(5)
    model.abort()
    thread.join(4)
    hold.set()
    assert len(ended) == 1
    endpoint.will(says("still works"))
    assert model.complete(HELLO).text == "still works"


# --- parsers ----------------------------------------------------------------------------------------------------


@given(st.lists(st.text(min_size=1).filter(lambda t: not set(t) & set("\r\n")), max_size=5), st.data())
def test_events_survive_any_chunking(texts: list[str], data: st.DataObject) -> None:
    end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    body = "".join(f": c{end}data: {text}{end}{end}" for text in texts).encode("utf-8", "surrogatepass")
    try:
        body.decode()
    except UnicodeDecodeError:
        return
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert list(events(pieces)) == texts


@given(st.text(), st.text(), st.lists(st.integers(1, 5)))
def test_thinking_is_told_from_text_whatever_the_pieces(thought: str, answer: str, sizes: list[int]) -> None:
    if "</think>" in thought or answer.startswith("\n"):
        return
    splitter, shown, rest = ThinkingSplitter(), "", f"<think>{thought}</think>{answer}"
    for size in sizes:
        shown, rest = shown + splitter.feed(rest[:size]), rest[size:]
    shown += splitter.feed(rest) + splitter.flush()
    assert (shown, splitter.reasoning) == (answer, thought)


@given(st.text(), st.integers(1, 7))
def test_other_text_passes_the_splitter_unchanged(text: str, size: int) -> None:
    if text.lstrip().startswith("<think>"):
        return
    splitter = ThinkingSplitter()
    assert "".join(splitter.feed(text[i : i + size]) for i in range(0, len(text), size)) + splitter.flush() == text


@pytest.mark.parametrize(
    ("given_url", "wanted"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("http://localhost:11434/", "http://localhost:11434/v1"),
        ("https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1"),
        ("https://x.example/v1/chat/completions", "https://x.example/v1"),
    ],
)
def test_base_urls_take_their_usual_form(given_url: str, wanted: str) -> None:
    assert normalised(given_url) == wanted


@pytest.mark.parametrize("bad", ["", "localhost:11434", "ftp://x", "http://", "http://[bad"])
def test_what_is_no_url_is_refused(bad: str) -> None:
    with pytest.raises(InvalidValue, match="URL"):
        normalised(bad)


@pytest.mark.parametrize(("header", "seconds"), [(None, None), ("3", 3.0), ("soon", None), ("-2", 0.0), ("1e9", 120.0)])
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert wait_of(header) == seconds
    assert wait_of("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
