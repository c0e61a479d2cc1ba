"""The commands about the store as a whole: one module each."""

from __future__ import annotations

import click

from hermes_state.commands.command import Group

_HERE = "hermes_state.commands.db"


@click.group(
    "db",
    cls=Group,
    lazy={
        "status": f"{_HERE}.status:status",
        "digest": f"{_HERE}.digest:digest",
        "diff": f"{_HERE}.digest:diff",
        "check": f"{_HERE}.check:check",
        "migrate": f"{_HERE}.migrate:migrate",
        "reindex": f"{_HERE}.reindex:reindex",
        "optimize": f"{_HERE}.upkeep:optimize",
        "vacuum": f"{_HERE}.upkeep:vacuum",
        "purge": f"{_HERE}.purge:purge",
        "recover": f"{_HERE}.recover:recover",
    },
    examples=("hermes-state db status", "hermes-state db check --json"),
)
def db() -> None:
    """Prove, tidy and mend the store.

    Others read and write meanwhile, but for `vacuum` and `purge`, which rewrite the file.
    """
