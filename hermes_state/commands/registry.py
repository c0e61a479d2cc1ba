"""Which commands there are: ours, and those of other packages through the entry-point group."""

from __future__ import annotations

import os
from importlib import import_module

import click

from hermes_state import entry_points
from hermes_state.errors import HermesStateError

GROUP = "hermes_state.commands"
# Comma-separated names of the other packages' commands to offer; empty: none. Unset: all.
CHOICE_VARIABLE = "HERMES_STATE_COMMANDS"
OURS = {
    name: f"hermes_state.commands.{place}"
    for name, place in {
        "search": "search:search",
        "sessions": "sessions:sessions",
        "import": "imports:import_group",
        "db": "db:db",
        "copy": "copying:copy_command",
        "doctor": "doctor:doctor",
        "backup": "backup.backup:backup_command",
        "restore": "backup.restore:restore_command",
        "verify": "backup.verify:verify_command",
        "list": "backup.listing:list_command",
        "show": "backup.show:show_command",
        "extract": "backup.extract:extract_command",
        "diff": "backup.diff:diff_command",
        "pack": "backup.pack:pack_command",
        "unpack": "backup.unpack:unpack_command",
        "repo": "repo:repo",
        "completion": "completion:completion",
    }.items()
}


class CommandBroken(HermesStateError):
    """Another package's command can't be loaded; says where it is and what happened."""

    def __init__(self, place: str, reason: BaseException) -> None:
        super().__init__(
            f"the command at {place} can't be loaded: {type(reason).__name__}: {reason}",
            hint="upgrade or uninstall the package that brings it",
        )


def load(place: str) -> click.Command:
    """The command of ours at `module:attribute`."""
    module, _, attribute = place.partition(":")
    found = getattr(import_module(module), attribute)
    if not isinstance(found, click.Command):
        raise TypeError(f"{place} is {type(found).__name__}, not a click command")
    return found


def load_other(name: str, place: str) -> click.Command:
    """The command of another package; one that can't be loaded still stands in the help and says why when run."""
    try:
        return load(place)
    except Exception as error:  # noqa: BLE001  a plug-in may raise anything; the reason is kept and reported
        return _broken(name, CommandBroken(place, error))


def _broken(name: str, error: CommandBroken) -> click.Command:
    def fail() -> None:
        raise error

    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, callback=fail, context_settings=settings, help=f"({error.message})")


def others() -> dict[str, str]:
    """Commands of other packages: name to place. A name of ours is never replaced."""
    chosen = os.environ.get(CHOICE_VARIABLE)
    wanted = None if chosen is None else {name.strip() for name in chosen.split(",")}
    advertised = dict(reversed(entry_points.of_group(GROUP)))  # the first of a name counts
    return {
        name: place
        for name, place in sorted(advertised.items())
        if name not in OURS and (wanted is None or name in wanted)
    }
