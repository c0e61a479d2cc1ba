"""`db optimize` and `db vacuum`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.progress import steps
from hermes_state.commands.values import AT_LEAST_ONE
from hermes_state.commands.wording import count, size

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation


@command("optimize", examples=("hermes-state db optimize", "hermes-state db optimize --budget 10"))
@click.option(
    "--budget", type=AT_LEAST_ONE, default=60, show_default=True, metavar="SECONDS", help="Stop after so long."
)
def optimize(invocation: Invocation, budget: int) -> None:
    """Merge the index, refresh the planner's numbers.

    In short steps, so that nobody waits for it. What is not done within the budget is done by the next call.
    """
    with invocation.open_store() as db, steps(invocation) as tell:
        done = db.maintenance.optimize(budget_s=float(budget), progress=lambda n: tell(f"step {n}"))
    if invocation.json:
        invocation.document(shapes.record(done))
        return
    rest = "" if done.is_complete else "; more is left, run it again"
    longest = f"the longest took {done.longest_lock_s * 1000:.0f} ms"
    invocation.say(f"optimized in {count(done.steps, 'step')}, {longest}{rest}")


@command("vacuum", examples=("hermes-state db vacuum", "hermes-state db vacuum --while-open --json"))
@click.option("--while-open", is_flag=True, help="Also when other processes have the store open; their writes wait.")
def vacuum(invocation: Invocation, while_open: bool) -> None:
    """Rewrite the file without the room that is free in it.

    Nobody else can write meanwhile, and it takes as much room again as the store. On a server, the tables' room becomes
    free for new rows while everybody works on; it takes the role that owns them.
    """
    with invocation.open_store() as db, steps(invocation) as tell:
        tell("rewriting the file")
        done = db.maintenance.vacuum(while_open=while_open)
    if invocation.json:
        invocation.document(shapes.record(done) | {"saved_bytes": done.saved_bytes})
    else:
        invocation.say(f"{size(done.before.total)} before, {size(done.after.total)} now")
