"""`memory facts`: the facts of holographic memory."""

from __future__ import annotations

import click

from hermes_state.commands.command import Group

_HERE = "memory.commands.facts"


@click.group(
    "facts",
    cls=Group,
    lazy={
        "stats": f"{_HERE}.stats:stats_command",
        "list": f"{_HERE}.reading:list_command",
        "search": f"{_HERE}.reading:search_command",
        "about": f"{_HERE}.reading:about_command",
        "contradictions": f"{_HERE}.reading:contradictions_command",
        "add": f"{_HERE}.changes:add_command",
        "import": f"{_HERE}.changes:import_command",
        "rebuild": f"{_HERE}.changes:rebuild_command",
    },
    examples=(
        'hermes-state memory facts add "Dana maintains the redis cluster"',
        'hermes-state memory facts search "who maintains redis?"',
        "hermes-state memory facts stats",
    ),
)
def facts() -> None:
    """The facts of holographic memory.

    See, search, add and import them.
    """
