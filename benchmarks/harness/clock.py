"""What a call took: wall time, CPU time, and the time it was ready to run but had no processor.

A shared machine makes wall time useless, and CPU time leaves out the disk. Linux counts for each thread how long it
was ready to run without running; wall time less that is what the call would have taken on an idle machine: computing
and waiting for the disk. Elsewhere the wait is counted as zero. Standard library only.
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple, Self

_NS = 1e-9


def _open_scheduler(process: int | str) -> int | None:
    try:
        return os.open(f"/proc/{process}/schedstat", os.O_RDONLY)
    except OSError:
        return None


_own = _open_scheduler("self")


def waited_s(process: int | None = None) -> float:
    """Seconds the main thread of this process, or of another one, has been runnable but not running."""
    if process is None:
        return 0.0 if _own is None else _read(_own)
    descriptor = _open_scheduler(process)
    if descriptor is None:
        return 0.0
    try:
        return _read(descriptor)
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> float:
    return int(os.pread(descriptor, 100, 0).split()[1]) * _NS


class Moment(NamedTuple):
    """A point in time. The wait is read outside the wall time, so that reading it costs the measured call nothing."""

    wait_s: float
    wall_s: float
    cpu_s: float

    @classmethod
    def start(cls) -> Self:
        """Now, before a call."""
        wait = waited_s()
        return cls(wait, time.perf_counter(), time.process_time())

    def since(self) -> dict[str, float]:
        """Seconds from this moment to now; ``own_s`` is the wall time less the wait for a processor."""
        cpu, wall = time.process_time() - self.cpu_s, time.perf_counter() - self.wall_s
        return {"wall_s": wall, "own_s": max(0.0, wall - (waited_s() - self.wait_s)), "cpu_s": cpu}
