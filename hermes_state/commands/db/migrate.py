"""`db migrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.commands.command import command

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation


@command("migrate", examples=("hermes-state db migrate", "hermes-state db migrate --json"))
def migrate(invocation: Invocation) -> None:
    """Bring the store's schema up to date.

    Opening a store for writing does the same by itself; this says what was done. A snapshot is kept beside the store,
    and a migration that fails leaves everything as it was.
    """
    from hermes_state.migrate import HEAD, revision_of

    with invocation.open_engine(read_only=True, entered=False) as engine, engine.read() as connection:
        before, path = revision_of(connection), engine.shown
    invocation.open_store().close()
    if invocation.json:
        invocation.document({"path": path, "from": before, "to": HEAD, "changed": before != HEAD})
    elif before == HEAD:
        invocation.say(f"{path} has schema {HEAD} already")
    else:
        invocation.say(f"{path}: from schema {before or 'none'} to {HEAD}")
