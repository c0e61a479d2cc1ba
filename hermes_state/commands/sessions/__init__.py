"""The commands about sessions: one module each."""

from __future__ import annotations

import click

from hermes_state.commands.command import Group

_HERE = "hermes_state.commands.sessions"


@click.group(
    "sessions",
    cls=Group,
    lazy={
        "list": f"{_HERE}.listing:list_command",
        "show": f"{_HERE}.show:show",
        "resume": f"{_HERE}.resume:resume",
        "stats": f"{_HERE}.stats:stats",
        "export": f"{_HERE}.export:export",
        "import": f"{_HERE}.importing:import_command",
        "rename": f"{_HERE}.changes:rename",
        "archive": f"{_HERE}.changes:archive",
        "unarchive": f"{_HERE}.changes:unarchive",
        "tag": f"{_HERE}.changes:tag",
        "untag": f"{_HERE}.changes:untag",
        "delete": f"{_HERE}.delete:delete",
        "prune": f"{_HERE}.prune:prune",
    },
    examples=(
        "hermes-state sessions list --source telegram --after 1w",
        'hermes-state sessions show "redis deploy"',
    ),
)
def sessions() -> None:
    """List, read, rename, move and delete conversations.

    REF in these commands is a session's id, the start of one, or a title.
    """
