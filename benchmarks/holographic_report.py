"""What the holographic benchmark shows: tables on the terminal and the markdown page, from the same figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.bars import Verdict
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from harness.figures import Figure, Figures
    from rich.console import Console

TITLES = {
    "speed": "Speed",
    "size": "Disk and memory",
    "quality": "Answers, on labelled sets (300 facts a language; the held part, then those that are named)",
    "ablation": "What each signal adds, by kind of question (right at first, nDCG at 10; mean over languages)",
    "contradictions": "Contradictions, on the held part of the labelled pairs",
}
METHOD = """\
* Each side runs in a process of its own, opened and asked through the provider contract (`initialize`,
  `handle_tool_call`, `prefetch`). Times are CPU of the whole process, since other work shares the machine; *own* is
  wall time less the wait for a processor, so it has the disk in it.
* *peer* is hermes-agent as installed, which has no numpy: its vectors are off and its entity queries are keyword
  searches. *peer, numpy* has vectors; its facts are added without and then get them by its own recovery function,
  because one addition costs it a tenth of a second at 1,000 facts. It is measured to 1,000 facts.
* `add, as many at once` is one call with all facts on our side; the peer has no such call.
* Questions: every second has an answer; the others are small talk, or ask about somebody no fact is about. *recalled
  right*: facts shown before a turn that answer (precision); *answers recalled*: of the facts that answer, five a
  question at most, those that were shown (recall); *turns right*: turns that were shown something, and it answered;
  *quiet when none*: questions without an answer for which nothing was recalled.
* Parts of the sets: *held* was looked at when an earlier release had been measured. *fresh*, *later* and *sealed* were
  written one after the other while recall was being mended, with other names, sentences and small talk; they were
  looked at when they had been measured once, of *sealed* only Chinese. `docs/holographic.md` has the first figures.
* Kinds of questions: *plain* in the words of the facts; *names that are words* (Rose, a rose); *who did it to whom*,
  where the reverse is a fact as well; *three names* among facts about one of them; *half remembered*, two or three
  words of a long fact among short ones that have most of them.
* Where a side ranks all facts there are, as many of its first are counted as there are right ones.
"""
MARKS = {True: "yes", False: "NO", None: "-"}
_SEARCHES = ("search, 2 English words", "search, English sentence", "search, Chinese word", "search, Chinese question")
_ENTITIES = ("probe a person", "probe a project", "related", "reason, 2 entities")


def verdicts(figures: Figures) -> list[Verdict]:
    """Every bar and the figure held against it."""
    return [*_speed(figures), *_size(figures), *_quality(figures)]


def _most(row: str, what: str, value: float | None, bar: float, unit: str) -> Verdict:
    shown = "not measured" if value is None else f"{value:,.3g}{unit}" if value < 1_000 else f"{value:,.0f}{unit}"
    return Verdict(row, what, shown, f"<= {bar:g}{unit}", None if value is None else value <= bar)


def _least(row: str, what: str, value: float | None, bar: float, unit: str = "") -> Verdict:
    shown = "not measured" if value is None else f"{value:,.3g}{unit}" if value < 1_000 else f"{value:,.0f}{unit}"
    return Verdict(row, what, shown, f">= {bar:g}{unit}", None if value is None else value >= bar)


def _speed(figures: Figures) -> Iterator[Verdict]:
    ten, hundred = 10_000, 100_000
    yield _most(
        "add", "one by one, p95 CPU, 10,000", figures.get("add, one by one", ten, "ours", "cpu_p95_ms"), 5, " ms"
    )
    yield _least("add", "batch, 10,000", figures.get("add, as many at once", ten, "ours", "per_s"), 2_000, " /s")
    for names, row, bars in ((_SEARCHES, "search", (15, 40)), (_ENTITIES, "entities", (10, 30))):
        for name in names:
            for size, bar in zip((ten, hundred), bars, strict=True):
                value = figures.get(name, size, "ours", "cpu_p95_ms")
                yield _most(row, f"{name}, p95 CPU, {size:,}", value, bar, " ms")


def _size(figures: Figures) -> Iterator[Verdict]:
    for size in (10_000, 100_000):
        yield _most(
            "disk", f"a fact of 81 bytes, {size:,}", figures.get("store", size, "ours", "bytes_per_fact"), 1_500, " B"
        )
    yield _most("memory", "resident, 100,000", figures.get("store", 100_000, "ours", "rss_mb"), 250, " MB")


def _quality(figures: Figures) -> Iterator[Verdict]:
    for figure in figures.of("quality"):
        if figure.side != "ours":
            continue
        if figure.name == "zh":
            yield _least("search", "recall@5, Chinese", figure.values["search_recall_at_5"], 0.95)
        yield _least("recall", f"precision, {figure.name}", figure.values["recalled_right"], 0.9)
        yield _least("recall", f"turns right, {figure.name}", figure.values["turns_right"], 0.9)
        for name in ("probe_precision", "probe_recall", "related_precision", "related_recall"):
            yield _least("entities", f"{name.replace('_', ', ')}, {figure.name}", figure.values[name], 0.98)
    for figure in figures.of("contradictions"):
        yield _least("contradict", f"F1, {figure.name}", figure.values["f1"], 0.85)


def rows(figures: Figures, part: str) -> tuple[list[str], list[list[str]]]:
    """Column names and cells of one part's table."""
    of_part = figures.of(part)
    columns = list(dict.fromkeys(name for figure in of_part for name in figure.values))
    ordered = sorted(of_part, key=lambda figure: figure.size) if part in ("speed", "size") else of_part
    cells = [
        [figure.name, f"{figure.size:,}", figure.side, *(_number(figure, column) for column in columns)]
        for figure in ordered
    ]
    return ["what", "size", "side", *(column.replace("_", " ") for column in columns)], cells


