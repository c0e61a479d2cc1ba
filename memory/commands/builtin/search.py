"""`memory search`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands.command import command
from hermes_state.commands.invocation import FOUND_NOTHING
from hermes_state.commands.plain import one_line
from hermes_state.commands.table import DIM, Cell, Column
from hermes_state.commands.values import limit_option
from memory.commands.builtin.opening import opened, target_option

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation
    from memory.builtin import Memory

_COLUMNS = (Column(head="ID"), Column(head="TARGET"), Column(head="STATUS"), Column(head="TEXT"))
# As many as there are.
_ALL = 1_000_000


@command(
    "search",
    examples=(
        "hermes-state memory search redis 升级",
        "hermes-state memory search editor --active --json | jq -r '.hits[].text'",
    ),
)
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@target_option
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only entries with this tag; may be repeated.")
@click.option("--active", is_flag=True, help="Only what is in the files now.")
@limit_option
@click.option("--jsonl", is_flag=True, help="JSON Lines: a hit a line.")
def search(
    invocation: Invocation,
    words: tuple[str, ...],
    target: str | None,
    tags: tuple[str, ...],
    active: bool,
    limit: int,
    jsonl: bool,
) -> int | None:
    """Find entries in any script, in the files or not.

    What was archived, replaced or removed is found as well. Words need no quotes. Exits 1 when nothing is found.
    """
    from memory.builtin.archive import STATUSES
    from memory.commands.builtin import shapes

    query = " ".join(words)
    with opened(invocation, writes=False) as memory:
        statuses = ("active",) if active else STATUSES
        hits = memory.search(query, limit or _ALL, target=target, tags=tags, statuses=statuses)
    if jsonl:
        invocation.stream(shapes.hit(each) for each in hits)
    elif invocation.json:
        invocation.document({"query": query, "hits": [shapes.hit(each) for each in hits]})
    elif hits:
        invocation.table(_COLUMNS, [_row(each) for each in hits])
    else:
        invocation.note("nothing found")
    return None if hits else FOUND_NOTHING


def _row(hit: Memory) -> tuple[Cell | str, ...]:
    style = () if hit.status == "active" else DIM
    return Cell(hit.id, DIM), hit.target, hit.status, Cell(one_line(hit.snippet), style)
