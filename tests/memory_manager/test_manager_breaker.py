"""The breaker: opens after failures in a row, tries once after its cool-down, closes on success (B094)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from recording import Recorder

from memory.manager.breaker import Breaker
from memory.manager.latency import KEPT, Latencies

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory.manager import MemoryManager

    Manage = Callable[..., MemoryManager]


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_it_opens_waits_tries_once_and_closes() -> None:
    """The whole cycle."""
    clock = Clock()
    breaker = Breaker(failures=2, cooldown_s=10, clock=clock)
    breaker.failed()
    assert breaker.allows()
    breaker.failed()
    assert (breaker.state, breaker.allows(), breaker.retry_in_s) == ("open", False, 10)
    clock.now += 10
    assert (breaker.state, breaker.retry_in_s) == ("half_open", 0)
    assert [breaker.allows(), breaker.allows()] == [True, False]
    breaker.failed()
    assert breaker.state == "open"
    clock.now += 10
    assert breaker.allows()
    breaker.withdrawn()
    assert breaker.allows()
    breaker.succeeded()
    assert (breaker.state, breaker.failures) == ("closed", 0)


class Cycles(RuleBasedStateMachine):
    """Any order of calls and waits."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.breaker = Breaker(failures=3, cooldown_s=5, clock=self.clock)

    @rule(seconds=st.floats(0, 10))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule(is_good=st.booleans())
    def call(self, is_good: bool) -> None:
        if self.breaker.allows():
            assert self.breaker.retry_in_s == 0
            (self.breaker.succeeded if is_good else self.breaker.failed)()

    @invariant()
    def open_only_after_failures(self) -> None:
        assert (self.breaker.state == "closed") == (self.breaker.failures < 3)


TestCycles = Cycles.TestCase
TestCycles.settings = settings(max_examples=30, stateful_step_count=20)


def test_a_provider_that_is_back_is_recalled_from_again(manage: Manage) -> None:
    """Failing it is left alone, and the status says until when; after the cool-down one call tries."""
    answers: list[Any] = [ConnectionError("down"), ConnectionError("down"), "- back"]

    def act(**_: Any) -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    provider = Recorder("p", prefetch=act)
    manager = manage(provider, breaker_failures=2, breaker_cooldown_s=3600, durable=False)
    for _ in range(4):
        assert manager.prefetch("q") == ""
    assert len(provider.of("prefetch")) == 2
    status = manager.status().providers[0]
    assert status.breaker["asking"] == "open"
    assert "not asked for" in status.reason
    assert "ConnectionError" in status.reason
    manager._roster.slots[0].asking._cooldown_s = 0.0
    assert manager.prefetch("q") == "- back"
    assert manager.status().providers[0].breaker["asking"] == "closed"


def test_percentiles_are_of_the_newest_calls() -> None:
    """By nearest rank, and all calls are counted."""
    latencies = Latencies()
    for n in range(KEPT + 100):
        latencies.record("prefetch", 9.0 if n < 100 else (n - 99) / 1000)
    found = latencies.summary()["prefetch"]
    assert found.calls == KEPT + 100
    assert round(found.p50_ms) == KEPT // 2
    assert round(found.p95_ms) == 244  # ceil(0.95 * 256)
    assert round(found.max_ms) == KEPT
    latencies.record("once", 0.5)
    assert latencies.summary()["once"].p50_ms == latencies.summary()["once"].p95_ms == 500


class Legacy:
    """As providers were written before sessions had ids: derives from nothing, takes what it takes."""

    name = "legacy"

    def __init__(self) -> None:
        self.turns: list[tuple[str, str]] = []
        self.writes: list[tuple[str, str, str]] = []

    def is_available(self) -> bool:
        return True

    def initialize(self, session_id: str) -> None: ...

    def get_tool_schemas(self) -> list[Any]:
        return []

    def prefetch(self, user_message: str) -> str:
        return f"- {user_message}"

    def sync_turn(self, user: str, assistant: str) -> None:
        self.turns.append((user, assistant))

    def on_memory_write(self, action: str, target: str, content: str) -> None:
        self.writes.append((action, target, content))


def test_a_provider_with_old_signatures_gets_every_turn(manage: Manage) -> None:
    """B089: and the one beside it as well."""
    old, new = Legacy(), Recorder("new")
    manager = manage(old, new, providers=("legacy", "new"), durable=False)
    assert "茶" in manager.prefetch("茶?")
    manager.sync_turn("u", "a", session_id="s1", messages=[{"role": "user", "content": "u"}])
    manager.on_memory_write("add", "user", "likes tea", {"session_id": "s1"})
    manager.on_session_end([])
    manager.on_session_switch("s2", reset=True)
    assert manager.flush(20)
    assert old.turns == [("u", "a")]
    assert old.writes == [("add", "user", "likes tea")]
    assert len(new.of("sync_turn")) == 1
    assert manager.status().works
