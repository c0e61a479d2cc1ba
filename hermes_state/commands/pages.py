"""Pages of numbers to look at: what they are printed on, and what they are made of."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hermes_state.commands.plain import one_line
from hermes_state.commands.table import cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_state.commands.invocation import Invocation

# Columns in a pipe, where nobody says how wide the paper is.
PIPE_WIDTH = 100
# Rows of a list on a page; the rest is only counted.
MOST_ROWS = 8
# Cells of the longest bar, and of a name before it.
_BAR, _NAME = 24, 28


class _Page(Console):
    def on_broken_pipe(self) -> None:
        """As every other command when `head` has read enough; rich would end the program with an error."""
        raise BrokenPipeError


def page(invocation: Invocation) -> Console:
    """A console on stdout that prints texts as they are, with styles where the command line has them."""
    return _Page(
        file=sys.stdout,
        width=invocation.width or PIPE_WIDTH,
        no_color=not invocation.color,
        force_terminal=invocation.color,
        highlight=False,
        emoji=False,
        markup=False,
        soft_wrap=True,
    )


def heading(console: Console, title: str, note: str = "") -> None:
    """What the next part of the page is about."""
    console.print()
    console.print(Text(title, style="bold").append(f"  {note}" if note else "", style="dim"))


def grid(*justify: Literal["left", "right"]) -> Table:
    """A table without lines, whose columns are as wide as they have to be."""
    table = Table.grid(padding=(0, 2), pad_edge=False)
    for each in justify:
        table.add_column(justify=each, no_wrap=True)
    return table


def draws(console: Console, marks: str = "█") -> bool:
    """Whether such marks can be printed at all."""
    try:
        marks.encode(console.encoding)
    except UnicodeEncodeError:
        return False
    return True


def bar(console: Console, share: float, style: str = "cyan") -> Text:
    """A bar for a part of the longest one; what there is gets at least one cell."""
    block = "█" if draws(console) else "#"
    return Text(block * (max(1, round(_BAR * min(share, 1.0))) if share else 0), style=style)


def named(text: str) -> Text:
    """A name in the first column."""
    return Text(cut(one_line(text), _NAME))


def rest(console: Console, rows: Sequence[object]) -> None:
    """How many rows are not on the page."""
    if len(rows) > MOST_ROWS:
        console.print(Text(f"and {len(rows) - MOST_ROWS:,} more; --json has all", style="dim"))
