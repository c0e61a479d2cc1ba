"""Every signature seen in the wild is called as it can be; what can't be called is refused before anything changes."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.calls import Hook, NoFit, Shape
from memory.errors import ContractBroken, ToolNotHandled
from memory.provider import MemoryProvider, RecallStatus, is_core_memory_provider
from memory.signatures import Adapted

TURN = {
    "session_id": "s1",
    "messages": [{"role": "user", "content": "烤箱"}],
    "turn_author": {"id": "u", "name": "李", "is_bot": False},
    "turn_id": "t1",
}


class Minimal(MemoryProvider):
    """What a subclass has to write and nothing more."""

    @property
    def name(self) -> str:
        return "minimal"

    def is_available(self) -> bool:
        return True

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        self.begun = (session_id, kwargs)

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return []


class Duck:
    """No subclass, no optional hook."""

    name = "duck"

    def is_available(self) -> bool:
        return True

    def initialize(self, session_id: str) -> None:
        self.begun = session_id

    def get_tool_schemas(self) -> tuple[dict[str, Any], ...]:
        return ({"name": "quack"},)


def duck(**members: Any) -> Any:
    return type("Odd", (Duck,), members)()


def recorder(signature: str, *, result: str = "None") -> Any:
    """A function with that signature that keeps its arguments in `calls`."""
    names = [p.strip().split("=")[0] for p in signature.split(",")]
    kept = ", ".join(f"{n.lstrip('*')!r}: {n.lstrip('*')}" for n in names if n not in {"*", "/"})
    space: dict[str, Any] = {"calls": []}
    exec(
        f"def hook({signature}):\n    calls.append({{{kept}}})\n    return {result}", space
    )  # the signature is the test
    space["hook"].calls = space["calls"]
    return space["hook"]


@pytest.mark.parametrize(
    ("signature", "taken"),
    [
        ("u, a", set()),
        ("user_content, assistant_content, session_id", {"session_id"}),
        ("u, a, *, session_id=''", {"session_id"}),
        ("u, a, *, session_id='', messages=None", {"session_id", "messages"}),
        ("u, a, *, session_id='', messages=None, turn_author=None", {"session_id", "messages", "turn_author"}),
        ("u, a, *, session_id='', turn_id=''", {"session_id", "turn_id"}),
        ("u, a, metadata=None, session_id='', messages=None", {"session_id", "messages"}),
        ("u, a, *, messages", {"messages"}),
    ],
)
def test_a_turn_reaches_every_signature_seen(signature: str, taken: set[str]) -> None:
    hook = recorder(signature)
    provider = Adapted(duck(sync_turn=staticmethod(hook)))
    provider.check()
    provider.sync_turn("问", "答", **TURN)
    (call,) = hook.calls
    assert list(call.values())[:2] == ["问", "答"]
    assert {name: call[name] for name in taken} == {name: TURN[name] for name in taken}
    assert not call.get("metadata")


def test_keywords_of_every_kind_reach_a_signature_that_takes_them_all() -> None:
    hook = recorder("*args, **kw")
    Adapted(duck(sync_turn=staticmethod(hook))).sync_turn("u", "a", **TURN)
    assert hook.calls == [{"args": ("u", "a"), "kw": TURN}]


def test_what_came_later_and_says_nothing_is_not_passed() -> None:
    hook = recorder("u, a, **kw")
    Adapted(duck(sync_turn=staticmethod(hook))).sync_turn("u", "a", session_id="")
    assert hook.calls[0]["kw"] == {"session_id": ""}


@pytest.mark.parametrize(
    ("signature", "metadata"),
    [
        ("action, target, content", None),
        ("action, target, content, metadata=None", {"old_text": "x"}),
        ("action, target, content, **kw", {"old_text": "x"}),
        ("action, target, content, meta", {"old_text": "x"}),
        ("action, target, content, meta, /", {"old_text": "x"}),
    ],
)
def test_metadata_goes_by_name_by_position_or_nowhere(signature: str, metadata: dict[str, str] | None) -> None:
    hook = recorder(signature)
    provider = Adapted(duck(on_memory_write=staticmethod(hook)))
    provider.on_memory_write("add", "user", "喜欢茶", {"old_text": "x"})
    (call,) = hook.calls
    assert [call["action"], call["target"], call["content"]] == ["add", "user", "喜欢茶"]
    assert call.get("metadata", call.get("meta", call.get("kw", {}).get("metadata"))) == metadata


def test_the_first_argument_of_prefetch_may_have_any_name() -> None:
    hook = recorder("user_message, session_id=''", result="'recalled'")
    assert Adapted(duck(prefetch=staticmethod(hook))).prefetch("q", session_id="s") == "recalled"
    assert hook.calls == [{"user_message": "q", "session_id": "s"}]


def test_a_switch_tells_of_a_rewind_only_when_there_is_one() -> None:
    hook = recorder("new, parent_session_id='', reset=False")
    provider = Adapted(duck(on_session_switch=staticmethod(hook)))
    provider.on_session_switch("s2", parent_session_id="s1", reset=True, rewound=True, reason="branch")
    assert hook.calls == [{"new": "s2", "parent_session_id": "s1", "reset": True}]

    newer = recorder("new, **kw")
    provider = Adapted(duck(on_session_switch=staticmethod(newer)))
    provider.on_session_switch("s2")
    provider.on_session_switch("s2", rewound=True, reason="rewind")
    silent = {"parent_session_id": "", "reset": False}
    assert [c["kw"] for c in newer.calls] == [silent, {**silent, "rewound": True, "reason": "rewind"}]


@pytest.mark.parametrize(
    ("version", "signature", "passed"),
    [
        (1, "messages, **kw", False),
        (2, "messages, **kw", True),
        (2, "messages, *, require_checkpoint=False", True),
        (2, "messages", False),
        ("2", "messages, **kw", True),
        ("two", "messages, **kw", False),
        (None, "messages, **kw", False),
        (float("inf"), "messages, **kw", False),
    ],
)
def test_strictness_is_told_to_version_two_where_it_is_taken(version: object, signature: str, passed: bool) -> None:
    hook = recorder(signature)
    provider = Adapted(duck(on_pre_compress=staticmethod(hook), pre_compress_checkpoint_api_version=version))
    assert provider.on_pre_compress([], require_checkpoint=True) == ""
    told = hook.calls[0].get("require_checkpoint", hook.calls[0].get("kw", {}).get("require_checkpoint"))
    assert told is (True if passed else None)


def test_initialize_goes_all_by_name_and_drops_what_is_not_taken() -> None:
    plain = duck()
    Adapted(plain).initialize("s1", hermes_home="/h", platform="cli")
    assert plain.begun == "s1"
    subclass = Minimal()
    Adapted(subclass).initialize("s1", hermes_home="/h")
    assert subclass.begun == ("s1", {"hermes_home": "/h"})
    hook = recorder("sid, **kw")
    Adapted(duck(initialize=staticmethod(hook))).initialize("s1", platform="cli")
    assert hook.calls == [{"sid": "s1", "kw": {"platform": "cli"}}]


def test_a_fact_that_is_demanded_and_not_known_is_none() -> None:
    hook = recorder("session_id, hermes_home, user_id")
    provider = Adapted(duck(initialize=staticmethod(hook)))
    provider.check()
    provider.initialize("s1", hermes_home="/h", platform="cli")
    assert hook.calls == [{"session_id": "s1", "hermes_home": "/h", "user_id": None}]


@pytest.mark.parametrize("provider", [Minimal(), Duck()])
def test_an_absent_hook_does_nothing(provider: Any) -> None:
    adapted = Adapted(provider)
    adapted.check()
    adapted.on_turn_start(1, "hi", author_id="u")
    adapted.queue_prefetch("q", session_id="s")
    adapted.on_memory_write("add", "user", "x", {})
    adapted.on_session_end([])
    adapted.on_delegation("task", "result", child_session_id="c")
    adapted.save_config({}, "/h")
    adapted.shutdown()
    assert [adapted.prefetch("q"), adapted.system_prompt_block(), adapted.on_pre_compress([])] == ["", "", ""]
    assert [adapted.unavailable_reason(), adapted.identity_signature(), adapted.recall_status()] == ["", "", None]
    assert [adapted.backup_paths(), adapted.get_config_schema(), adapted.get_status_config({"a": 1})] == [
        [],
        [],
        {"a": 1},
    ]
    assert not adapted.initialize_for_inspection("s")
    assert not adapted.post_setup("/h", {})
    assert adapted.checkpoint_api_version == 1
    with pytest.raises(ToolNotHandled):
        adapted.handle_tool_call("zzz", {})
    with pytest.raises(NotImplementedError):  # what providers written for older hosts catch
        Minimal().handle_tool_call("zzz", {})


def test_a_hook_counts_as_implemented_only_if_it_is_not_the_default() -> None:
    class Recalls(Minimal):
        def prefetch(self, query: str, *, session_id: str = "") -> str:
            return query

    assert Adapted(Recalls()).implements("prefetch")
    assert not Adapted(Recalls()).implements("sync_turn")
    assert not Adapted(Minimal()).implements("prefetch")
    assert not Adapted(Duck()).implements("prefetch")


async def _async_sync(self: Any, u: str, a: str) -> None: ...


@pytest.mark.parametrize(
    ("members", "wanted", "found"),
    [
        (
            {"sync_turn": lambda self, u: None},
            "sync_turn(user_content, assistant_content",
            "takes no 'assistant_content'",
        ),
        ({"sync_turn": lambda self, u, a, tenant: None}, "turn_id", "demands tenant"),
        ({"prefetch": "text"}, "prefetch(query", "str 'text'"),
        ({"sync_turn": _async_sync}, "sync_turn(", "async"),
        ({"initialize": None}, "is_available, initialize", "no initialize"),
        ({"name": ""}, "name: a text", "''"),
        ({"name": property(lambda self: 1 / 0)}, "name: a text", "ZeroDivisionError"),
    ],
)
def test_a_broken_contract_names_plugin_wanted_and_found(members: dict[str, Any], wanted: str, found: str) -> None:
    provider = duck(**members)
    with pytest.raises(ContractBroken) as refusal:
        Adapted(provider).check()
    assert refusal.value.plugin in {"duck", "Odd"}
    assert wanted in refusal.value.wanted
    assert found in refusal.value.found
    assert "wanted" in refusal.value.message
    assert "found" in refusal.value.message


def test_all_faults_are_told_at_once() -> None:
    provider = duck(sync_turn=lambda self: None, prefetch=lambda self: None)
    with pytest.raises(ContractBroken, match="prefetch") as refusal:
        Adapted(provider).check()
    assert "sync_turn" in refusal.value.hint


def test_a_class_in_the_place_of_an_instance_is_refused() -> None:
    with pytest.raises(ContractBroken, match="an instance; found a class"):
        Adapted(Duck).check()


@pytest.mark.parametrize("hook", ["prefetch", "get_tool_schemas"])
def test_a_result_of_the_wrong_type_is_told(hook: str) -> None:
    provider = Adapted(duck(**{hook: lambda self, *a, **kw: 42}))
    with pytest.raises(ContractBroken, match="int 42"):
        provider.prefetch("q") if hook == "prefetch" else provider.get_tool_schemas()


def test_a_recall_status_of_the_plugins_own_class_is_read() -> None:
    class Own:
        provider_label, count, glyph = "Nyx", 3, "🌙"

    assert Adapted(duck(recall_status=lambda self: Own())).recall_status() == RecallStatus("Nyx", 3, "🌙")
    with pytest.raises(ContractBroken):
        Adapted(duck(recall_status=lambda self: "many")).recall_status()


def test_errors_come_through() -> None:
    def fails(self: Any, query: str, *, session_id: str = "") -> str:
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        Adapted(duck(prefetch=fails)).prefetch("q")


def test_a_method_that_is_replaced_is_looked_at_again() -> None:
    provider = Duck()
    adapted = Adapted(provider)
    adapted.initialize("a", platform="cli")
    seen: dict[str, Any] = {}
    provider.initialize = lambda session_id, **kw: seen.update(kw, session_id=session_id)  # type: ignore[method-assign]
    adapted.initialize("b", platform="cli")
    assert seen == {"session_id": "b", "platform": "cli"}


@pytest.mark.parametrize("name", [None, "", " ", "default", "Builtin", "built-in", "NONE"])
def test_names_that_mean_no_external_provider(name: str | None) -> None:
    assert is_core_memory_provider(name)
    assert not is_core_memory_provider("holographic")


@given(
    kinds=st.lists(st.sampled_from(["given", "given_default", "named", "named_default"]), max_size=6),
    args=st.booleans(),
    kwargs=st.booleans(),
)
def test_a_fit_can_always_be_called(kinds: list[str], args: bool, kwargs: bool) -> None:
    """Whatever the signature: the call that is built binds to it, or the fit says why not."""
    names = ["first", "second", "session_id", "messages", "other", "another"]
    parameter = inspect.Parameter
    parameters = []
    for kind, name in zip(kinds, names, strict=False):
        place = parameter.POSITIONAL_OR_KEYWORD if kind.startswith("given") else parameter.KEYWORD_ONLY
        default = None if kind.endswith("default") else parameter.empty
        parameters.append(parameter(name, place, default=default))
    if args:
        parameters.append(parameter("rest", parameter.VAR_POSITIONAL))
    if kwargs:
        parameters.append(parameter("more", parameter.VAR_KEYWORD))
    parameters.sort(key=lambda p: (p.kind, p.default is not parameter.empty))
    signature = inspect.Signature(parameters)

    def function(*a: Any, **kw: Any) -> None: ...

    function.__signature__ = signature  # type: ignore[attr-defined]
    hook = Hook("hook", ("u", "a"), ("session_id",), ("messages",))
    try:
        given_args, given_kwargs = Shape.of(function).fit(hook, [1, 2], {"session_id": "", "messages": None})
    except NoFit:
        return
    signature.bind(*given_args, **given_kwargs)
    assert {1, 2} <= {*given_args, *given_kwargs.values()}
