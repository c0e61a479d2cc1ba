"""Tools of providers: names, schemas, answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recording import Recorder

from memory.manager import normalize_tool_schema
from memory.manager.answers import TOOL_RESULT_MAX_CHARS, tool_result

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory.manager import MemoryManager

    Manage = Callable[..., MemoryManager]


class Builtin(Recorder):
    """Has the name and the tool of the built-in memory."""

    def __init__(self, **acts: Any) -> None:
        super().__init__("builtin", **acts)
        self.schemas = [{"name": "memory", "description": "built-in", "parameters": {"type": "object"}}]


def test_a_providers_tool_never_takes_the_place_of_a_built_in_one(manage: Manage) -> None:
    """B100: `memory` stays built-in, is listed once, and there is a warning."""
    other = Recorder("other")
    other.schemas = [{"name": "fact_x"}, {"name": "memory"}, {"name": "fact_x"}]
    builtin = Builtin(handle_tool_call=lambda **_: '{"from": "builtin"}')
    manager = manage(builtin, other)
    assert sorted(schema["name"] for schema in manager.tool_schemas()) == ["fact_x", "memory"]
    assert json.loads(manager.handle_tool_call("memory", {})) == {"from": "builtin"}
    assert json.loads(manager.handle_tool_call("fact_x", {"q": "茶"})) == {"ok": True}
    assert "'memory'" in manager.status().warnings[0]
    assert "zzz" in json.loads(manager.handle_tool_call("zzz", {}))["error"]


def test_an_agent_without_the_toolset_has_no_tool_of_any_memory(manage: Manage) -> None:
    """B161: neither the built-in memory's nor a provider's is offered, and a call is refused and runs nothing."""
    ran: list[str] = []
    builtin, other = (Builtin(handle_tool_call=lambda **_: ran.append("builtin")), Recorder("other"))
    other.schemas = [{"name": "fact_x"}]
    manager = manage(builtin, other, disabled_toolsets=("web", "memory"))
    assert (manager.tool_schemas(), manager.has_tool("fact_x"), manager.has_tool("memory")) == ([], False, False)
    for name in ("fact_x", "memory"):
        assert "disabled_toolsets" in json.loads(manager.handle_tool_call(name, {"action": "add"}))["error"]
    assert ran == []
    assert not any(call[0] == "handle_tool_call" for call in other.calls)
    assert manage(Builtin(), disabled_toolsets=("web",)).has_tool("memory")


@pytest.mark.parametrize("args", ["add", 7, 1.5, [["action", "add"]], ["x"], b"x", True])
def test_arguments_that_are_no_object_are_answered_and_no_failure_of_the_provider(manage: Manage, args: Any) -> None:
    manager = manage(Builtin())
    assert "object" in json.loads(manager.handle_tool_call("memory", args))["error"]
    assert manager.status().providers[0].failures == 0


def test_the_first_of_two_providers_has_the_name(manage: Manage) -> None:
    """Built-in memory is first even if it is registered last."""
    one, two = (
        Recorder("one", handle_tool_call=lambda **_: '"one"'),
        Recorder("two", handle_tool_call=lambda **_: '"two"'),
    )
    one.schemas = two.schemas = [{"name": "find", "parameters": {"type": "object", "properties": {}}}]
    manager = manage(one, two, providers=("one", "two"))
    assert json.loads(manager.handle_tool_call("find", {})) == "one"
    assert manager.add_provider(Builtin())
    assert manager.status().providers[0].is_builtin


@pytest.mark.parametrize(
    "schema",
    [None, "name", {}, {"name": ""}, {"name": 3}, {"type": "function"}, {"type": "function", "function": {"x": 1}}, []],
)
def test_a_nameless_schema_is_never_offered(manage: Manage, schema: Any) -> None:
    """Strict APIs refuse the whole request for it (#47707)."""
    assert normalize_tool_schema(schema) is None
    provider = Recorder()
    provider.schemas = [schema, {"type": "function", "function": {"name": "good"}}]
    manager = manage(provider)
    assert [tool["name"] for tool in manager.tool_schemas()] == ["good"]
    assert manager.tool_schemas()[0]["parameters"] == {"type": "object", "properties": {}}
    assert manager.status().warnings


@pytest.mark.parametrize("name", ["with blank", "工具", "x" * 65, "dot.dot"])
def test_a_name_that_no_api_takes_is_never_offered(manage: Manage, name: str) -> None:
    """It would cost the whole request."""
    provider = Recorder()
    provider.schemas = [{"name": name}]
    assert manage(provider).tool_schemas() == []


def test_schemas_are_copies(manage: Manage) -> None:
    """Whoever changes one changes only that."""
    manager = manage(Recorder("p"))
    manager.tool_schemas()[0]["name"] = "mine"
    assert manager.has_tool("p_find")
    assert manager.tool_schemas()[0]["name"] == "p_find"


def test_a_tool_that_raises_answers_with_an_error(manage: Manage) -> None:
    """As JSON, with what happened."""
    manager = manage(Recorder("p", handle_tool_call=lambda **_: 1 / 0))
    assert "division" in json.loads(manager.handle_tool_call("p_find", None))["error"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"a": "茶"}', {"a": "茶"}),
        ("plain text", {"result": "plain text"}),
        ("", {"result": ""}),
        ("NaN", {"result": "NaN"}),
        (b"bytes", {"result": "bytes"}),
        (None, {"result": None}),
        ({"a": 1}, {"a": 1}),
        ([1, "二"], [1, "二"]),
        (7, {"result": 7}),
    ],
)
def test_any_answer_becomes_json(answer: object, expected: object) -> None:
    """JSON stays, everything else is put into it."""
    assert json.loads(tool_result(answer)) == expected


def test_a_huge_answer_is_cut_and_says_so() -> None:
    """The model's context is not the provider's."""
    found = json.loads(tool_result("x" * 10_000_000))
    assert found["truncated"] is True
    assert found["characters"] == 10_000_000
    assert len(found["result"]) == TOOL_RESULT_MAX_CHARS


@given(
    st.one_of(
        st.text(),
        st.binary(),
        st.floats(),
        st.dictionaries(st.integers() | st.text(), st.floats() | st.text()),
        st.lists(st.text(st.characters(categories=["Cs", "L"]))),
    )
)
def test_every_answer_is_strict_json(answer: object) -> None:
    """That any API can take: encodable, without NaN."""
    text = tool_result(answer)
    text.encode()
    json.loads(text, parse_constant=pytest.fail)
