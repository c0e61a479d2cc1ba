"""`repo show`: what a snapshot, or a repository, is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.repo import snapshots as told
from hermes_state.commands.wording import count, local, size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation
    from hermes_state.portability.repository.snapshots import Snapshot


@command(
    "show",
    examples=(
        "hermes-state repo show /mnt/usb/home",
        "hermes-state repo show /mnt/usb/home 3fa91b --json",
        "hermes-state show /mnt/usb/home/3fa91b                # what the backup says of itself",
    ),
)
@click.argument("repository", type=told.REPOSITORY)
@click.argument("snapshot", type=told.SNAPSHOT, default="latest")
def show_command(invocation: Invocation, repository: Path, snapshot: str) -> None:
    """Tell what a repository is, and one snapshot of it. Default: the latest.

    `hermes-state show REPOSITORY/SNAPSHOT` tells what the backup in it says of itself: databases, what was left out.
    """
    from hermes_state.portability.repository import snapshots
    from hermes_state.portability.repository.packs import packs_in

    place = told.opened(repository)
    path = snapshots.find(place, snapshot)
    found = snapshots.read(path)
    packs = [pack.stat().st_size for pack in packs_in(place.packs)]
    number = len(snapshots.files(place))
    if invocation.json:
        document = {"path": str(repository), "repository_id": place.id, "packs": len(packs), "bytes": sum(packs)}
        invocation.document({**document, "snapshots": number, "snapshot": told.shape(found), "file": str(path)})
        return
    invocation.say(f"{one_line(str(repository))}  {count(number, 'snapshot')} in {size(sum(packs))}")
    for line in _lines(found, path):
        invocation.say(line)


def _lines(snapshot: Snapshot, path: Path) -> Iterator[str]:
    yield f"  snapshot {told.short_id(snapshot)}{'  partial' * snapshot.partial}"
    yield f"  made     {local(snapshot.created_at)} by {one_line(snapshot.user)}"
    yield f"  home     {one_line(snapshot.home)} on {one_line(snapshot.host)}"
    yield f"  holds    {count(snapshot.members, 'member')}, {size(snapshot.content_bytes)}"
    yield f"  added    {size(snapshot.added_bytes)}"
    yield f"  digest   {snapshot.whole}"
    yield f"  file     {one_line(str(path))}"
