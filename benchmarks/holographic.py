"""Holographic memory against its bars, side by side with the peer's plugin in one run.

    python benchmarks/holographic.py --peer /path/to/peer/bin/python --sizes 1k,10k
    python benchmarks/holographic.py --sizes 1k,10k,100k --markdown docs/holographic-benchmarks.md

The peer (hermes-agent) must be installed in an environment of its own; both sides answer through the provider contract.
As installed the peer has no numpy, so its vectors are off; with numpy (ours is lent to it) it is measured up to 1,000
facts, since one added fact costs it a tenth of a second there. A part that fails is reported and the exit code is 1; a
missed bar does not change the exit code unless ``--strict`` is given.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import shutil
import sys
import tempfile
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import holographic_corpus as corpus
import holographic_kinds as kinds
import holographic_quality as quality
from harness.client import Worker
from harness.figures import Figures, percentile
from harness.run import machine
from holographic_report import show, verdicts, write_markdown
from rich.console import Console

if TYPE_CHECKING:
    from holographic_sets import PartName

HERE = Path(__file__).resolve().parent
#: Columns of the tables when stdout is not a terminal.
PIPE_WIDTH = 160
#: Facts up to which the peer is measured: without vectors, and with them.
PEER_UP_TO = {"peer": 10_000, "peer, numpy": 1_000}
CALLS, SLOW_CALLS, ADDED = 60, 10, 100
#: Comparing all facts for the first time takes a millisecond for each, so it is asked for up to here.
COMPARED_UP_TO = 10_000
SLOW = ("contradict", "probe a project", "list")


@dataclass(slots=True)
class Run:
    """What is measured, and what came of it."""

    peer: Path | None
    sizes: list[int]
    work: Path
    say: Any
    figures: Figures = field(default_factory=Figures)
    failures: list[str] = field(default_factory=list)

    @property
    def sides(self) -> list[str]:
        """Who is measured."""
        return ["ours", *(PEER_UP_TO if self.peer else ())]

    def start(self, side: str, home: Path) -> Worker:
        """A worker with the store of a home open."""
        script = str(HERE / "holographic_worker.py")
        if side == "ours":
            worker = Worker(side, [sys.executable, script, "ours"])
        else:
            lent = [str(lend_numpy(self.work))] if side == "peer, numpy" else []
            worker = Worker(side, [str(self.peer), "-I", script, "peer", *lent])
        worker.call("open", home=str(home))
        return worker

    def attempt(self, what: str, part: Any, *arguments: Any) -> None:
        """Run one part; a failure is kept and the others go on."""
        self.say(what)
        try:
            part(self, *arguments)
        except Exception:
            self.failures.append(f"{what}: {traceback.format_exc().strip().splitlines()[-1]}")
            self.say(self.failures[-1])


def lend_numpy(work: Path) -> Path:
    """A folder with our numpy alone, so that nothing else of ours is on the peer's path."""
    import numpy as np

    folder = work / "numpy-alone"
    if not folder.exists():
        folder.mkdir()
        site = Path(np.__file__).parents[1]
        for name in ("numpy", "numpy.libs"):
            if (site / name).exists():
                (folder / name).symlink_to(site / name)
    return folder


def seeded(run: Run, side: str, size: int) -> Worker:
    """A worker of a store with so many facts; how fast they came in is a figure."""
    home = run.work / f"{side.replace(', ', '-')}-{size}"
    texts = corpus.facts(size)
    if side == "peer, numpy":  # added without numpy, or it would take a tenth of a second for each
        with run.start("peer", home) as plain:
            plain.call("seed", texts=texts)
            plain.call("close")
        worker = run.start(side, home)
        worker.call("vectors")
        return worker
    worker = run.start(side, home)
    took = worker.call("seed", texts=texts)
    run.figures.add(
        "speed", "add, as many at once", size, side, per_s=size / took["cpu_s"], own_per_s=size / took["own_s"]
    )
    return worker


