"""The numbers of a store as a page to look at."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from hermes_state.commands.calendar import ASCII_SHADES, SHADES, calendar, weeks_that_fit
from hermes_state.commands.pages import MOST_ROWS, bar, draws, grid, heading, named, page, rest
from hermes_state.commands.plain import one_line
from hermes_state.commands.table import cut
from hermes_state.commands.wording import count, listed, local, money, short_number, size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from hermes_state.commands.invocation import Invocation
    from hermes_state.records import Usage
    from hermes_state.statistics import Longest, Share, Statistics

# Cells that a title gets on the narrowest terminal; ids are never cut.
_LEAST_TITLE = 16


def show(
    invocation: Invocation,
    *,
    place: str,
    held: int,
    numbers: Statistics,
    used: Sequence[Usage],
    previews: Mapping[str, str],
) -> None:
    """Print the page; `previews` stand for titles that are missing."""
    console = page(invocation)
    _summary(console, place, held, numbers)
    if not numbers.days:
        return
    _activity(console, numbers)
    for title, shares in (("Sources", numbers.sources), ("Models", numbers.models), ("Roles", numbers.roles)):
        _bars(console, title, [share for share in shares if share.name])
    _costs(console, used)
    _longest(console, numbers.longest, previews)


def _summary(console: Console, place: str, held: int, numbers: Statistics) -> None:
    visible = numbers.messages["active"] + numbers.messages["compacted"]
    console.print(Text(f"{count(numbers.conversations, 'conversation')}, {count(visible, 'message')}", style="bold"))
    facts = [place, size(held)]
    if numbers.first_at and numbers.last_at:
        facts.append(f"{local(numbers.first_at)} to {local(numbers.last_at)}")
    rest = [
        f"{number:,} {word}"
        for number, word in (
            (numbers.archived, "archived"),
            (numbers.delegates, "by sub-agents"),
            (numbers.messages["compacted"], "messages compacted"),
            (numbers.messages["rewound"], "taken back"),
        )
        if number
    ]
    console.print(Text(" · ".join(facts), style="dim"))
    if rest:
        console.print(Text(listed(rest), style="dim"))


def _activity(console: Console, numbers: Statistics) -> None:
    heading(console, "Activity")
    said = {day.date: day.messages for day in numbers.days}
    today = datetime.now().astimezone().date()
    last = max(min(today, max(said)), min(said))
    span_in_weeks = (last - min(said)).days // 7 + 1
    weeks = min(weeks_that_fit(console.width), max(span_in_weeks, 12))
    for line in calendar(
        said, last=last, weeks=weeks, shades=SHADES if draws(console, "".join(SHADES)) else ASCII_SHADES
    ):
        console.print(line)


def _bars(console: Console, title: str, shares: Sequence[Share]) -> None:
    if not shares:
        return
    heading(console, title)
    most, total = shares[0].messages or 1, sum(share.messages for share in shares) or 1
    table = grid("left", "left", "right", "right")
    for share in shares[:MOST_ROWS]:
        percent = Text(f"{100 * share.messages / total:.0f} %", style="dim")
        table.add_row(named(share.name), bar(console, share.messages / most), f"{share.messages:,}", percent)
    console.print(table)
    rest(console, shares)


def _costs(console: Console, used: Sequence[Usage]) -> None:
    if not used:
        return
    heading(console, "Tokens and cost")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", show_footer=len(used) > 1)
    by_model: defaultdict[str, list[Usage]] = defaultdict(list)
    for row in used:
        by_model[row.model].append(row)
    table.add_column("model", footer="total", no_wrap=True)
    sums = _sums(used)
    for name, total in zip(("calls", "input", "output", "cached", "cost"), sums, strict=True):
        table.add_column(name, footer=total, justify="right", no_wrap=True)
    for model, rows in by_model.items():
        table.add_row(named(model or "(unknown)"), *_sums(rows))
    console.print(table)


def _sums(rows: Sequence[Usage]) -> tuple[str, ...]:
    costs = [c for row in rows if (c := row.actual_cost_usd or row.estimated_cost_usd) is not None]
    return (
        short_number(sum(row.api_calls for row in rows)),
        short_number(sum(row.input_tokens for row in rows)),
        short_number(sum(row.output_tokens for row in rows)),
        short_number(sum(row.cache_read_tokens for row in rows)),
        money(sum(costs) if costs else None),
    )


def _longest(console: Console, longest: Sequence[Longest], previews: Mapping[str, str]) -> None:
    heading(console, "Longest conversations")
    most = max((len(f"{each.messages:,}") for each in longest), default=0)
    widest = max((len(each.session_id) for each in longest), default=0)
    for each in longest:
        line = Text(f"{each.messages:>{most},}  ").append(f"{each.session_id:<{widest}}  ", style="dim")
        title = one_line(each.title or previews.get(each.session_id) or "(untitled)")
        console.print(line.append(cut(title, max(console.width - line.cell_len, _LEAST_TITLE))))
