"""What a run measured: figures by name, size and side, and the statistics they are made of."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: A stall is an append at least this long [ms]; the rate without stalls is the rate between them.
STALL_MS = 500.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured thing; the unit is in the name of each value (``_ms``, ``_s``, ``_mb``, ``per_s``)."""

    part: str
    name: str
    size: int
    side: str
    values: dict[str, float]


@dataclass(slots=True)
class Figures:
    """All figures of a run, in the order of measuring."""

    rows: list[Figure] = field(default_factory=list)

    def add(self, part: str, name: str, size: int, side: str, **values: float) -> None:
        """Record one figure; a later one of the same name replaces it."""
        self.rows = [row for row in self.rows if (row.name, row.size, row.side) != (name, size, side)]
        self.rows.append(Figure(part=part, name=name, size=size, side=side, values=values))

    @classmethod
    def read(cls, document: dict[str, Any]) -> Figures:
        """The figures of an earlier run, from its JSON."""
        return cls([Figure(**row) for row in document["figures"]])

    def get(self, name: str, size: int, side: str, value: str) -> float | None:
        """A value, or None when it was not measured."""
        for row in self.rows:
            if (row.name, row.size, row.side) == (name, size, side):
                return row.values.get(value)
        return None

    def of(self, part: str) -> list[Figure]:
        """The figures of one part."""
        return [row for row in self.rows if row.part == part]

    def sizes(self, name: str, side: str = "ours") -> list[int]:
        """The sizes a figure was measured at, ascending."""
        return sorted(row.size for row in self.rows if (row.name, row.side) == (name, side))


def percentile(values: Iterable[float], share: float) -> float:
    """Nearest-rank percentile."""
    ordered = sorted(values)
    if not ordered:
        return math.nan
    return ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered)) - 1))]


def latency(samples: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Median and 95th percentile, CPU and wall, over the series of all rounds."""
    cpu = [value for series in samples for value in series["cpu"]]
    wall = [value for series in samples for value in series["wall"]]
    return {
        "cpu_p50_ms": statistics.median(cpu),
        "cpu_p95_ms": percentile(cpu, 0.95),
        "wall_p50_ms": statistics.median(wall),
        "wall_p95_ms": percentile(wall, 0.95),
        "calls": len(wall),
    }


def appending(samples: Sequence[dict[str, Any]], messages: int | None = None) -> dict[str, float]:
    """Rates and latencies of appends over all rounds; ``messages`` when a call appended more than one.

    All but the wall figures are without the time the process had to wait for a processor.
    """
    own = [value for series in samples for value in series["own"]]
    wall = [value for series in samples for value in series["wall"]]
    cpu = [value for series in samples for value in series["cpu"]]
    count = len(own) if messages is None else messages
    steady = [value for value in own if value < STALL_MS]
    return {
        "per_s": count / (sum(own) / 1_000),
        "steady_per_s": count * len(steady) / len(own) / (sum(steady) / 1_000),
        "p50_ms": statistics.median(own),
        "p95_ms": percentile(own, 0.95),
        "worst_ms": max(own),
        "over_100_ms": sum(value > 100 for value in own),
        "cpu_ms": sum(cpu) / count,
        "wall_per_s": count / (sum(wall) / 1_000),
        "wall_worst_ms": max(wall),
        "calls": len(own),
    }
