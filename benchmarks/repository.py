"""Daily backups into a repository against their bars, beside restic and borg on the same home in the same run.

    python benchmarks/repository.py --state peer-100000.db --markdown docs/benchmarks-repository.md
    python benchmarks/repository.py --state peer-100000.db --files 5000 --repeat 3 --json repository.json

The home is a Hermes `state.db` that the peer made (``benchmarks/store.py`` keeps such in its cache) and many small
files. In each round and for each way in which 1 % of the rows and of the files can change, the home and the
repositories are made anew: each tool makes a first backup, the home changes, and each makes the second. In the end
some more follow, up to the tenth. The tools take turns. Each command runs in a process of its own; wall time, CPU time
and peak memory are the process's, start of the interpreter included. Before each, what is waiting to be written is
written, and the home is read, so that the page cache is warm for all: borg throws what it has read out of it. Once the
contents of all files are thrown out for all. A bar that is missed does not change the exit code unless ``--strict`` is
given.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent))

from homes import Bench, ours

if TYPE_CHECKING:
    from collections.abc import Iterator

MB = 1_000_000
# Bars of the issue.
SECOND_TIME, SECOND_BYTES, MEMORY_MB = 0.10, 0.03, 200
# Files that were changed just now are read again by the next backup, whatever their times say. [s]
SETTLED_S = 3
SEED = 20261130
#: Columns of the table when stdout is not a terminal.
PIPE_WIDTH = 150
# One hundredth of the rows, in the ways a store changes; the peer's triggers keep its indexes up to date.
CHANGES = {
    "scattered": "UPDATE messages SET content = content || ' changed' WHERE id % 100 = :n",
    "together": "UPDATE messages SET content = content || ' changed' WHERE id > :n * 900 AND id <= :n * 900 + :rows",
    "added": "INSERT INTO messages ({columns}) SELECT {columns} FROM messages WHERE id % 100 = :n",
}


COLD = "1 % together, not cached"
LATER = "1 % added, a day later"
# Backups of the last home, whose later ones are measured too.
TENTH = 10
# Ours, with a clock that is a day ahead: SQLite checks the store once a day.
TOMORROW = """
import time
now = time.time
time.time = lambda: now() + 24 * 3600
from hermes_state.commands import main
main()
"""


@dataclass(frozen=True)
class Tool:
    """Who backs up.

    Attributes:
        name: of the side, and of its folder.
        make: makes its repository; none for those that need not.
        backup, check: the commands; `{repo}`, `{home}` and `{n}` stand for paths and the number of the backup.
    """

    name: str
    make: tuple[str | Path, ...]
    backup: tuple[str | Path, ...]
    check: tuple[str | Path, ...]

    def command(self, words: tuple[str | Path, ...], bench: Bench, number: int) -> tuple[str, ...]:
        """A command with its paths."""
        places = {"repo": bench.folder / self.name, "home": bench.home, "n": number}
        return tuple(
            str(word).format(**places) if isinstance(word, str) and "{" in word else str(word) for word in words
        )


def tools() -> Iterator[Tool]:
    """Ours, and those that are installed."""
    yield Tool("ours", (), ours("backup", "--repo", "{repo}"), ours("repo", "check", "--read-data", "{repo}"))
    if shutil.which("restic"):
        restic = ("restic", "-q", "-r", "{repo}")
        yield Tool("restic", (*restic, "init"), (*restic, "backup", "{home}"), (*restic, "check", "--read-data"))
    if shutil.which("borg"):
        create = ("borg", "create", "-C", "zstd,3", "{repo}::{n}", "{home}")
        yield Tool(
            "borg", ("borg", "init", "-e", "none", "{repo}"), create, ("borg", "check", "--verify-data", "{repo}")
        )


def change(home: Path, how: str, number: int) -> None:
    """Change 1 % of the rows and 1 % of the files."""
    with closing(sqlite3.connect(home / "state.db")) as db:
        names = [row[1] for row in db.execute("PRAGMA table_info(messages)") if row[1] != "id"]
        rows = db.execute("SELECT count(*) FROM messages").fetchone()[0]
        statement = CHANGES[how].replace("{columns}", ", ".join(names))
        db.execute(statement, {"n": number, "rows": rows // 100} if ":rows" in statement else {"n": number})
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    files = sorted(path for path in home.rglob("*.md") if path.is_file())
    for path in random.Random(number).sample(files, len(files) // 100):
        path.write_text(f"{path.read_text()} changed {number}\n")


def settle(home: Path, *, cached: bool) -> None:
    """Let nobody pay for what others left: nothing waits to be written; all of the home is cached, or nothing."""
    os.sync()
    for path in home.rglob("*"):
        if path.is_file():
            with path.open("rb", buffering=0) as file:
                if not cached:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                while cached and file.read(MB):
                    pass


def bytes_of(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure(bench: Bench, sides: list[Tool], number: int, what: str, *, cached: bool = True) -> None:
    """One backup by each, in another order each time.

    Args:
        number: of the backup, from 0 on.
    """
    time.sleep(SETTLED_S)
    first = len(bench.figures) // len(sides) % len(sides)
    for side in (*sides[first:], *sides[:first]):
        place = bench.folder / side.name
        before = bytes_of(place)
        settle(bench.home, cached=cached)
        figure = bench.run(what, side.name, *side.command(side.backup, bench, number))
        figure["added_mb"] = (bytes_of(place) - before) / MB


def run(bench: Bench, repeat: int, console: Console) -> list[dict[str, Any]]:
    """All measurements; of those that were repeated, the medians."""
    sides = list(tools())
    for round_number in range(repeat):
        for how in CHANGES:
            console.print(f"round {round_number + 1} of {repeat}: {how} …")
            begin(bench, sides)
            measure(bench, sides, 0, "first")
            change(bench.home, how, round_number + 1)
            measure(bench, sides, 1, f"1 % {how}")
        measure(bench, sides, 2, "nothing changed")
        console.print(f"round {round_number + 1} of {repeat}: {LATER} …")
        begin(bench, sides[:1])
        measure(bench, sides[:1], 0, "first")
        change(bench.home, "added", round_number + 1)
        tomorrow = (sys.executable, "-c", TOMORROW, *sides[0].backup[3:])
        measure(bench, [replace(sides[0], backup=tomorrow)], 1, LATER)
    console.print("what follows …")
    begin(bench, sides)
    measure(bench, sides, 0, "first")
    change(bench.home, "together", TENTH)
    measure(bench, sides, 1, COLD, cached=False)
    for number in range(2, TENTH):
        change(bench.home, "added", number)
        measure(bench, sides, number, "1 % added, the tenth time" if number == TENTH - 1 else "")
    for side in sides:
        bench.run("check, every byte", side.name, *side.command(side.check, bench, TENTH))
    return medians([figure for figure in bench.figures if figure["what"]])


def begin(bench: Bench, sides: list[Tool]) -> None:
    """A home as it was in the beginning, and empty repositories."""
    for folder in (bench.home, *(bench.folder / side.name for side in sides)):
        shutil.rmtree(folder, ignore_errors=True)
    bench.make_home()
    for side in sides:
        (bench.folder / side.name).mkdir()
        if side.make:
            bench.run("", side.name, *side.command(side.make, bench, 0))


def medians(figures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each thing that was measured and each side."""
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for figure in figures:
        grouped.setdefault((figure["what"], figure["side"]), []).append(figure)
    names = ("wall_s", "cpu_s", "peak_mb", "added_mb")
    return [
        {"what": what, "side": side, "times": len(found)}
        | {name: statistics.median(one[name] for one in found) for name in names if name in found[0]}
        for (what, side), found in grouped.items()
    ]


