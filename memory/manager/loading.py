"""Loading a provider runs its code, and so does asking it: on a thread of its own, for a bounded time.

Signals reach the main thread. It only waits here, so a plug-in that hangs can be ended, and can't take the signal for a
fault of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from memory.errors import ProviderUnavailable
from memory.host.home_scope import home_scope
from memory.manager.caller import BoundedCaller, Overdue, unwrapped
from memory.manager.health import describe

if TYPE_CHECKING:
    from pathlib import Path

    from memory.signatures import Adapted


class ProviderSource(Protocol):
    """Where configured providers come from: `memory.discovery.Discovery`, or a test's own."""

    def load(self, name: str) -> object:
        """The provider of that name; raises when there is none or it can't be loaded."""


def load_in_time(source: ProviderSource, name: str, *, home: Path, deadline_s: float) -> object:
    """The provider of that name.

    Args:
        home: the agent's home, for what asks where that is.
        deadline_s: seconds that importing and making it may take.

    Raises:
        ProviderUnavailable: it did not come to an end in time.
        Exception: what the source raises.
    """
    caller = BoundedCaller(f"memory-load-{name}", idle_s=0.0)
    try:
        with home_scope(home):  # calls carry the context of whoever makes them
            return caller.call("load", lambda: source.load(name), deadline_s=deadline_s)
    except Overdue as error:
        raise ProviderUnavailable(
            name,
            f"to import and make it takes more than {deadline_s:g} s",
            hint="it should wait for nothing before `initialize`; memory.initialize_timeout_s gives it longer",
        ) from error


def away_because(provider: Adapted, *, home: Path, deadline_s: float) -> str:
    """Why a provider that was not started is not available; empty when it is.

    Args:
        deadline_s: seconds each answer may take.
    """
    caller = BoundedCaller("memory-asking", idle_s=0.0)
    try:
        with home_scope(home):
            if caller.call("is_available", provider.is_available, deadline_s=deadline_s):
                return ""
            why: str = caller.call("unavailable_reason", provider.unavailable_reason, deadline_s=deadline_s)
    except Exception as error:  # noqa: BLE001  a plug-in may raise anything; what is no Exception comes wrapped
        return describe(unwrapped(error))
    return why or "it does not say why"
