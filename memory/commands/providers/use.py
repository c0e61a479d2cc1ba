"""`memory use`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands.command import command
from hermes_state.commands.wording import count, listed
from memory.commands.plugin_output import plugin_output_on_stderr
from memory.commands.providers.choosing import loaded, put_in_use
from memory.provider import is_core_memory_provider
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation
    from memory.signatures import Adapted

_OFF = "off"


@command(
    "use",
    examples=(
        "hermes-state memory use holographic",
        "hermes-state memory use off",
        "hermes-state memory use holographic nyx   # both at once, their recall fused",
    ),
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def use(invocation: Invocation, names: tuple[str, ...]) -> None:
    """Choose the external memory provider.

    `off` leaves the built-in memory alone. The provider is loaded and its contract proved before config.yaml is
    changed; comments in the file stay.
    """
    chosen = [name for name in dict.fromkeys(names) if name != _OFF and not is_core_memory_provider(name)]
    if chosen and len(chosen) < len(dict.fromkeys(names)):
        raise click.UsageError(f"{_OFF} and a provider exclude each other; nothing was changed")
    with plugin_output_on_stderr():
        providers = {name: loaded(invocation, name) for name in chosen}
    revived = put_in_use(invocation, providers)
    if invocation.json:
        invocation.document({"providers": chosen, "revived": revived})
    else:
        invocation.say(f"in use: {listed(['builtin', *chosen])}")
    if revived:
        invocation.note(f"{count(revived, 'call')} that had been set aside will be tried again")
    for name, provider in providers.items():
        _say_if_away(invocation, name, provider)


def _say_if_away(invocation: Invocation, name: str, provider: Adapted) -> None:
    from memory.manager.loading import away_because

    home = invocation.home_path()
    with plugin_output_on_stderr():
        why = away_because(provider, home=home, deadline_s=MemorySettings.load(home).hook_timeout_s)
    if why:
        invocation.note(f"{name} is not available yet: {why}; `hermes-state memory setup {name}` asks what it needs")
