"""`db check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.table import BOLD, DIM, paint
from hermes_state.commands.wording import count, listed

if TYPE_CHECKING:
    from hermes_state.check import Report
    from hermes_state.commands.invocation import Invocation

# Findings of each kind that people are shown; --json has all that were kept.
SHOWN = 8


@command("check", examples=("hermes-state db check", "hermes-state db check --full --json"))
@click.option("--full", is_flag=True, help="Every page, every message and every index entry, not a sample.")
def check(invocation: Invocation, full: bool) -> int:
    """Prove that the store is sound.

    Read-only: counters, lineage and index are derived anew from the messages and compared, with --full what digests
    kept, too. All findings are told, with what mends them. Exits 1 when there is one.
    """
    from hermes_state.check import check as check_store
    from hermes_state.commands.progress import steps
    from hermes_state.copying.proving import kept_chains

    with invocation.open_engine(read_only=True) as engine, steps(invocation) as tell:
        report = check_store(engine, full=full, progress=tell, also=[("digests", kept_chains)])
    if invocation.json:
        invocation.document({"sound": report.is_sound} | shapes.record(report))
    else:
        _show(invocation, report)
    return report.exit_code


def _show(invocation: Invocation, report: Report) -> None:
    for kind, number in report.counts.items():
        found = [finding for finding in report.findings if finding.kind == kind]
        invocation.say(paint(count(number, f"finding of kind {kind}", f"findings of kind {kind}"), BOLD))
        for finding in found[:SHOWN]:
            invocation.say(f"  {one_line(finding.where)}: {one_line(finding.what)}")
        if number > SHOWN:
            invocation.say(f"  … and {number - SHOWN:,} more")
        if found:
            invocation.say(paint(f"  {found[0].remedy}", DIM))
    looked_at = listed(f"{number:,} {name.replace('_', ' ')}" for name, number in report.checked.items() if number)
    scope = "" if report.full else "; --full looks at every message and index entry"
    if report.interrupted:
        invocation.note(f"stopped; until then looked at {looked_at or 'nothing'}")
    elif report.is_sound:
        invocation.say(f"sound: {looked_at or 'an empty store'}{scope}")
    else:
        invocation.note(f"looked at {looked_at}{scope}")