def _number(figure: Figure, column: str) -> str:
    value = figure.values.get(column)
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.3g}"


def show(console: Console, figures: Figures, failures: list[str]) -> None:
    """Tables of every measured part, then the bars, then what failed."""
    for part, title in TITLES.items():
        columns, cells = rows(figures, part)
        if cells:
            _table(console, title, columns, cells)
    judged = [verdict for verdict in verdicts(figures) if verdict.passed is not None]
    _table(console, "Bars", ["row", "what", "measured", "bar", "met"], [_cells(one) for one in judged])
    console.print(f"{len(judged)} bars judged, {sum(not verdict.passed for verdict in judged)} missed")
    for failure in failures:
        console.print(f"[red]failed[/red] {failure}", highlight=False)


def _table(console: Console, title: str, columns: list[str], cells: list[list[str]]) -> None:
    table = Table(*columns, title=title, title_justify="left")
    for row in cells:
        table.add_row(*row)
    console.print(table)


def _cells(verdict: Verdict) -> list[str]:
    return [verdict.row, verdict.what, verdict.measured, verdict.bar, MARKS[verdict.passed]]


def write_markdown(path: Path, about: dict[str, Any], figures: Figures, failures: list[str]) -> None:
    """The page under docs/; nothing on it is written by hand."""
    parts = ["# Holographic memory: benchmarks", ""]
    parts += ["Written by `benchmarks/holographic.py` from what it measured; do not edit.", ""]
    parts += [f"* {name}: {value}" for name, value in about.items()]
    parts += ["", "## How it is measured", "", METHOD, "## Bars", ""]
    parts += _markdown(["row", "what", "measured", "bar", "met"], [_cells(one) for one in verdicts(figures)])
    for part, title in TITLES.items():
        columns, cells = rows(figures, part)
        if cells:
            parts += ["", f"## {title}", "", *_markdown(columns, cells)]
    if failures:
        parts += ["", "## Not measured", "", *(f"* {failure}" for failure in failures)]
    path.write_text("\n".join(parts) + "\n", encoding="utf-8")


def _markdown(columns: list[str], cells: list[list[str]]) -> list[str]:
    lines = [columns, ["---"] * len(columns), *cells]
    return [f"| {' | '.join(line)} |" for line in lines]
