"""The part of the run that starts the installed command, as a person does."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from harness.figures import percentile

if TYPE_CHECKING:
    from harness.run import Run

STARTS = 11
SEARCH_UP_TO = 100_000


def cli_part(run: Run) -> None:
    """``--help`` and a search of the biggest store up to 100k, each from a cold process."""
    command = str(Path(sys.executable).with_name("hermes-state"))
    size = max((size for size in run.sizes if size <= SEARCH_UP_TO), default=0)
    with run.attempt("cli", "--help"):
        run.figures.add("cli", "hermes-state --help", size, "ours", **_started([command, "--help"]))
    with run.attempt("cli", "search"):
        store = run.store("ours", size)
        search = [command, "--db", f"sqlite:///{store}", "search", run.corpus.latin[40], "--json"]
        run.figures.add("cli", "hermes-state search", size, "ours", **_started(search))
        evicted = _started(search, evict=store)
        run.figures.add("cli", "hermes-state search, files not in the page cache", size, "ours", **evicted)
    if run.interpreters.peer is not None:
        with run.attempt("cli", "peer"):
            peer = str(run.interpreters.peer.with_name("hermes"))
            run.figures.add("cli", "hermes-state --help", size, "peer", **_started([peer, "--help"]))


def _started(command: list[str], *, evict: Path | None = None) -> dict[str, float]:
    wall = []
    with tempfile.TemporaryDirectory(prefix="bench-home-") as home:
        for _ in range(STARTS):
            if evict is not None:
                _drop_from_page_cache(evict)
            started = time.perf_counter()
            done = subprocess.run(command, capture_output=True, cwd=home, env=os.environ | {"HERMES_HOME": home})
            wall.append((time.perf_counter() - started) * 1_000)
            if done.returncode:
                raise RuntimeError(f"{command} exited {done.returncode}: {done.stderr.decode()[-1_000:]}")
    return {"wall_p50_ms": statistics.median(wall), "wall_p95_ms": percentile(wall, 0.95), "calls": STARTS}


def _drop_from_page_cache(path: Path) -> None:
    """Let the next read of this file come from the disk (clean pages only, which is all there are after a close)."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
