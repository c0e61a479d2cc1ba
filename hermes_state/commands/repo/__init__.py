"""The commands about repositories: one module each."""

from __future__ import annotations

import click

from hermes_state.commands.command import Group

_HERE = "hermes_state.commands.repo"


@click.group(
    "repo",
    cls=Group,
    lazy={
        "list": f"{_HERE}.listing:list_command",
        "show": f"{_HERE}.show:show_command",
        "check": f"{_HERE}.check:check_command",
        "prune": f"{_HERE}.prune:prune_command",
        "forget": f"{_HERE}.forget:forget_command",
    },
    examples=(
        "hermes-state backup --repo /mnt/usb/home              # makes it, or adds to it what changed",
        "hermes-state repo list /mnt/usb/home",
        "hermes-state restore --repo /mnt/usb/home latest",
        "hermes-state repo prune /mnt/usb/home --keep-daily 7 --keep-weekly 4 --keep-monthly 12",
    ),
)
def repo() -> None:
    """Look at, check and tidy repositories of backups.

    A repository is a folder with many backups, each stored as what changed. SNAPSHOT is the beginning of an id, or
    `latest`. Where other commands take an archive, REPOSITORY/SNAPSHOT will do: `hermes-state diff
    /mnt/usb/home/latest`.
    """
