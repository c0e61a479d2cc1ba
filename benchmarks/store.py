"""The store against its bars: ours, the peer and a bare SQLite table, in turn in the same run.

    python benchmarks/store.py --peer /path/to/peer/bin/python --sizes 1k,10k,100k
    python benchmarks/store.py --only search,list --sizes 100k --json search.json
    python benchmarks/store.py --only append --merge search.json --markdown docs/benchmarks.md

The peer (hermes-agent) must be installed in an environment of its own. Without ``--peer`` only our side
is measured. A part that fails is reported and the exit code is 1; a bar that is missed does not
change the exit code unless ``--strict`` is given.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parent))

from corpus import CORPUS_REVISION, DEFAULT_SEED, Corpus
from harness import command_line, reading, report, writing
from harness.bars import verdicts
from harness.client import Interpreters
from harness.figures import Figures
from harness.run import PEER_BUILD, Run, machine, peer_version

#: Columns of the tables when stdout is not a terminal.
PIPE_WIDTH = 200
CACHE = Path(tempfile.gettempdir()) / "bench-cache"
PARTS = {
    "memory": writing.memory_part,
    "append": writing.append_part,
    "turn": writing.turn_part,
    "bulk": writing.bulk_part,
    "disk": reading.disk_part,
    "search": reading.search_part,
    "list": reading.list_part,
    "window": reading.window_part,
    "rebuild": reading.rebuild_part,
    "processes": writing.processes_part,
    "cli": command_line.cli_part,
}


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1k,10k,100k", help="messages in the stores (default: %(default)s)")
    parser.add_argument("--only", default=",".join(PARTS), help="parts to run (default: all)")
    parser.add_argument("--peer", type=Path, help="the Python interpreter of the peer's environment")
    parser.add_argument("--work", type=Path, help="keep our stores here for another run (default: temporary)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="keep the peer's stores here (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    parser.add_argument("--merge", type=Path, help="JSON of an earlier run, shown where this one measures nothing")
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--markdown", type=Path, help="write the page here (docs/benchmarks.md)")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a measured bar is missed, too")
    return parser.parse_args(arguments)


def size_of(text: str) -> int:
    """``10k`` -> 10,000; ``1m`` -> 1,000,000."""
    factors = {"k": 1_000, "m": 1_000_000}
    text = text.strip().lower()
    return int(text[:-1]) * factors[text[-1]] if text[-1] in factors else int(text)


def versions_of(run: Run, side: str) -> str:
    """Python and SQLite of one side's worker."""
    with run.interpreters.start(side) as worker:
        return str(worker.call("versions"))


def command_line_of(options: argparse.Namespace) -> str:
    """The command that measures the same again, without the paths of this machine."""
    words = [
        "python benchmarks/store.py",
        f"--sizes {options.sizes}",
        f"--only {options.only}",
        f"--seed {options.seed}",
    ]
    return " ".join([*words, *(["--peer PEER/bin/python"] if options.peer else [])])


def measure(run: Run, parts: list[str]) -> None:
    """Run the parts in their order; each reports its own failures."""
    for name, part in PARTS.items():
        if name in parts:
            with run.attempt(name, "part"):
                part(run)


def about(run: Run, command: str) -> dict[str, Any]:
    """What the figures depend on."""
    described: dict[str, Any] = {
        "date": dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": command,
        "machine": machine(),
        "sides": "; ".join(f"{side} on {versions_of(run, side)}" for side in run.sides),
        "corpus": f"seed {run.corpus.seed}, revision {CORPUS_REVISION}",
    }
    if run.interpreters.peer is not None:
        described |= {"peer": f"hermes-agent {peer_version(run.interpreters)}", "peer's stores": PEER_BUILD}
    return described


def main(arguments: list[str] | None = None) -> int:
    """Run, show, write; 0 when everything could be measured."""
    options = parse(sys.argv[1:] if arguments is None else arguments)
    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False)
    progress = Console(stderr=True, highlight=False, markup=False)
    unknown = set(options.only.split(",")) - set(PARTS)
    if unknown:
        progress.print(f"unknown parts: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
        return 2
    work = options.work or Path(tempfile.mkdtemp(prefix="bench-store-"))
    peer = options.peer.absolute() if options.peer else None
    run = Run(
        sizes=sorted(size_of(size) for size in options.sizes.split(",")),
        work=work,
        cache=options.cache,
        interpreters=Interpreters(options.seed, peer),
        corpus=Corpus(options.seed),
        say=progress.print,
    )
    described = about(run, command_line_of(options))
    if options.merge:
        earlier = json.loads(options.merge.read_text(encoding="utf-8"))
        run.figures = Figures.read(earlier)
        described["other parts measured"] = f"{earlier['about']['date']}, {earlier['about']['command']}"
    try:
        measure(run, options.only.split(","))
    finally:
        if options.work is None:
            shutil.rmtree(work, ignore_errors=True)
        report.show(console, run.figures, run.failures)
        if options.json:
            report.write_json(options.json, described, run.figures, run.failures)
        if options.markdown:
            report.write_markdown(options.markdown, described, run.figures, run.failures)
    missed = options.strict and any(verdict.passed is False for verdict in verdicts(run.figures))
    return 1 if run.failures or missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
