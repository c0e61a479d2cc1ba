"""`repo list`: which snapshots a repository holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.repo import snapshots as told
from hermes_state.commands.wording import count

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation


@command(
    "list",
    examples=(
        "hermes-state repo list /mnt/usb/home",
        "hermes-state repo list /mnt/usb/home --json | jq -r '.snapshots[-1].id'",
    ),
)
@click.argument("repository", type=told.REPOSITORY)
def list_command(invocation: Invocation, repository: Path) -> int | None:
    """List the snapshots of a repository, the oldest first.

    Exits 22 when one of them can't be read; the others are listed all the same.
    """
    from hermes_state.portability.repository.snapshots import readable

    found, failures = readable(told.opened(repository))
    if invocation.json:
        unreadable = [failure.message for failure in failures]
        shown = [told.shape(snapshot) for snapshot in found]
        invocation.document({"path": str(repository), "snapshots": shown, "unreadable": unreadable})
    else:
        for snapshot in found:
            invocation.say(told.line(snapshot))
        invocation.note(count(len(found), "snapshot"))
        for failure in failures:
            invocation.note(f"can't be read: {one_line(failure.message)}")
    return failures[0].exit_code if failures else None
