"""The commands about the store as a whole: one module each."""

from __future__ import annotations

import click

from hermes_state.commands.command import Group

_HERE = "hermes_state.commands.db"


@click.group(
    "db",
    cls=Group,
    lazy={
        "check": f"{_HERE}.check:check",
        "migrate": f"{_HERE}.migrate:migrate",
        "reindex": f"{_HERE}.reindex:reindex",
    },
    examples=("hermes-state db check", "hermes-state db check --json"),
)
def db() -> None:
    """Prove, tidy and mend the store.

    Reading and writing go on meanwhile: no command here keeps the store locked for long.
    """
