"""What a run shows: tables on the terminal, JSON, and the markdown page. All from the same figures."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.table import Table

from harness.bars import verdicts

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from harness.bars import Verdict
    from harness.figures import Figure, Figures
    from harness.run import Failure

TITLES = {
    "append": "Append one by one",
    "turn": "Append a turn of four messages",
    "bulk": "Bulk import into an empty store",
    "memory": "The whole corpus in one process",
    "disk": "Bytes on disk, index included",
    "breakdown": "Where the bytes are, MB",
    "search": "Search, 20 hits",
    "list": "Lists and sessions",
    "window": "Window around a message",
    "rebuild": "Index rebuild",
    "processes": "Four processes appending",
    "cli": "Command line, from a cold process",
}
#: The value whose ratio between the sides is shown, and whether more of it is better.
_HEADLINE = {
    "append": ("per_s", True),
    "turn": ("per_s", True),
    "bulk": ("per_s", True),
    "memory": ("per_s", True),
    "disk": ("disk_mb", False),
    "search": ("cpu_p50_ms", False),
    "list": ("cpu_p50_ms", False),
    "window": ("cpu_p50_ms", False),
    "rebuild": ("cpu_s", False),
    "processes": ("per_s", True),
    "cli": ("own_p50_ms", False),
}
METHOD = """\
* Each side runs in a process of its own, with its own interpreter and defaults except `synchronous`. Within a part the
  sides take turns; every figure is over all rounds. *bare* is one SQLite table without any index, a commit per append,
  with the same SQLite library as ours: the floor.
* Times are per call. *cpu* is the time of the whole process, background threads included. *wall* follows the load of
  the machine. Where the disk matters (appends, import, rebuild) and for commands, rates and times are wall time less
  the time the process was ready to run but had no processor, as the kernel counts it. For four processes it is the
  wall time of the best round of each side.
* *of bare* is the median over the rounds of our rate to the bare rate.
* Appends are sampled on stores of each size. Each sample passes the peer's 1000th write, at which it optimizes its
  index inside the append; *steady /s* is the rate without calls over 0.5 s. *settle* is what remains to be indexed
  after a round until a search sees everything: wall seconds over all rounds, CPU milliseconds per message.
* Bulk import: */s* counts until everything is searchable, *stored /s* until everything is committed. The peer's is the
  import behind its dashboard. The bar compares *stored /s*, as for appends and turns (where the index follows, too),
  with the peer's append, its only other way in.
* A query is never asked twice in the same form (blanks at its end differ), so no cache of parsed queries shortens it.
* Our side reads the snippet and the context of each hit, as a program that shows them does.
* A question is matched by any of its words by us, and by all of its words by the peer, which finds nothing: those two
  figures are not the same work.
* Text is UTF-8 of message content and tool calls; disk is database and write-ahead log after closing.
"""
MARKS = {True: "yes", False: "NO", None: "-"}


def rows(figures: Figures, part: str) -> tuple[list[str], list[list[str]]]:
    """Column names and cells of one part's table."""
    of_part = figures.of(part)
    if part == "breakdown":
        return ["size", "side", "tables and indexes"], [[f"{f.size:,}", f.side, _listed(f)] for f in of_part]
    columns = list(dict.fromkeys(name for figure in of_part for name in figure.values))
    cells = []
    for figure in sorted(of_part, key=lambda one: (one.size,)):
        values = [_number(figure.values.get(column)) for column in columns]
        cells.append([figure.name, f"{figure.size:,}", figure.side, *values, _better(figures, figure)])
    return ["what", "size", "side", *(_heading(column) for column in columns), "ours / peer"], cells


def _better(figures: Figures, figure: Figure) -> str:
    """How many times better we are than the peer, on our row."""
    if figure.side != "ours" or figure.part not in _HEADLINE:
        return ""
    value, more = _HEADLINE[figure.part]
    ours, peer = figure.values.get(value), figures.get(figure.name, figure.size, "peer", value)
    if not ours or not peer:
        return ""
    return f"{ours / peer if more else peer / ours:.3g}x"


def _listed(figure: Figure) -> str:
    return ", ".join(f"{name} {value:.1f}" for name, value in figure.values.items())


def _heading(column: str) -> str:
    return column.replace("per_s", "/s").replace("_mb", " MB").replace("_", " ").strip()


def _number(value: float | None) -> str:
    if value is None:
        return ""
    if value == int(value) and value < 1e6:
        return f"{value:,.0f}"
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.3g}"


def show(console: Console, figures: Figures, failures: list[Failure]) -> None:
    """Tables of every measured part, then the bars, then what failed."""
    for part, title in TITLES.items():
        columns, cells = rows(figures, part)
        if cells:
            _table(console, title, columns, cells)
    judged = [verdict for verdict in verdicts(figures) if verdict.passed is not None]
    _table(console, "Bars", ["row", "what", "measured", "bar", "met"], [_cells(one) for one in judged])
    missed = sum(not verdict.passed for verdict in judged)
    console.print(f"{len(judged)} bars judged, {missed} missed, {len(verdicts(figures)) - len(judged)} not measured")
    for failure in failures:
        console.print(f"[red]failed[/red] {failure.part}: {failure.what}\n{failure.error}", highlight=False)


def _table(console: Console, title: str, columns: list[str], cells: list[list[str]]) -> None:
    table = Table(*columns, title=title, title_justify="left")
    for row in cells:
        table.add_row(*row)
    console.print(table)


def _cells(verdict: Verdict) -> list[str]:
    return [verdict.row, verdict.what, verdict.measured, verdict.bar, MARKS[verdict.passed]]


def write_json(path: Path, about: dict[str, Any], figures: Figures, failures: list[Failure]) -> None:
    """Everything, for other programs and for writing the page again."""
    document = {
        "about": about,
        "figures": [asdict(row) for row in figures.rows],
        "bars": [asdict(verdict) for verdict in verdicts(figures)],
        "failures": [asdict(failure) for failure in failures],
    }
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_markdown(path: Path, about: dict[str, Any], figures: Figures, failures: list[Failure]) -> None:
    """The page under docs/; nothing on it is written by hand."""
    parts = ["# Benchmarks", "", "Written by `benchmarks/store.py` from what it measured; do not edit.", ""]
    parts += [f"* {name}: {value}" for name, value in about.items()]
    parts += ["", "## How it is measured", "", METHOD, "## Bars", ""]
    parts += _markdown(["row", "what", "measured", "bar", "met"], [_cells(one) for one in verdicts(figures)])
    for part, title in TITLES.items():
        columns, cells = rows(figures, part)
        if cells:
            parts += ["", f"## {title}", "", *_markdown(columns, cells)]
    if failures:
        parts += ["", "## Not measured", ""]
        parts += [f"* {one.part}: {one.what}: {one.error.strip().splitlines()[-1]}" for one in failures]
    path.write_text("\n".join(parts) + "\n", encoding="utf-8")


def _markdown(columns: list[str], cells: list[list[str]]) -> list[str]:
    lines = [columns, ["---"] * len(columns), *cells]
    return [f"| {' | '.join(line)} |" for line in lines]
