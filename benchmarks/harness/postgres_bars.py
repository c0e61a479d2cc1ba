"""The bars of the PostgreSQL engine: what the figures of ``postgres.py`` must reach, and the page that shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from harness.bars import COMPARED, LISTS, QUESTION
from harness.home_bars import Bar

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from harness.figures import Figures

# Bars of the issue.
OF_RAW, SEARCH_MS, LIST_MS, COPY_PER_S, COPY_MB, BYTES, GROWTH = 0.8, 80, 10, 5_000, 200, 2.5, 1.5
PEERS = ("agents", "langgraph")
TITLES = {
    "append": "Append, one commit each",
    "search": "Search, 20 hits",
    "list": "Lists and sessions",
    "bytes": "Bytes on the server",
    "growth": "Search inside one of many stores",
    "tenants": "Many stores opened, written and searched in turn",
    "copy": "Copy",
    "digest": "Digests",
}
_METHOD = """\
* One server for all, started for the run with these settings, else its defaults: `{settings}`.
  Each side is a process of its own and talks to it over TCP on loopback. *raw* is psycopg with a prepared INSERT into
  a table without any index but its primary key; *agents* is `SQLAlchemySession` of openai-agents over asyncpg,
  *langgraph* its `PostgresSaver` with a checkpoint of the conversation after each message. All commit each message,
  with `synchronous_commit = on`.
* *own* is wall time less the time the client was ready to run but had no processor, as the kernel counts it. The server
  waits for processors, too, and nobody takes that off: *server ms* is the CPU time of all its processes per call.
* Big stores are the first {built:,} messages of the corpus, stored through the public interface, and copies of their
  rows made by the server; ids, titles and times differ, texts do not.
* *bytes of text* is the size of all tables and indexes of the database to the UTF-8 bytes of the texts in it.
"""


def bars(figures: Figures) -> list[Bar]:
    """Every bar, in the order of the goal table."""
    found = [*_appends(figures), *_reads(figures)]
    size = max(figures.sizes("bytes of text"), default=0)
    found.append(Bar("bytes per byte of text", figures.get("bytes of text", size, "ours", "of_text"), BYTES))
    grown = figures.of("growth")
    if len(grown) > 1:
        few, many = (row.values["own_p50_ms"] for row in (grown[0], grown[-1]))
        found.append(Bar(f"search in one store, {grown[0].size:,} to {grown[-1].size:,} messages", many / few, GROWTH))
    for way in ("to the server", "to a file"):
        copied = figures.of("copy")
        values = next((row.values for row in copied if row.name == way), {})
        found.append(Bar(f"copy {way}", values.get("per_s"), COPY_PER_S, is_least=True, unit="/s"))
        found.append(Bar(f"copy {way}, memory", values.get("peak_mb"), COPY_MB, unit="MB"))
    return found


def _appends(figures: Figures) -> list[Bar]:
    found = []
    for clients in figures.sizes("append"):
        ours, raw = (figures.get("append", clients, side, "per_s") for side in ("ours", "raw"))
        found.append(Bar(f"append, {clients} clients, of raw", _ratio(ours, raw), OF_RAW, is_least=True))
        for peer in PEERS:
            theirs = figures.get("append", clients, peer, "per_s")
            found.append(Bar(f"append, {clients} clients, of {peer}", _ratio(ours, theirs), 1, is_least=True))
    return found


def _reads(figures: Figures) -> list[Bar]:
    found = []
    for names, bar in (((*COMPARED, QUESTION), SEARCH_MS), (LISTS, LIST_MS)):
        for name in names:
            size = max(figures.sizes(name), default=0)
            found.append(Bar(f"{name}, p95, {size:,}", figures.get(name, size, "ours", "own_p95_ms"), bar, unit="ms"))
    return found


def _ratio(over: float | None, under: float | None) -> float | None:
    return over / under if over is not None and under else None


def show(console: Console, figures: Figures) -> None:
    """Figures and bars as tables."""
    for part, title in TITLES.items():
        columns, cells = _table(figures, part)
        if cells:
            table = Table(*columns, title=title, title_justify="left")
            for row in cells:
                table.add_row(*row)
            console.print(table)
    judged = Table("row", "measured", "bar", "met")
    for bar in bars(figures):
        judged.add_row(*bar.cells())
    console.print(judged)


def write_page(path: Path, about: dict[str, Any], figures: Figures) -> None:
    """The page of a run."""
    facts = {"settings": about["settings"], "built": about["built"]}
    lines = ["# Benchmarks of the PostgreSQL engine", ""]
    lines += ["Written by `benchmarks/postgres.py` from what it measured; do not edit.", ""]
    lines += [f"* {name}: {value}" for name, value in about.items() if name not in facts]
    lines += ["", "## How it is measured", "", _METHOD.format(**facts), "## Bars", ""]
    lines += _markdown(["row", "measured", "bar", "met"], [bar.cells() for bar in bars(figures)])
    for part, title in TITLES.items():
        columns, cells = _table(figures, part)
        if cells:
            lines += ["", f"## {title}", "", *_markdown(columns, cells)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _table(figures: Figures, part: str) -> tuple[list[str], list[list[str]]]:
    rows = figures.of(part)
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    first = "clients" if part == "append" else "messages"
    cells = [[row.name, f"{row.size:,}", row.side, *(_number(row.values.get(name)) for name in names)] for row in rows]
    headings = [name.replace("per_s", "/s").replace("_mb", " MB").replace("_", " ").strip() for name in names]
    return ["what", first, "side", *headings], cells


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 1_000 or value == int(value) else f"{value:.3g}"


def _markdown(columns: list[str], cells: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(line)} |" for line in (columns, ["---"] * len(columns), *cells)]
