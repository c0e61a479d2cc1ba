"""Looking at providers without using them: nothing is told, and only what is asked for is started."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memory.manager.slot import BUILTIN

if TYPE_CHECKING:
    from memory.manager import ManagerStatus, MemoryManager, ProviderStatus

# The session that a provider is started for when somebody only looks.
SESSION = "inspection"


def inspect(manager: MemoryManager, *, start: bool) -> ManagerStatus:
    """How the providers of a manager are, as far as that can be seen without a conversation.

    Args:
        start: also call `initialize`, as an agent would.
    """
    if start:
        manager.initialize(SESSION, platform="cli", agent_context="primary")
        return manager.status()
    found = manager.status()
    return replace(found, providers=tuple(_asked(manager, status) for status in found.providers))


def _asked(manager: MemoryManager, status: ProviderStatus) -> ProviderStatus:
    """A provider that was not started: whether it says that it is available."""
    if status.state != "new" or status.name == BUILTIN:
        return status
    available, reason = manager.ask_available(status.name)
    return status if available else replace(status, state="unavailable", reason=reason)
