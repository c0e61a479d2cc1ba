"""What the commands about providers share: a provider by its name, and making it the one in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.config import change_config
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_state.commands.invocation import Invocation
    from memory.signatures import Adapted


def loaded(invocation: Invocation, name: str) -> Adapted:
    """A provider by its name, its contract proved.

    Raises:
        ProviderUnavailable, ContractBroken: it can't be used, and why.
    """
    from memory.discovery import Discovery
    from memory.manager.loading import load_in_time
    from memory.signatures import Adapted

    home = invocation.home_path()
    deadline_s = MemorySettings.load(home).initialize_timeout_s
    adapted = Adapted(load_in_time(Discovery(home), name, home=home, deadline_s=deadline_s))
    adapted.check()
    return adapted


def put_in_use(invocation: Invocation, providers: Mapping[str, Adapted]) -> int:
    """Make external providers the configured ones; none: built-in memory alone.

    Calls that were set aside for them are tried again by whoever starts them next; returns how many those are.

    Args:
        providers: by the names that the configuration knows them by.
    """
    home, names = invocation.home_path(), list(providers)
    had_several = bool(MemorySettings.load(home).providers)  # a file that can't be read is not changed either
    change_config(home, ("memory", "provider"), names[0] if names else "")
    if len(names) > 1 or had_several:
        change_config(home, ("memory", "providers"), names if len(names) > 1 else [])
    if not names or not invocation.may_have_store:
        return 0
    from memory.manager.outbox import revive

    with invocation.open_store() as db:
        return sum(revive(db.engine, provider.name) for provider in providers.values())
