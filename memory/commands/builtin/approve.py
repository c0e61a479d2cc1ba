"""`memory approve`: writes that wait for a person's yes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.table import DIM, Cell, Column
from hermes_state.commands.wording import ago
from hermes_state.errors import HermesStateError, PartialSuccess
from memory.commands.builtin.changes import tell
from memory.commands.builtin.opening import opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_state.commands.invocation import Invocation
    from memory.builtin import BuiltinMemory, Operation, Proposal

_COLUMNS = (Column(head="ID"), Column(head="ASKED", right=True), Column(head="WHAT"))


@command(
    "approve",
    examples=(
        "hermes-state memory approve                    # what waits",
        "hermes-state memory approve 1f2e3d4c",
        "hermes-state memory approve --reject --all",
    ),
)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="All that wait.")
@click.option("--reject", is_flag=True, help="Let them not happen.")
def approve(invocation: Invocation, ids: tuple[str, ...], everything: bool, reject: bool) -> None:
    """Show, make or reject writes that wait for approval.

    Without an ID it lists them. They wait when `memory.write_approval` is on; those of a Hermes agent (pending/memory)
    are among them. Their texts are checked again before they are written.
    """
    if reject and not ids and not everything:
        raise click.UsageError("reject which? name their ids, or --all")
    if ids and everything:
        raise click.UsageError("name ids or --all, not both")
    with opened(invocation, writes=bool(ids or everything)) as memory:
        if not ids and not everything:
            _show(invocation, memory.pending())
            return
        _decide(invocation, memory, ids or [each.id for each in memory.pending()], reject=reject)


def _show(invocation: Invocation, waiting: Sequence[Proposal]) -> None:
    from memory.commands.builtin import shapes

    if invocation.json:
        invocation.document({"pending": [shapes.proposal(each) for each in waiting]})
        return
    now = datetime.now(UTC)
    if waiting:
        invocation.table(_COLUMNS, [(Cell(each.id, DIM), ago(each.requested_at, now), _said(each)) for each in waiting])
    else:
        invocation.note("nothing waits for approval")


def _said(waiting: Proposal) -> str:
    if waiting.problem:
        return f"(can't be read: {one_line(waiting.problem)})"
    return one_line("; ".join(map(_operation, waiting.operations)))


def _operation(operation: Operation) -> str:
    what = " → ".join(text for text in (operation.old_text or operation.id, operation.content) if text)
    return f"{operation.action} {operation.target}: {what}"


def _decide(invocation: Invocation, memory: BuiltinMemory, ids: Sequence[str], *, reject: bool) -> None:
    from memory.commands.builtin import shapes

    done, failures = [], []
    for name in ids:
        try:
            if reject:
                done.append({"id": memory.reject(name).id})
                invocation.note(f"rejected {name}")
            else:
                outcome = memory.approve(name)
                done.append({"id": name} | shapes.outcome(outcome))
                if not invocation.json:
                    tell(invocation, outcome)
        except HermesStateError as error:
            if len(ids) == 1:
                raise
            failures.append(f"{name}: {error.message}")
    if invocation.json:
        invocation.document({"rejected" if reject else "approved": done, "failed": failures})
    if failures:
        raise PartialSuccess(f"{len(done)} of {len(ids)} done; " + "; ".join(failures), hint="the others go on waiting")