# --- what is said --------------------------------------------------------------------------------------------------


def bars(rows: list[dict[str, Any]]) -> Iterator[tuple[str, float, float]]:
    """Name, value, and the most it may be; what was not measured is left out."""
    found = {(row["what"], row["side"]): row for row in rows}
    first = found["first", "ours"]
    if (COLD, "restic") in found:
        yield f"{COLD}: time, of restic's", found[COLD, "ours"]["wall_s"] / found[COLD, "restic"]["wall_s"], 1.0
    later = found[LATER, "ours"]
    yield f"{LATER}: time, of the first backup's", later["wall_s"] / first["wall_s"], SECOND_TIME
    yield f"{LATER}: CPU time, of the first backup's", later["cpu_s"] / first["cpu_s"], SECOND_TIME
    for how in CHANGES:
        second, restic = found[f"1 % {how}", "ours"], found.get((f"1 % {how}", "restic"))
        yield f"1 % {how}: bytes, of the first backup's", second["added_mb"] / first["added_mb"], SECOND_BYTES
        yield f"1 % {how}: time, of the first backup's", second["wall_s"] / first["wall_s"], SECOND_TIME
        yield f"1 % {how}: CPU time, of the first backup's", second["cpu_s"] / first["cpu_s"], SECOND_TIME
        if restic is not None:
            yield f"1 % {how}: time, of restic's", second["wall_s"] / restic["wall_s"], 1.0
            yield f"1 % {how}: CPU time, of restic's", second["cpu_s"] / restic["cpu_s"], 1.0
    yield "peak memory, MB", max(row["peak_mb"] for row in rows if row["side"] == "ours"), MEMORY_MB


