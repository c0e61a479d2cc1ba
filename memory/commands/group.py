"""`memory`: the group, and where its commands are."""

from __future__ import annotations

import click

from hermes_state.commands.command import Group

_BUILTIN = "memory.commands.builtin"
_PROVIDERS = "memory.commands.providers"


@click.group(
    "memory",
    cls=Group,
    lazy={
        "list": f"{_BUILTIN}.listing:list_command",
        "add": f"{_BUILTIN}.changes:add",
        "replace": f"{_BUILTIN}.changes:replace",
        "remove": f"{_BUILTIN}.changes:remove",
        "search": f"{_BUILTIN}.search:search",
        "history": f"{_BUILTIN}.history:history",
        "undo": f"{_BUILTIN}.changes:undo",
        "approve": f"{_BUILTIN}.approve:approve",
        "providers": f"{_PROVIDERS}.listing:providers",
        "use": f"{_PROVIDERS}.use:use",
        "setup": f"{_PROVIDERS}.setup:setup",
        "status": f"{_PROVIDERS}.status:status",
        "check": f"{_PROVIDERS}.check:check",
        "facts": "memory.commands.facts:facts",
    },
    examples=(
        "hermes-state memory list",
        'hermes-state memory add --target user "prefers answers in Chinese"',
        "hermes-state memory undo",
        "hermes-state memory use holographic",
    ),
)
def memory() -> None:
    """What the agent remembers: read, change, search, undo.

    MEMORY.md holds the agent's notes and USER.md who the user is; both are in the prompt of every session. The store
    keeps every entry there ever was.
    """
