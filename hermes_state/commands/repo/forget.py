"""`repo forget`: give up single snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands.command import command
from hermes_state.commands.repo import snapshots as told

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation


@command(
    "forget",
    examples=(
        "hermes-state repo forget /mnt/usb/home 3fa91b 77c0de",
        "hermes-state repo prune /mnt/usb/home                 # then free the room",
    ),
)
@click.argument("repository", type=told.REPOSITORY)
@click.argument("snapshots", type=told.SNAPSHOT, nargs=-1, required=True)
def forget_command(invocation: Invocation, repository: Path, snapshots: tuple[str, ...]) -> None:
    """Forget single snapshots, also damaged ones. `repo prune` frees the room.

    When one is not found, none is forgotten.
    """
    from hermes_state.portability.repository import locks
    from hermes_state.portability.repository.snapshots import LATEST, SHOWN, find, forget, id_in

    if LATEST in snapshots:  # the one that nobody wants to lose by mistake
        raise click.UsageError(f"give the id of the snapshot to forget, not `latest`; `repo list {repository}` has it")
    place = told.opened(repository)
    with locks.shared(place):
        paths = list(dict.fromkeys(find(place, snapshot) for snapshot in snapshots))
        forget(place, paths)
    ids = [id_in(path) for path in paths]
    if invocation.json:
        invocation.document({"path": str(repository), "forgotten": ids})
        return
    for snapshot_id in ids:
        invocation.say(f"forgot {snapshot_id[:SHOWN]}")
    invocation.note("`hermes-state repo prune` frees the room")
