"""A Hermes home beside our store: seen, named, and offered to be imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.errors import StoreUnavailable

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation

# The peer's database, in the same home as ours.
HERMES_STORE_NAME = "state.db"


def hermes_store(invocation: Invocation) -> Path | None:
    """The Hermes database of the home, where there is one."""
    path = invocation.home_path() / HERMES_STORE_NAME
    return path if path.is_file() else None


def missing_store(invocation: Invocation) -> StoreUnavailable:
    """There is no store yet; the hint names the one step that makes one."""
    neighbour = hermes_store(invocation)
    if neighbour is not None:
        hint = f"`{import_command(invocation)}` brings in the conversations of {neighbour}"
    else:
        hint = "an agent makes it when it first writes; is --home right?"
    return StoreUnavailable(f"there is no store at {invocation.store_path()}", hint=hint)


def import_command(invocation: Invocation) -> str:
    """The command that imports the home's Hermes store, as it would be typed here."""
    return f"hermes-state import hermes{f' --home {invocation.home}' if invocation.home else ''}"
