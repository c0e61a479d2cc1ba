"""`db recover`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.invocation import HAS_FINDINGS
from hermes_state.commands.plain import one_line
from hermes_state.commands.progress import steps
from hermes_state.commands.wording import count

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation
    from hermes_state.recover import Recovery


@command(
    "recover",
    examples=(
        "hermes-state db recover",
        "hermes-state db recover --swap",
        "hermes-state db recover --into /mnt/spare/salvaged.db --json",
    ),
)
@click.option(
    "--into", type=click.Path(dir_okay=False), metavar="FILE", help="The new store. Default: beside the old one."
)
@click.option("--swap", is_flag=True, help="Put it in the damaged one's place, which is kept under another name.")
def recover(invocation: Invocation, into: str | None, swap: bool) -> int | None:
    """Salvage what can be read of a damaged store.

    It becomes a new store beside the damaged one, which is only read and is copied aside once for each distinct damage.
    Everything that can be derived is derived anew, and the new store is checked in full. Exits 1 when rows are known to
    be lost or mended. The store is checked in full first: when there is nothing to recover, nothing is made, and the
    exit code is 0.
    """
    from hermes_state.commands.neighbour import missing_store
    from hermes_state.recover import recover as salvage

    path = invocation.store_path()
    if not path.exists():
        raise missing_store(invocation)
    target = None if into is None else Path(into).expanduser()
    with steps(invocation) as tell:
        done = salvage(
            path, into=target, swap=swap, progress=lambda table, rows: tell(f"{table}: {rows:,}"), checking=tell
        )
    if invocation.json:
        invocation.document({"complete": done.is_complete} | shapes.record(done))
    elif done.target is None:
        _tell_of_nothing(invocation, done)
    else:
        _tell(invocation, done)
    return None if done.is_complete else HAS_FINDINGS


def _tell_of_nothing(invocation: Invocation, done: Recovery) -> None:
    source = one_line(str(done.source))
    if done.report.is_sound:
        invocation.note(f"nothing to recover: {source} is sound")
        return
    invocation.note(f"nothing to recover, every row of {source} is there; a full check found:")
    for finding in {finding.kind: finding for finding in done.report.findings}.values():
        number = count(done.report.counts[finding.kind], "finding")
        invocation.note(f"  {number} of kind {finding.kind}: {finding.remedy}")


def _tell(invocation: Invocation, done: Recovery) -> None:
    invocation.say(one_line(str(done.target)))
    for table in done.tables:
        facts = [count(table.recovered, "row")]
        facts += [f"{table.mended:,} mended"] if table.mended else []
        facts += [f"{table.lost:,} lost"] if table.lost else []
        if table.recovered or table.lost:
            invocation.say(f"  {table.table}: {', '.join(facts)}")
    if not done.report.is_sound:
        invocation.note(f"`hermes-state db check --db {done.target}` finds faults in it; it was not put in place")
    if done.kept:
        invocation.note(f"it is in place; the damaged store is kept as {one_line(str(done.kept))}")
    elif done.copy:
        invocation.note(f"the damaged store was copied to {one_line(str(done.copy))}")
