"""The bars of backups and restores: what the figures of ``homes.py`` must reach, and the page that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from rich.console import Console

# Bars of the issue.
BACKUP_TIME, BACKUP_SIZE, MEMORY_MB, STALL_MS, VERIFY_MB_PER_S, OUR_RESTORE = 1 / 8, 1 / 8, 200, 50, 400, 1 / 2
COLUMNS = {"wall_s": "s", "cpu_s": "CPU s", "peak_mb": "peak MB", "mb": "MB", "mb_per_s": "MB/s", "p99_ms": "p99 ms"}
# Runs of ours of which the memory counts.
_OURS = ("ours", "full", "ours --keep-indexes", "ours, of the peer's zip")
_PAGE = """\
# Benchmarks of backups and restores

Written by `benchmarks/homes.py` from what it measured; do not edit. Daily backups into a repository:
[benchmarks-repository.md](benchmarks-repository.md).

{about}

## How it is measured

* The home is a Hermes `state.db` that the peer made, of {state_mb:,.0f} MB, and {files:,} small files of random words.
  All sides read the same home in the same run, each command in a process of its own with its start; times are wall
  times, so they follow the load of the machine, and CPU times of the process with its children. The page cache is warm.
* *full* is an archive with `--keep-indexes`. *verify* is told per megabyte of content, for the archive with the
  indexes: {full_mb:,.0f} MB.
* *rebuild of the indexes* is what the peer does by itself when it opens a `state.db` without them.
* *our* backups and restores are of a home with the same small files and a store of ours with the same conversations.
  The peer brings conversations back in two ways, and our restore is held against both. *Import of the conversations*
  is its import of its own export (in the dashboard), which indexes them, as our restore does. *Its archive* is
  `hermes import` of its zip, which carries the database with its indexes, as our archive does with `--keep-indexes`;
  what building an index costs beside copying one is told without a bar.
* Stall: a writer that appends a message every 5 ms through SQLite, alone and during a backup.

## Bars

| row | measured | bar | met |
| --- | ---: | ---: | --- |
{bars}

## Figures

| what | side | {columns} |
| --- | --- |{rules}
{figures}
"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar and the value held against it; None when something of it was not measured, or when nothing is asked."""

    row: str
    value: float | None
    bar: float | None
    is_least: bool = False
    unit: str = "x"

    @property
    def is_met(self) -> bool | None:
        """Whether it is; None: it can't be told."""
        if self.value is None or self.bar is None:
            return None
        return self.value >= self.bar if self.is_least else self.value <= self.bar

    def cells(self) -> list[str]:
        """For a table."""
        measured = "not measured" if self.value is None else f"{self.value:,.3g} {self.unit}"
        if self.bar is None:
            return [self.row, measured, "", ""]
        met = {None: "?", True: "yes", False: "NO"}[self.is_met]
        return [self.row, measured, f"{'>=' if self.is_least else '<='} {self.bar:,.3g} {self.unit}", met]


def bars(figures: Sequence[dict[str, Any]]) -> list[Bar]:
    """Every bar, in the order of the goal table."""
    found = {(figure["what"], figure["side"]): figure for figure in figures}

    def of(what: str, side: str, name: str = "wall_s") -> float | None:
        return found.get((what, side), {}).get(name)

    def ratio(one: float | None, other: float | None) -> float | None:
        return one / other if one is not None and other else None

    backup, peer_import = of("backup", "ours"), of("restore", "peer")
    rebuild, conversations = of("rebuild of the indexes", "peer"), of("import of the conversations", "peer")
    our_restore, kept = of("our restore", "ours"), of("our restore", "full")
    peaks = [figure["peak_mb"] for figure in figures if figure["side"] in _OURS and "peak_mb" in figure]
    quiet, busy = (of("append during a backup", side, "p99_ms") for side in ("nobody", "ours"))
    stall = busy - quiet if quiet is not None and busy is not None else None
    return [
        Bar("backup time, of the peer's", ratio(backup, of("backup", "peer")), BACKUP_TIME),
        Bar("archive size, of the peer's", ratio(of("backup", "ours", "mb"), of("backup", "peer", "mb")), BACKUP_SIZE),
        Bar("verify", of("verify", "full", "mb_per_s"), VERIFY_MB_PER_S, is_least=True, unit="MB/s"),
        Bar("our restore, of the peer's import of the conversations", ratio(our_restore, conversations), OUR_RESTORE),
        Bar("with --keep-indexes, of its import of its archive", ratio(kept, peer_import), OUR_RESTORE),
        Bar("with the index built anew, of that import", ratio(our_restore, peer_import), None),
        Bar("restore of a state.db, of the peer's rebuild", ratio(of("restore", "ours"), rebuild), 1),
        Bar("the same with --keep-indexes, of its import", ratio(of("restore", "full"), peer_import), 1),
        Bar("peak memory of ours", max(peaks, default=None), MEMORY_MB, unit="MB"),
        Bar("added to an append, p99", stall, STALL_MS, unit="ms"),
    ]


def show(console: Console, figures: Sequence[dict[str, Any]]) -> None:
    """Figures and bars as tables."""
    table = Table("what", "side", *COLUMNS.values())
    for figure in figures:
        table.add_row(*_cells(figure))
    console.print(table)
    judged = Table("row", "measured", "bar", "met")
    for bar in bars(figures):
        judged.add_row(*bar.cells())
    console.print(judged)


def write_page(path: Path, about: dict[str, Any], figures: Sequence[dict[str, Any]]) -> None:
    """The page of a run."""
    facts = {name: about[name] for name in ("state_mb", "files", "full_mb")}
    path.write_text(
        _PAGE.format(
            **facts,
            about="\n".join(f"* {name}: {value}" for name, value in about.items() if name not in facts),
            bars="\n".join(_rows(bar.cells() for bar in bars(figures))),
            columns=" | ".join(COLUMNS.values()),
            rules=" ---: |" * len(COLUMNS),
            figures="\n".join(_rows(_cells(figure) for figure in figures)),
        ),
        encoding="utf-8",
    )


def _cells(figure: dict[str, Any]) -> list[str]:
    values = (figure.get(name) for name in COLUMNS)
    return [figure["what"], figure["side"], *("" if value is None else f"{value:,.2f}" for value in values)]


def _rows(rows: Iterable[list[str]]) -> Iterator[str]:
    return (f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |" for cells in rows)