def speed(run: Run, side: str, size: int) -> None:
    """Everything timed on one store."""
    with seeded(run, side, size) as worker:
        fresh = corpus.facts(size + ADDED + 1)[size:]
        added = [{"action": "add", "content": text} for text in fresh[: (ADDED if side != "peer, numpy" else 12) + 1]]
        _record(run, "add, one by one", size, side, worker.call("series", calls=added))
        for kind in [kind for kind in corpus.KINDS if size <= COMPARED_UP_TO or kind != "contradict"]:
            count = SLOW_CALLS if kind in SLOW or side == "peer, numpy" else CALLS
            _record(run, kind, size, side, worker.call("series", calls=corpus.calls(kind, count + 1)))
        queries = [each["query"] for each in corpus.calls("search, English sentence", CALLS // 2 + 1, seed=7)]
        _record(run, "recall before a turn", size, side, worker.call("recalls", queries=queries))
        memory = worker.call("memory")
        worker.call("close")
    home = run.work / f"{side.replace(', ', '-')}-{size}"
    files = ("hermes_state.db", "hermes_state.db-wal", "memory_store.db", "memory_store.db-wal")
    disk = sum((home / name).stat().st_size for name in files if (home / name).exists())
    run.figures.add(
        "size", "store", size, side, bytes_per_fact=disk / size, rss_mb=memory["rss"], peak_mb=memory["peak"]
    )
    shutil.rmtree(home)


def _record(run: Run, name: str, size: int, side: str, series: dict[str, list[float]]) -> None:
    cpu, own = series["cpu"], series["own"]
    run.figures.add(
        "speed",
        name,
        size,
        side,
        cpu_p50_ms=percentile(cpu, 0.5),
        cpu_p95_ms=percentile(cpu, 0.95),
        own_p95_ms=percentile(own, 0.95),
        calls=len(cpu),
    )


def answers(run: Run, side: str, language: str, part: PartName) -> None:
    """The quality of one side's answers in one language."""
    labelled = quality.Labelled.of(language, part)
    home = run.work / f"quality-{side.replace(', ', '-')}-{language}-{part}"
    if side == "peer, numpy":
        with run.start("peer", home) as plain:
            plain.call("seed", texts=[fact.text for fact in labelled.facts])
            plain.call("close")
    with run.start(side, home) as worker:
        if side == "peer, numpy":
            worker.call("vectors")
        figures = quality.answers(worker, labelled)
        worker.call("close")
    name = language if part == quality.PARTS[0] else f"{language}, {part}"
    run.figures.add("quality", name, quality.FACTS, side, **figures)


def ablation(run: Run) -> None:
    """What each signal adds."""
    for name, figures in kinds.ablation(run.say):
        run.figures.add("ablation", name, kinds.QUESTIONS, "ours", **figures)


def contradictions(run: Run) -> None:
    """F1 of contradictions."""
    for name, figures in quality.contradictions():
        run.figures.add("contradictions", name, quality.PAIRS, "ours", **figures)


def measure(run: Run, parts: list[str]) -> None:
    """Run the parts, the sides in turn."""
    if "speed" in parts:
        for size in run.sizes:
            for side in run.sides:
                if size <= PEER_UP_TO.get(side, size):
                    run.attempt(f"speed: {side}, {size:,} facts", speed, side, size)
    if "quality" in parts:
        for part in quality.PARTS:
            for language in quality.languages():
                for side in run.sides if part == quality.PARTS[0] else ("ours",):
                    run.attempt(f"quality: {side}, {language}, {part}", answers, side, language, part)
    if "ablation" in parts:
        run.attempt("ablation", ablation)
    if "contradictions" in parts:
        run.attempt("contradictions", contradictions)


def size_of(text: str) -> int:
    """``10k`` -> 10,000."""
    text = text.strip().lower()
    return int(text[:-1]) * 1_000 if text.endswith("k") else int(text)


def main(arguments: list[str] | None = None) -> int:
    """Run, show, write; 0 when everything could be measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1k,10k", help="facts in the stores (default: %(default)s)")
    parser.add_argument("--only", default="speed,quality,ablation,contradictions", help="parts to run (default: all)")
    parser.add_argument("--peer", type=Path, help="the Python interpreter of the peer's environment")
    parser.add_argument("--merge", type=Path, help="JSON of an earlier run, shown where this one measures nothing")
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--markdown", type=Path, help="write the page here (docs/holographic-benchmarks.md)")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a measured bar is missed, too")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False)
    progress = Console(stderr=True, highlight=False, markup=False)
    work = Path(tempfile.mkdtemp(prefix="bench-holographic-"))
    peer = options.peer.absolute() if options.peer else None
    run = Run(peer, sorted(map(size_of, options.sizes.split(","))), work, progress.print)
    about = {
        "date": dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": f"python benchmarks/holographic.py --sizes {options.sizes} --only {options.only}"
        + (" --peer PEER/bin/python" if peer else ""),
        "machine": machine(),
        "sides": "; ".join(f"{side} on {versions(run, side)}" for side in run.sides),
    }
    if options.merge:
        earlier = json.loads(options.merge.read_text(encoding="utf-8"))
        run.figures = Figures.read(earlier)
        about["other parts measured"] = f"{earlier['about']['date']}, {earlier['about']['command']}"
    try:
        measure(run, options.only.split(","))
    finally:
        shutil.rmtree(work, ignore_errors=True)
        show(console, run.figures, run.failures)
        if options.json:
            figures = [asdict(row) for row in run.figures.rows]
            options.json.write_text(json.dumps({"about": about, "figures": figures}, indent=1) + "\n", encoding="utf-8")
        if options.markdown:
            write_markdown(options.markdown, about, run.figures, run.failures)
    missed = options.strict and any(verdict.passed is False for verdict in verdicts(run.figures))
    return 1 if run.failures or missed else 0


def versions(run: Run, side: str) -> str:
    """Python and numpy of a side."""
    with run.start(side, run.work / f"versions-{side.replace(', ', '-')}") as worker:
        return str(worker.call("versions"))


if __name__ == "__main__":
    raise SystemExit(main())
