"""A holographic provider as a benchmark worker, ours or the peer's, both through the provider contract.

    python benchmarks/holographic_worker.py ours                                   # then requests on stdin
    /path/to/peer/bin/python -I benchmarks/holographic_worker.py peer [NUMPY_DIR]

Standard library only, so that the peer's interpreter runs it as it is. Times are milliseconds of CPU of the whole
process, and of the wall less the wait for a processor (`own`).
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.clock import Moment
from harness.serving import serve

MS = 1_000.0
#: A series of slow calls stops after so many seconds, and at least so many calls.
BUDGET_S, LEAST = 20.0, 3


class Provider:
    """What the benchmark asks of a provider."""

    def __init__(self, side: str) -> None:
        self.side = side
        self._provider: Any = None

    def versions(self) -> str:
        """Python and numpy of this side."""
        try:
            import numpy as np

            found = f"numpy {np.__version__}"
        except ImportError:
            found = "no numpy"
        return f"Python {sys.version.split()[0]}, {found}"

    def open(self, home: str) -> None:
        """Open or make the store of a home."""
        Path(home).mkdir(parents=True, exist_ok=True)
        os.environ["HERMES_HOME"] = home
        if self.side == "ours":
            from memory.providers.holographic.provider import HolographicProvider

            self._provider = HolographicProvider()
        else:
            from plugins.memory import load_memory_provider

            self._provider = load_memory_provider("holographic")
        self._provider.initialize("benchmark", hermes_home=home, platform="cli")

    def close(self) -> None:
        """End it as a host does."""
        self._provider.shutdown()

    def seed(self, texts: list[str]) -> dict[str, float]:
        """Add many facts the fastest way there is."""
        start = Moment.start()
        if self.side == "ours":
            from memory.providers.holographic.records import NewFact

            self._provider._ready().store.add_many(NewFact(content=text) for text in texts)  # noqa: SLF001
        else:
            for text in texts:
                self._provider.handle_tool_call("fact_store", {"action": "add", "content": text})
        return start.since()

    def vectors(self) -> None:
        """Make the vectors of the peer's facts that were added without numpy, by its own recovery function."""
        self._provider._store.rebuild_all_vectors()  # noqa: SLF001

    def tool(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """One call of `fact_store`."""
        return dict(json.loads(self._provider.handle_tool_call("fact_store", arguments)))

    def tools(self, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Several calls, untimed."""
        return [self.tool(arguments) for arguments in calls]

    def prefetched(self, queries: list[str]) -> list[str]:
        """What each query recalls."""
        return [self._provider.prefetch(query) for query in queries]

    def series(self, calls: list[dict[str, Any]]) -> dict[str, list[float]]:
        """The times of some calls of `fact_store`, the first one unmeasured."""
        return self._timed([lambda each=each: self.tool(each) for each in calls])

    def recalls(self, queries: list[str]) -> dict[str, list[float]]:
        """The times of some recalls before a turn."""
        return self._timed([lambda each=each: self._provider.prefetch(each) for each in queries])

    @staticmethod
    def _timed(calls: list[Any]) -> dict[str, list[float]]:
        calls[0]()
        times: dict[str, list[float]] = {"cpu": [], "own": []}
        started = time.perf_counter()
        for call in calls[1:]:
            start = Moment.start()
            call()
            took = start.since()
            times["cpu"].append(took["cpu_s"] * MS)
            times["own"].append(took["own_s"] * MS)
            if time.perf_counter() - started > BUDGET_S and len(times["cpu"]) >= LEAST:
                break
        return times

    def memory(self) -> dict[str, float]:
        """Resident memory now and at most, in MB of 1,000,000 bytes; Linux only."""
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        return {
            name: int(status[field].split()[0]) * 1.024 / 1_000 for name, field in (("rss", "VmRSS"), ("peak", "VmHWM"))
        }


def main() -> None:
    """Serve one side."""
    side, *numpy = sys.argv[1:]
    if side == "ours":
        sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    sys.path += numpy
    serve(Provider(side))  # type: ignore[arg-type]  # any object with methods


if __name__ == "__main__":
    main()
