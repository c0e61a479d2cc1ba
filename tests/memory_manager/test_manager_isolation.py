"""Whatever a provider does, a turn goes on, and what happened can be seen."""

from __future__ import annotations

import gc
import json
import logging
import subprocess
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from recording import Recorder

from memory.errors import ContractBroken, ProviderFailed
from memory.manager import MemoryManager

if TYPE_CHECKING:
    from collections.abc import Callable

    Manage = Callable[..., MemoryManager]


@pytest.fixture
def manage(manage: Manage) -> Manage:
    """Without a store: what is told is not the matter here."""
    return partial(manage, durable=False)


HOOKS = [
    "system_prompt_block",
    "on_turn_start",
    "prefetch",
    "recall_status",
    "sync_turn",
    "queue_prefetch",
    "handle_tool_call",
    "on_memory_write",
    "on_pre_compress",
    "on_session_end",
    "on_session_switch",
    "on_delegation",
    "shutdown",
]


def raiser(error: BaseException) -> Callable[..., Any]:
    def act(**_: Any) -> Any:
        raise error

    return act


def whole_turn(manager: MemoryManager) -> list[Any]:
    """Every hook once, as a turn and a session would call them."""
    seen: list[Any] = [manager.system_prompt()]
    manager.on_turn_start(1, "你好")
    seen.append(manager.prefetch("你好", session_id="s1"))
    seen.append(manager.describe_recall())
    manager.sync_turn("你好", "こんにちは", session_id="s1", messages=[{"role": "user", "content": "你好"}])
    manager.queue_prefetch("你好", session_id="s1")
    seen.append(manager.handle_tool_call("bad_find", {"q": 1}))
    manager.on_memory_write("add", "memory", "x", {})
    seen.append(manager.on_pre_compress([{"role": "user", "content": "x"}]))
    manager.on_delegation("task", "result", child_session_id="c")
    manager.on_session_end([{"role": "user", "content": "x"}])
    manager.on_session_switch("s2", reset=True)
    manager.flush(20)
    return seen


