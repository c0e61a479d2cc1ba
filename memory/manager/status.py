"""What a manager tells of itself: how each provider is doing, and what an end left behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from memory.manager.breaker import BreakerState
    from memory.manager.caller import Busy
    from memory.manager.latency import Latency
    from memory.provider import RecallStatus

# new: registered. starting: `initialize` has not come back. ready. unavailable: not found, not loadable, or it says so
# itself. failed: `initialize` raised. stopped: shut down.
ProviderState = Literal["new", "starting", "ready", "unavailable", "failed", "stopped"]


@dataclass(frozen=True, kw_only=True, slots=True)
class LastRecall:
    """The last prefetch that came back with something.

    Attributes:
        at: when.
        count: memories, as the provider counts; below 0: it does not count.
        characters: length of its text.
    """

    at: datetime
    count: int
    characters: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ProviderStatus:
    """How one provider is doing.

    Attributes:
        name: the provider's own name, or the configured one while there is no provider.
        configured_as: the name in the configuration; empty for one that was registered by code.
        is_builtin: it is the built-in memory.
        state, reason: whether it works, and why not.
        breaker: whether it is left alone: for what it is told, and for what it is asked.
        latency: by hook.
        calls, failures: since the manager was made.
        failures_in_row: the longest run of failures of a hook that has not ended.
        queue: calls that wait in this process; `in_outbox` and `set_aside` are those written down, by any process.
        dropped: calls that were lost because nothing could write them down.
        busy: the calls that are running, in the lane and in front.
        tools: names that the model can call.
        last_recall: what the last prefetch brought.
        last_error, last_error_at, last_success_at: the newest of each; empty or None when there was none.
    """

    name: str
    configured_as: str = ""
    is_builtin: bool = False
    state: ProviderState
    reason: str = ""
    breaker: Mapping[str, BreakerState] = field(default_factory=dict)
    latency: Mapping[str, Latency] = field(default_factory=dict)
    calls: int = 0
    failures: int = 0
    failures_in_row: int = 0
    queue: int = 0
    in_outbox: int = 0
    set_aside: int = 0
    dropped: int = 0
    busy: tuple[Busy, ...] = ()
    tools: tuple[str, ...] = ()
    last_recall: LastRecall | None = None
    last_error: str = ""
    last_error_at: datetime | None = None
    last_success_at: datetime | None = None

    @property
    def works(self) -> bool:
        """Whether it does what it is there for."""
        return self.state in ("ready", "new", "starting") and "open" not in self.breaker.values()


@dataclass(frozen=True, kw_only=True, slots=True)
class ManagerStatus:
    """How the memory of an agent is doing.

    Attributes:
        providers: the built-in one first, then the external ones, those that could not be loaded included.
        session_id: the session that is being remembered.
        is_durable: whether what providers are still to be told survives this process.
        warnings: what else a person should know: configuration, refused tools.
    """

    providers: tuple[ProviderStatus, ...]
    session_id: str = ""
    is_durable: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        """Whether every provider does."""
        return all(provider.works for provider in self.providers)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShutdownReport:
    """How an end went.

    Attributes:
        drained: every provider was told everything.
        in_outbox: calls by provider that were not told and will be when it is started next.
        lost: calls by provider that were not told and are gone, because there is no store.
        stuck: hooks by provider that had not come back.
        failed: why a provider's own `shutdown` did not end well.
        duration_s: how long it took.
    """

    drained: bool
    in_outbox: Mapping[str, int]
    lost: Mapping[str, int]
    stuck: Mapping[str, str]
    failed: Mapping[str, str]
    duration_s: float


def describe_recall(statuses: list[RecallStatus]) -> str:
    """The line a person sees, e.g. `🧠 Holographic — recalled 3 memories`; empty when nothing was recalled."""
    return "  ".join(
        f"{status.glyph} {status.provider_label} — recalled {_amount(status.count)}"
        for status in statuses
        if status.count
    )


def _amount(count: int) -> str:
    if count < 0:
        return "relevant memory"
    return "1 memory" if count == 1 else f"{count} memories"
