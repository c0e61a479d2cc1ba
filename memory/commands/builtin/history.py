"""`memory history`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.table import DIM, Cell, Column
from hermes_state.commands.values import limit_of, limit_option
from hermes_state.commands.wording import ago
from memory.commands.builtin.opening import opened

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation
    from memory.builtin import Event

_COLUMNS = (
    Column(head="WHEN", right=True),
    Column(head="BATCH"),
    Column(head="ID"),
    Column(head="TARGET", from_width=70),
    Column(head="ACTION"),
    Column(head="BY", most=24, from_width=100),
    Column(head="TEXT"),
)


@command(
    "history",
    examples=("hermes-state memory history", "hermes-state memory history 496a0fa21c6c --json"),
)
@click.argument("entry", required=False, metavar="[ID]")
@limit_option
@click.option("--jsonl", is_flag=True, help="JSON Lines: an event a line.")
def history(invocation: Invocation, entry: str | None, limit: int, jsonl: bool) -> None:
    """Show what happened to memory, newest first.

    With an entry's id (or its beginning): what happened to it, to what it came from, and to what it became. BATCH is
    what `memory undo` takes.
    """
    from memory.commands.builtin import shapes

    with opened(invocation, writes=False, past=True) as memory:
        events = memory.history(entry, limit=limit_of(limit)) if memory.has_history else []
    if jsonl:
        invocation.stream(shapes.event(each) for each in events)
    elif invocation.json:
        invocation.document({"events": [shapes.event(each) for each in events]})
    elif events:
        now = datetime.now(UTC)
        invocation.table(_COLUMNS, [_row(each, now) for each in events])
    else:
        invocation.note("nothing happened yet")


def _row(event: Event, now: datetime) -> tuple[Cell | str, ...]:
    texts = " → ".join(one_line(text) for text in (event.before, event.after) if text)
    return (
        ago(event.at, now),
        Cell(event.batch, DIM),
        Cell(event.id, DIM),
        event.target,
        "undo" if event.undoes else event.action,
        one_line(str(event.origin.get("write_origin", ""))),
        texts,
    )