def cells(row: dict[str, Any]) -> list[str]:
    """A row of figures as text."""
    formats = (("wall_s", ".2f"), ("cpu_s", ".2f"), ("peak_mb", ".0f"), ("added_mb", ".2f"))
    return [row["what"], row["side"], *(f"{row[name]:{how}}" if name in row else "" for name, how in formats)]


NOTES = """
## Why they are so

**Bytes.** The copy of the store has no full-text indexes, its pages lie where they lay before, and a changed page is
stored as a difference to what it was. restic and borg see a file in which rows moved and indexes were merged: they
store an eighth to nine tenths of it again each day.

**Time.** SQLite notes nowhere which pages changed. So a second backup reads every page with rows (a fifth of the file;
the rest are indexes) and compares its fingerprint with the one noted: a fifth of the time. Only the pages that differ
are copied, and only the 256 KiB around them are read from the repository, hashed and stored as a difference. Once a
day SQLite checks the database, in another thread: the row *a day later*, measured with a clock that is ahead. The
start of the program is a quarter; the walk, the list of files and the files that changed are another. Where changes
are scattered, nearly every 256 KiB of the copy have one, and all of it is read from the repository.

**Not cached.** Pages with rows lie all over the file. Which they are is known from the backup before, so the disk is
asked for many at a time, where reading one after the other took three times as long. Borg throws what it has read out
of the cache, so without a warm-up whoever follows it is measured so.

**Memory** does not grow with the size of files, but with the number of chunks and files; see
[repository-format.md](repository-format.md).
"""
HEADINGS = ("what", "side", "s", "CPU s", "peak MB", "added MB")


def report(rows: list[dict[str, Any]], console: Console) -> bool:
    """The tables; returns whether every bar was met."""
    table = Table(*HEADINGS)
    for row in rows:
        table.add_row(*cells(row))
    console.print(table)
    met = True
    for name, value, bar in bars(rows):
        met = met and value <= bar
        console.print(f"{'met   ' if value <= bar else 'missed'}  {name}: {value:.3f} (at most {bar:g})")
    return met


PAGE = """\
# Benchmarks: repositories

`python benchmarks/repository.py --state peer.db --files {files} --repeat {repeat}`

A home with a Hermes `state.db` of {state_mb:.0f} MB and {files:,} small files; {cores} cores, load {load:.1f} when it
began: others worked on the machine too, so CPU time tells more than wall time. {tools}; both compress with zstd, as
ours does. Medians of {repeat}, of first backups of {firsts}. What each of the rows means stands in
`benchmarks/repository.py`.

{figures}

## Bars

{bars}

{notes}
"""


def markdown(rows: list[dict[str, Any]], facts: dict[str, Any]) -> str:
    """The page of figures."""
    figures = ["| " + " | ".join(HEADINGS) + " |", "|---|---|---:|---:|---:|---:|"]
    figures += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    judged = ["| bar | measured | at most | |", "|---|---:|---:|---|"]
    for name, value, bar in bars(rows):
        judged.append(f"| {name} | {value:.3f} | {bar:g} | {'met' if value <= bar else '**missed**'} |")
    return PAGE.format(**facts, figures="\n".join(figures), bars="\n".join(judged), notes=NOTES.strip())


def version_of(*command: str) -> str:
    """The name and version that a program says of itself; "": it is not installed."""
    if shutil.which(command[0]) is None:
        return ""
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return " ".join(said.split()[:2])


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, required=True, help="a state.db that the peer made")
    parser.add_argument("--files", type=int, default=5_000, help="small files in the home (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=1, help="rounds of changes (default: %(default)s)")
    parser.add_argument("--work", type=Path, help="work here (default: a temporary folder)")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    parser.add_argument("--markdown", type=Path, help="write the page here (docs/benchmarks-repository.md)")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a bar is missed")
    return parser.parse_args(arguments)


def main() -> int:
    """The run."""
    options = parse(sys.argv[1:])
    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    with tempfile.TemporaryDirectory(prefix="repository-", dir=options.work) as folder:
        bench = Bench(None, options.state, None, options.files, Path(folder))
        facts = {
            "files": options.files,
            "repeat": options.repeat,
            "firsts": options.repeat * (len(CHANGES) + 1) + 1,
            "state_mb": options.state.stat().st_size / MB,
            "cores": os.cpu_count(),
            "load": os.getloadavg()[0],
            "tools": ", ".join(filter(None, (version_of("restic", "version"), version_of("borg", "--version")))),
        }
        rows = run(bench, options.repeat, console)
    met = report(rows, console)
    if options.json:
        options.json.write_text(json.dumps({"facts": facts, "rows": rows}, indent=1))
    if options.markdown:
        options.markdown.write_text(markdown(rows, facts), encoding="utf-8")
    return 1 if options.strict and not met else 0


if __name__ == "__main__":
    sys.exit(main())
