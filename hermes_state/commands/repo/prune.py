"""`repo prune`: forget snapshots that need not stay, and free the room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands.command import command
from hermes_state.commands.repo import snapshots as told
from hermes_state.commands.wording import count, size

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation


@command(
    "prune",
    examples=(
        "hermes-state repo prune /mnt/usb/home --keep-daily 7 --keep-weekly 4 --keep-monthly 12 --dry-run",
        "hermes-state repo prune /mnt/usb/home --keep-last 10",
        "hermes-state repo prune /mnt/usb/home                 # only free what was forgotten",
    ),
)
@click.argument("repository", type=told.REPOSITORY)
@click.option("--keep-last", type=click.IntRange(0), default=0, metavar="N", help="Keep the newest N snapshots,")
@click.option("--keep-daily", type=click.IntRange(0), default=0, metavar="N", help="… and one of each of N days,")
@click.option("--keep-weekly", type=click.IntRange(0), default=0, metavar="N", help="… and one of each of N weeks,")
@click.option("--keep-monthly", type=click.IntRange(0), default=0, metavar="N", help="… and one of each of N months.")
@click.option("--dry-run", is_flag=True, help="Say what would go; change nothing.")
def prune_command(
    invocation: Invocation,
    repository: Path,
    keep_last: int,
    keep_daily: int,
    keep_weekly: int,
    keep_monthly: int,
    dry_run: bool,
) -> None:
    """Forget snapshots that need not stay; free the room.

    Forgotten is what no number asks for; freed is what no snapshot needs. Each home in the repository has its own
    numbers; its newest snapshot always stays. Without a number no snapshot is forgotten. Waits for others who work on
    the repository, and they wait for it. It may be cut off at any point.
    """
    from hermes_state.portability.repository.pruning import prune
    from hermes_state.portability.retention import Keep

    keep = Keep(last=keep_last, daily=keep_daily, weekly=keep_weekly, monthly=keep_monthly)
    result = prune(told.opened(repository), keep, dry_run=dry_run)
    if invocation.json:
        invocation.document(
            {
                "path": str(repository),
                "dry_run": dry_run,
                "forgotten": [told.shape(snapshot) for snapshot in result.forgotten],
                "kept": [told.shape(snapshot) for snapshot in result.kept],
                "packs_deleted": result.deleted,
                "packs_rewritten": result.rewritten,
                "freed_bytes": result.freed_bytes,
                "bytes": result.repository_bytes,
            }
        )
        return
    for snapshot in result.forgotten:
        invocation.say(f"{'would forget' if dry_run else 'forgot'} {told.line(snapshot)}")
    done = f"{'would free' if dry_run else 'freed'} {size(result.freed_bytes)}"
    packs = f"{count(len(result.deleted), 'pack')} deleted, {count(len(result.rewritten), 'pack')} written anew"
    stays = f"{count(len(result.kept), 'snapshot')} {'stays' if len(result.kept) == 1 else 'stay'}"
    invocation.say(f"{stays}; {done} ({packs}); {size(result.repository_bytes)} in all")
    if dry_run:
        invocation.note("nothing was changed")
