"""`memory providers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.table import BOLD, DIM, Cell, Column
from memory.commands.settings import settings_of

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation
    from memory.discovery import Found

_COLUMNS = (
    Column(head=""),
    Column(head="NAME"),
    Column(head="STATE"),
    Column(head="SOURCE"),
    Column(head="VERSION"),
    Column(head="ABOUT"),
)
# The built-in memory is always there and no find.
_BUILTIN = {
    "name": "builtin",
    "state": "ready",
    "source": "bundled",
    "origin": "",
    "version": "",
    "description": "MEMORY.md and USER.md of the home; always used",
    "reason": "",
    "hint": "",
    "used": True,
}


@command(
    "providers",
    examples=(
        "hermes-state memory providers",
        "hermes-state memory providers --json | jq -r '.providers[] | select(.used) | .name'",
    ),
)
def providers(invocation: Invocation) -> None:
    """List memory providers, and why some can't be used.

    Nothing is imported: bundled ones, plug-ins of the home and installed packages are listed as they describe
    themselves.
    """
    from memory.discovery import Discovery

    used = settings_of(invocation).external
    rows = [_BUILTIN, *(_row(found, used) for found in Discovery(invocation.home_path()).names())]
    if invocation.json:
        invocation.document({"providers": rows})
        return
    invocation.table(
        _COLUMNS,
        [
            (
                Cell("*" if row["used"] else "", BOLD),
                row["name"],
                row["state"],
                Cell(row["source"], DIM),
                Cell(one_line(row["version"]), DIM),
                one_line(row["reason"] or row["description"]),
            )
            for row in rows
        ],
    )
    for row in rows:
        if row["hint"]:
            invocation.note(f"{row['name']}: {row['hint']}")


def _row(found: Found, used: tuple[str, ...]) -> dict[str, Any]:
    texts = ("name", "state", "source", "origin", "version", "description", "reason", "hint")
    return {name: str(getattr(found, name)) for name in texts} | {"used": found.name in used}
