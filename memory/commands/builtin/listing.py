"""`memory list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.table import DIM, Cell, Column
from hermes_state.commands.wording import count
from memory.commands.builtin.opening import opened, target_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_state.commands.invocation import Invocation
    from memory.builtin import BuiltinMemory, Entries

_COLUMNS = (
    Column(head="ID"),
    Column(head="TARGET"),
    Column(head="STATUS"),
    Column(head="CHARS", right=True),
    Column(head="TAGS", most=24),
    Column(head="TEXT"),
)


@command(
    "list",
    examples=(
        "hermes-state memory list",
        "hermes-state memory list --target user --json | jq -r '.entries[].text'",
        "hermes-state memory list --all --tag ops",
    ),
)
@target_option
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only entries with this tag; may be repeated.")
@click.option("--all", "everything", is_flag=True, help="Also what left the files: archived, replaced, removed.")
@click.option("--jsonl", is_flag=True, help="JSON Lines: an entry a line.")
def list_command(
    invocation: Invocation, target: str | None, tags: tuple[str, ...], everything: bool, jsonl: bool
) -> None:
    """List the entries of memory, and how full the files are."""
    from memory.builtin.entries import TARGETS
    from memory.commands.builtin import shapes

    with opened(invocation, writes=False, past=everything or bool(tags)) as memory:
        held = [memory.read(each) for each in TARGETS if target in (None, each)]
        rows = _rows(memory, held, target, tags, everything=everything)
    if jsonl:
        invocation.stream(rows)
    elif invocation.json:
        invocation.document({"entries": rows, "usage": {each.target: shapes.usage(each) for each in held}})
    else:
        _show(invocation, rows, everything=everything)
        _say_usage(invocation, held)


def _rows(
    memory: BuiltinMemory, held: Sequence[Entries], target: str | None, tags: Sequence[str], *, everything: bool
) -> list[dict[str, Any]]:
    """The entries as JSON; those of the files in their order, then what left them."""
    from memory.commands.builtin import shapes

    in_files = [row for each in held for row in shapes.plain(each)]
    if not memory.has_history:
        return [] if tags else in_files
    known = {each.id: each for each in memory.entries(target=target, tags=tags)}
    rows = [shapes.memory(known[row["id"]]) if row["id"] in known else row for row in in_files]
    rows = [row for row in rows if not tags or row["id"] in known]
    if everything:
        rows += [shapes.memory(each) for each in known.values() if each.status != "active"]
    return rows


def _show(invocation: Invocation, rows: Sequence[dict[str, Any]], *, everything: bool) -> None:
    cells = [
        (
            Cell(row["id"], DIM),
            row["target"],
            row["status"] if everything else "",
            f"{row['chars']:,}",
            one_line(" ".join(f"#{tag}" for tag in row["tags"])),
            Cell(one_line(row["text"]), () if row["status"] == "active" else DIM),
        )
        for row in rows
    ]
    if cells:
        invocation.table(_COLUMNS, cells)


def _say_usage(invocation: Invocation, held: Sequence[Entries]) -> None:
    for each in held:
        invocation.note(f"{each.target}: {count(len(each.entries), 'entry', 'entries')}, {each.usage}")
        for problem in each.problems:
            invocation.note(f"{each.target}: {problem}")