@pytest.mark.parametrize("error", [RuntimeError("boom"), SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_that_raises_costs_nothing_but_itself(manage: Manage, hook: str, error: BaseException) -> None:
    """The other provider gets the whole turn, and the record names hook and error."""
    bad, good = Recorder("bad", **{hook: raiser(error)}), Recorder("good", prefetch=lambda **_: "- likes tea")
    manager = manage(bad, good, providers=("bad", "good"))
    seen = whole_turn(manager)
    assert "likes tea" in seen[1]
    assert [call[0] for call in good.of("sync_turn", "on_session_end", "on_session_switch")] == [
        "sync_turn",
        "on_session_end",
        "on_session_switch",
    ]
    json.loads(seen[3])
    report = manager.shutdown(1.0)
    status = manager.status().providers[0]
    assert status.name == "bad"
    assert status.failures >= 1
    if hook == "shutdown":
        assert report.failed.keys() == {"bad"}
    else:
        assert status.last_error.startswith(hook)
        assert type(error).__name__ in status.last_error


@pytest.mark.parametrize(
    "junk",
    [None, b"bytes", 17, ["a"], {"a": 1}, "x" * 10_000_000, "lone \ud800 surrogate", "nul \0", object(), float("nan")],
    ids=["none", "bytes", "int", "list", "dict", "10 MB", "surrogate", "nul", "object", "nan"],
)
@pytest.mark.parametrize("hook", ["prefetch", "system_prompt_block", "on_pre_compress", "handle_tool_call"])
def test_junk_is_made_harmless(manage: Manage, hook: str, junk: object) -> None:
    """Whatever comes back, the agent gets text that it can send, and tools give JSON."""
    manager = manage(Recorder("bad", **{hook: lambda **_: junk}))
    for text in whole_turn(manager):
        assert isinstance(text, str)
        text.encode()
        assert "\0" not in text
        assert len(text) <= 200_000
    json.loads(manager.handle_tool_call("bad_find", {}), parse_constant=pytest.fail)


def test_a_hanging_prefetch_costs_its_deadline_once(manage: Manage, released: threading.Event) -> None:
    """The quick provider's recall is there, and the second turn starts no second stuck call (B083)."""
    slow = Recorder("slow", prefetch=lambda **_: released.wait(20) and "- too late")
    quick = Recorder("quick", prefetch=lambda **_: "- likes tea")
    manager = manage(slow, quick, providers=("slow", "quick"), breaker_failures=10, prefetch_timeout_s=0.5)
    assert "likes tea" in manager.prefetch("tea?", session_id="s1")
    assert "likes tea" in manager.prefetch("tea again?", session_id="s1")
    assert len(slow.of("prefetch")) == 1
    status = manager.status().providers[0]
    assert (status.failures, status.busy[0].hook) == (1, "prefetch")
    assert "no answer within 0.5 s" in status.last_error


def test_after_a_stuck_call_has_come_back_recall_works_again(manage: Manage) -> None:
    """B083's third call; and what came late is given once, to a turn that has nothing newer."""
    gate = threading.Event()
    answers = iter(["- the first", "- the second"])

    def act(**_: Any) -> str:
        gate.wait(20)
        return next(answers)

    slow = Recorder("slow", prefetch=act)
    manager = manage(slow, breaker_failures=10, prefetch_timeout_s=0.5)
    assert manager.prefetch("one", session_id="s1") == ""
    gate.set()
    while manager.status().providers[0].busy:
        threading.Event().wait(0.005)
    assert manager.prefetch("two", session_id="s1") == "- the second"


def test_what_comes_late_never_crosses_sessions(manage: Manage) -> None:
    """A result for the old session is not given to the new one, nor to the old one when it is resumed."""
    gate, done = threading.Event(), threading.Event()

    def act(query: str, **_: Any) -> str:
        if query == "one":
            gate.wait(20)
            done.set()
            return "- secret of s1"
        raise RuntimeError("nothing newer")

    slow = Recorder("slow", prefetch=act)
    manager = manage(slow, breaker_failures=10, prefetch_timeout_s=0.5)
    assert manager.prefetch("one", session_id="s1") == ""
    manager.on_session_switch("s2", reset=True)
    gate.set()
    assert done.wait(20)
    while manager.status().providers[0].busy:
        threading.Event().wait(0.005)
    assert manager.prefetch("two", session_id="s2") == ""


def test_what_comes_late_serves_the_next_turn_of_its_session(manage: Manage) -> None:
    """A provider that is always slower than the deadline still contributes, one turn later."""
    gate = threading.Event()
    turns: list[str] = []

    def act(query: str, **_: Any) -> str:
        turns.append(query)
        if len(turns) == 1:
            gate.wait(20)
            return "- the oven is gas"
        raise RuntimeError("down")

    manager = manage(Recorder("slow", prefetch=act), breaker_failures=10, prefetch_timeout_s=0.5)
    assert manager.prefetch("clean the oven", session_id="s1") == ""
    gate.set()
    while manager.status().providers[0].busy:
        threading.Event().wait(0.005)
    assert manager.prefetch("and then?", session_id="s1") == "- the oven is gas"
    assert manager.prefetch("and then?", session_id="s1") == ""


@pytest.mark.parametrize("hook", ["system_prompt_block", "on_turn_start", "initialize", "is_available"])
def test_a_hook_that_hangs_in_front_is_given_up(manage: Manage, released: threading.Event, hook: str) -> None:
    """The turn goes on without the provider."""
    short = {"initialize_timeout_s": 0.1, "hook_timeout_s": 0.1, "prefetch_timeout_s": 0.1}
    manager = manage(Recorder("bad", **{hook: lambda **_: released.wait(20)}), **short)
    whole_turn(manager)
    assert manager.status().providers[0].busy[0].hook == hook


def test_a_late_start_is_used_when_it_comes(manage: Manage) -> None:
    """Until then its tools are offered, and what it is told waits."""
    gate = threading.Event()
    late = Recorder("late", initialize=lambda **_: gate.wait(20))
    manager = manage(late, initialize_timeout_s=0.05)
    assert manager.status().providers[0].state == "starting"
    manager.sync_turn("u", "a", session_id="s1")
    gate.set()
    late.wait_for("sync_turn")
    assert manager.status().providers[0].state == "ready"


def test_a_failed_start_withdraws_the_tools_and_says_why(manage: Manage, caplog: pytest.LogCaptureFixture) -> None:
    """The peer leaves them exposed; a call would answer nonsense."""
    with caplog.at_level(logging.WARNING):
        manager = manage(Recorder("bad", initialize=raiser(SystemExit("no manifest"))))
    assert manager.tool_schemas() == []
    assert "no manifest" in json.loads(manager.handle_tool_call("bad_find", {}))["error"]
    assert manager.prefetch("x") == ""
    status = manager.status()
    assert not status.works
    assert status.providers[0].state == "failed"
    assert "no manifest" in status.providers[0].reason
    assert "bad" in caplog.text
    assert "no manifest" in caplog.text


def test_registration_that_fails_changes_nothing(manage: Manage) -> None:
    """The peer is polluted afterwards: no other provider can be registered (its fault #9948)."""

    class NoSchemas(Recorder):
        def get_tool_schemas(self) -> list[Any]:
            raise SystemExit(1)

    class Nameless(Recorder):
        name = ""  # type: ignore[assignment]

    manager = manage()
    with pytest.raises(ProviderFailed, match="SystemExit"):
        manager.add_provider(NoSchemas("bad"))
    with pytest.raises(ContractBroken):
        manager.add_provider(object())
    with pytest.raises(ContractBroken):
        manager.add_provider(Nameless())
    assert manager.add_provider(Recorder("good"))
    assert [status.name for status in manager.status().providers] == ["good"]


def test_one_external_provider_unless_several_are_configured(manage: Manage) -> None:
    """The caller can tell, and the warning names both."""
    manager = manage(Recorder("one"))
    assert manager.add_provider(Recorder("two")) is False
    assert "'two'" in manager.status().warnings[0]
    assert "'one'" in manager.status().warnings[0]
    assert manage(Recorder("one"), providers=("one", "two")).add_provider(Recorder("two")) is True


def test_after_failures_in_a_row_there_is_one_notice(manage: Manage) -> None:
    """B095: the turn works, the user hears once, the status has error, times and count."""
    heard: list[str] = []
    bad = Recorder("bad", sync_turn=raiser(ConnectionError("refused")))
    manager = manage(bad, notify=heard.append, breaker_failures=100, delivery_attempts=100)
    for n in range(5):
        manager.sync_turn(f"u{n}", "a", session_id="s1")
        manager.flush(20)
    assert len(heard) == 1
    assert "bad" in heard[0]
    assert "refused" in heard[0]
    status = manager.status().providers[0]
    assert "ConnectionError: refused" in status.last_error
    assert status.failures >= 3
    assert status.failures_in_row >= 3
    assert status.last_error_at is not None
    assert status.last_success_at is not None  # `initialize` went well


def test_notices_wait_for_whoever_asks(manage: Manage) -> None:
    """Without a listener they are kept, each once."""
    manager = manage(Recorder("bad", is_available=lambda **_: False, unavailable_reason=lambda **_: "no key"))
    notices = manager.notices()
    assert len(notices) == 1
    assert "no key" in notices[0]
    assert manager.notices() == []


def test_a_listener_that_fails_hurts_nobody(manage: Manage) -> None:
    """The surface may be gone."""
    manager = manage(Recorder("bad", is_available=lambda **_: False), notify=raiser(ValueError("closed")))
    assert manager.status().providers[0].state == "unavailable"


def test_a_process_ends_while_a_provider_hangs() -> None:
    """Stuck threads are daemons (B083)."""
    code = """
import sys, threading
sys.path.insert(0, "tests/memory_manager")
from recording import Recorder
from memory.manager import MemoryManager
from memory.settings import MemorySettings
forever = threading.Event().wait
provider = Recorder("stuck", prefetch=lambda **_: forever(), sync_turn=lambda **_: forever())
manager = MemoryManager(settings=MemorySettings(prefetch_timeout_s=0.05))
manager.add_provider(provider)
manager.initialize("s1")
manager.prefetch("x")
manager.sync_turn("u", "a")
report = manager.shutdown(0.2)
print(report.drained, report.lost, sorted(report.stuck))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split("\n")[0] == "False {'stuck': 1} ['stuck']"


def test_a_persons_ctrl_c_is_not_swallowed(manage: Manage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the provider's own is."""
    manager = manage(Recorder("slow", prefetch=lambda **_: "x"))

    def interrupted(*_: Any) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("memory.manager.caller.Call.result", interrupted)
        with pytest.raises(KeyboardInterrupt):
            manager.prefetch("x")


def test_hooks_stay_on_their_two_threads(manage: Manage) -> None:
    """Providers open connections in `initialize` that only work on its thread, and others on that of `sync_turn`."""
    front, lane = set(), set()
    provider = Recorder(
        "p",
        **{
            hook: lambda **_: front.add(threading.get_ident())
            for hook in ("initialize", "prefetch", "handle_tool_call")
        },
        **{hook: lambda **_: lane.add(threading.get_ident()) for hook in ("sync_turn", "on_session_end")},
    )
    manager = manage(provider)
    for n in range(3):
        manager.prefetch("q")
        manager.handle_tool_call("p_find", {})
        manager.sync_turn(f"u{n}", "a")
        assert manager.flush(20)
    manager.on_session_end([])
    assert manager.flush(20)
    assert len(front) == len(lane) == 1
    assert front != lane


def test_a_manager_that_nobody_shut_down_leaves_no_thread() -> None:
    """Its front thread ends with it."""
    manager = MemoryManager()
    manager.add_provider(Recorder("forgotten"))
    manager.initialize("s1")
    del manager
    gc.collect()
    for thread in threading.enumerate():
        if thread.name == "memory-forgotten":
            thread.join(20)
            assert not thread.is_alive()
