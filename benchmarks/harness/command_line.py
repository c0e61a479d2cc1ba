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

from harness.clock import waited_s
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
    own, wall = [], []
    with tempfile.TemporaryDirectory(prefix="bench-home-") as home:
        for _ in range(STARTS):
            if evict is not None:
                _drop_from_page_cache(evict)
            took_s, waited_s = _run(command, home)
            own.append((took_s - waited_s) * 1_000)
            wall.append(took_s * 1_000)
    return {
        "own_p50_ms": statistics.median(own),
        "own_p95_ms": percentile(own, 0.95),
        "wall_p50_ms": statistics.median(wall),
        "calls": STARTS,
    }


def _run(command: list[str], home: str) -> tuple[float, float]:
    """Wall time of one run and, of that, the time it was ready to run but had no processor [s]."""
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        environment = os.environ | {"HERMES_HOME": home}
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, cwd=home, env=environment)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # its times can be read until it is reaped
        took, waited = time.perf_counter() - started, waited_s(process.pid)
        if process.wait():
            errors.seek(0)
            raise RuntimeError(f"{command} exited {process.returncode}: {errors.read().decode()[-1_000:]}")
    return took, waited


def _drop_from_page_cache(path: Path) -> None:
    """Let the next read of this file come from the disk (clean pages only, which is all there are after a close)."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
