"""The numbers of a fact store as a page to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from hermes_state.commands.pages import MOST_ROWS, bar, grid, heading, named, page, rest
from hermes_state.commands.plain import one_line
from hermes_state.commands.wording import count, listed

if TYPE_CHECKING:
    from rich.console import Console

    from hermes_state.commands.invocation import Invocation
    from memory.providers.holographic.statistics import FactStatistics

# From this part of its capacity on a bank is marked.
_NEARLY_FULL = 0.8


def show(invocation: Invocation, place: str, numbers: FactStatistics) -> None:
    """Print the page."""
    console = page(invocation)
    _summary(console, place, numbers)
    if not numbers.facts:
        return
    _trust(console, numbers)
    _categories(console, numbers)
    _topics(console, numbers)
    _banks(console, numbers)
    _doubles(console, numbers)
    _advice(console, numbers)


def _summary(console: Console, place: str, numbers: FactStatistics) -> None:
    about = f" about {count(numbers.entities, 'entity', 'entities')}" if numbers.entities else ""
    console.print(Text(f"{count(numbers.facts, 'fact')}{about}", style="bold"))
    console.print(Text(place, style="dim"))
    rest = [
        words
        for number, words in (
            (numbers.superseded, f"{numbers.superseded:,} superseded"),
            (numbers.retrieved, f"recalled {count(numbers.retrieved, 'time')}"),
            (numbers.helpful, f"marked helpful {count(numbers.helpful, 'time')}"),
        )
        if number
    ]
    if rest:
        console.print(Text(listed(rest), style="dim"))


def _trust(console: Console, numbers: FactStatistics) -> None:
    heading(console, "Trust")
    most, steps = max(numbers.trust) or 1, len(numbers.trust)
    table = grid("left", "left", "right")
    held = [step for step, facts in enumerate(numbers.trust) if facts]
    for step in range(held[-1], held[0] - 1, -1):
        facts = numbers.trust[step]
        style = "green" if step >= steps * 0.7 else "red" if step < steps * 0.3 else "cyan"
        label = f"{step / steps:.1f}–{(step + 1) / steps:.1f}"
        table.add_row(label, bar(console, facts / most, style), f"{facts:,}")
    console.print(table)


def _categories(console: Console, numbers: FactStatistics) -> None:
    heading(console, "Categories")
    most = numbers.categories[0].facts
    table = grid("left", "left", "right", "right")
    for each in numbers.categories[:MOST_ROWS]:
        trust = Text(f"trust {each.trust:.2f}", style="dim")
        table.add_row(named(each.name), bar(console, each.facts / most), f"{each.facts:,}", trust)
    console.print(table)
    rest(console, numbers.categories)


def _topics(console: Console, numbers: FactStatistics) -> None:
    if not numbers.topics:
        return
    heading(console, "Most is known about")
    most = numbers.topics[0].facts
    table = grid("left", "left", "right")
    for each in numbers.topics[:MOST_ROWS]:
        table.add_row(named(each.name), bar(console, each.facts / most), f"{each.facts:,}")
    console.print(table)


def _banks(console: Console, numbers: FactStatistics) -> None:
    if not numbers.banks:
        return
    capacity = numbers.banks[0].capacity
    heading(console, "Banks", f"fullest of each category; one holds {capacity:,} links reliably")
    table = grid("left", "left", "right", "left")
    for each in numbers.banks[:MOST_ROWS]:
        load = each.fullest / capacity
        style = "red" if each.over else "yellow" if load >= _NEARLY_FULL else "green"
        over = f", {each.over:,} over capacity" if each.over else ""
        words = Text(f"{count(each.banks, 'bank')}, {count(each.links, 'link')}{over}", style="dim")
        table.add_row(named(each.category), bar(console, load, style), f"{load:.0%}", words)
    console.print(table)
    rest(console, numbers.banks)


def _doubles(console: Console, numbers: FactStatistics) -> None:
    if not numbers.doubles:
        return
    heading(console, "Doubles", "the same but for case and punctuation")
    table = grid("right", "left", "left")
    for each in numbers.doubles[:MOST_ROWS]:
        ids = ", ".join(map(str, each.ids[:6])) + (", …" if len(each.ids) > 6 else "")
        table.add_row(f"{len(each.ids):,}", Text(ids, style="dim"), Text(one_line(each.content)))
    console.print(table)
    rest(console, numbers.doubles)


def _advice(console: Console, numbers: FactStatistics) -> None:
    lines = []
    if numbers.contradictions:
        pairs = count(numbers.contradictions, "pair")
        lines.append(f"{pairs} of facts contradict each other: `hermes-state memory facts contradictions`")
    if numbers.rebuild_due:
        dims = listed(f"{number:,} of {dim:,} phases" for dim, number in sorted(numbers.dims.items()))
        lines.append(f"vectors are not all alike ({dims}): `hermes-state memory facts rebuild`")
    if lines:
        console.print()
    for line in lines:
        console.print(Text(line, style="yellow"))
