"""The bars: what the figures must reach, and which of them do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.figures import Figures

#: Where a figure is judged at one size only, it is the biggest measured one up to this.
JUDGED_UP_TO = 100_000
GROWN_TO = 1_000_000
#: CPU [ms] above which the peer counts as slow.
SLOW_PEER_MS = 20.0
COMPARED = (
    "common word",
    "rare word",
    "two words",
    "phrase",
    "prefix",
    "prefix, 3 letters",
    "no hit",
    "CJK 1 character",
    "CJK 2 characters",
    "CJK 2 characters, common",
    "CJK 4 characters",
    "newest first, common word",
)
QUESTION = "question of 6-10 words"
LISTS = ("list by last activity", "open a session", "resume a session")


@dataclass(frozen=True, slots=True)
class Verdict:
    """One bar and the figure held against it; ``passed`` is None when something was not measured."""

    row: str
    what: str
    measured: str
    bar: str
    passed: bool | None


def verdicts(figures: Figures) -> list[Verdict]:
    """Every bar, in the order of the goal table."""
    judges = (_appends, _turns, _disk, _searches, _question, _lists, _processes, _growth, _memory, _commands)
    return [verdict for judge in judges for verdict in judge(figures)]


def _judged(figures: Figures, name: str) -> int:
    return max((size for size in figures.sizes(name) if size <= JUDGED_UP_TO), default=0)


def _least(row: str, what: str, value: float | None, bar: float, unit: str = "x") -> Verdict:
    return Verdict(row, what, _shown(value, unit), f">= {bar:g}{unit}", None if value is None else value >= bar)


def _most(row: str, what: str, value: float | None, bar: float, unit: str) -> Verdict:
    return Verdict(row, what, _shown(value, unit), f"<= {bar:g}{unit}", None if value is None else value <= bar)


def _shown(value: float | None, unit: str) -> str:
    return "not measured" if value is None else f"{value:.3g}{unit}" if value < 1_000 else f"{value:,.0f}{unit}"


def _ratio(over: float | None, under: float | None) -> float | None:
    return None if over is None or under is None else over / under if under else math.inf


def _appends(figures: Figures) -> Iterator[Verdict]:
    for mode, bar in (("FULL", 3), ("NORMAL", 10)):
        name = f"append one by one, {mode}"
        for size in [size for size in figures.sizes(name) if size <= JUDGED_UP_TO] or [0]:
            of_bare = figures.get(name, size, "ours", "of_bare")
            share = None if of_bare is None else of_bare * 100
            yield _least("append", f"of a bare insert, {mode}, {size:,}", share, 85, " %")
            ours, peer = (figures.get(name, size, side, "per_s") for side in ("ours", "peer"))
            yield _least("append", f"the peer's rate, {mode}, {size:,}", _ratio(ours, peer), bar)
            yield _most("append", f"worst, {mode}, {size:,}", figures.get(name, size, "ours", "worst_ms"), 100, " ms")
    name = "append all, one by one, NORMAL"
    size = _judged(figures, name)
    yield _most("append", f"worst of {size:,} in a row", figures.get(name, size, "ours", "worst_ms"), 100, " ms")


def _turns(figures: Figures) -> Iterator[Verdict]:
    single, turn, bulk = "append one by one, FULL", "append a turn of 4, FULL", "bulk import, FULL"
    size = _judged(figures, turn)
    ours, peer = (figures.get(turn, size, side, "per_s") for side in ("ours", "peer"))
    yield _least("turn", f"the peer's rate, FULL, {size:,}", _ratio(ours, peer), 10)
    size = _judged(figures, bulk)
    ours, peer = figures.get(bulk, size, "ours", "stored_per_s"), figures.get(single, size, "peer", "per_s")
    yield _least("bulk", f"the peer's append, {size:,}", _ratio(ours, peer), 50)


def _disk(figures: Figures) -> Iterator[Verdict]:
    name = "bytes on disk"
    size = _judged(figures, name)
    ours, peer = (figures.get(name, size, side, "disk_mb") for side in ("ours", "peer"))
    yield _most("disk", f"of the peer's, {size:,}", _ratio(ours, peer), 0.25, "x")
    yield _most("disk", f"of the text, {size:,}", figures.get(name, size, "ours", "of_text"), 1.6, "x")


def _searches(figures: Figures) -> Iterator[Verdict]:
    for name in COMPARED:
        size = _judged(figures, name)
        ours, peer = (figures.get(name, size, side, "cpu_p50_ms") for side in ("ours", "peer"))
        bar = 1.0
        if peer is not None and peer > SLOW_PEER_MS:
            bar = 5.0 if name == "common word" else 10.0
        yield _least("search", f"{name}, the peer's CPU to ours, {size:,}", _ratio(peer, ours), bar)
        yield _most("search", f"{name}, p95 CPU, {size:,}", figures.get(name, size, "ours", "cpu_p95_ms"), 50, " ms")


def _question(figures: Figures) -> Iterator[Verdict]:
    size = _judged(figures, QUESTION)
    yield _most("question", f"p95 CPU, {size:,}", figures.get(QUESTION, size, "ours", "cpu_p95_ms"), 50, " ms")


def _lists(figures: Figures) -> Iterator[Verdict]:
    for name in LISTS:
        size = _judged(figures, name)
        yield _most("list", f"{name}, p95 CPU, {size:,}", figures.get(name, size, "ours", "cpu_p95_ms"), 5, " ms")


def _processes(figures: Figures) -> Iterator[Verdict]:
    for mode, bar in (("FULL", 2.5), ("NORMAL", 8)):
        name = f"four processes append, {mode}"
        size = _judged(figures, name)
        ours, peer = (figures.get(name, size, side, "per_s") for side in ("ours", "peer"))
        yield _least("processes", f"the peer's total, {mode}", _ratio(ours, peer), bar)
        yield _most("processes", f"busiest to idlest, {mode}", figures.get(name, size, "ours", "max_to_min"), 2, "x")
        yield _most("processes", f"errors, {mode}", figures.get(name, size, "ours", "errors"), 0, "")


def _growth(figures: Figures) -> Iterator[Verdict]:
    for name in (*COMPARED, QUESTION, LISTS[0]):
        small, large = (figures.get(name, size, "ours", "cpu_p50_ms") for size in (JUDGED_UP_TO, GROWN_TO))
        yield _most("growth", f"{name}, CPU at 1M to 100k", _ratio(large, small), 3, "x")
    for mode in ("FULL", "NORMAL"):
        name = f"append one by one, {mode}"
        small, large = (figures.get(name, size, "ours", "of_bare") for size in (JUDGED_UP_TO, GROWN_TO))
        yield _least("growth", f"append {mode}, rate of bare at 1M to 100k", _ratio(large, small), 0.9)


def _memory(figures: Figures) -> Iterator[Verdict]:
    for name in ("append all, one by one, NORMAL", "bulk import, FULL"):
        size = _judged(figures, name)
        yield _most("memory", f"{name}, {size:,}, peak", figures.get(name, size, "ours", "peak_mb"), 150, " MB")


def _commands(figures: Figures) -> Iterator[Verdict]:
    for name, bar in (("hermes-state --help", 250), ("hermes-state search", 600)):
        size = _judged(figures, name)
        yield _most("cli", f"{name}, p50", figures.get(name, size, "ours", "own_p50_ms"), bar, " ms")
