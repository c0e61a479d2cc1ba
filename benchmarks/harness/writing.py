"""The parts of the run that write: single appends, turns, bulk import, one process and four."""

from __future__ import annotations

import statistics
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from harness.figures import appending

if TYPE_CHECKING:
    from harness.run import Run

MODES = ("FULL", "NORMAL")
#: Appends are measured on stores of at least this many messages.
APPEND_FROM = 10_000
#: Rounds of appends in which the sides take turns; together they pass the peer's 1000th write, at which it optimizes.
#: They are short (some 10 ms), so that what else the machine does meets all sides of a round alike.
ROUNDS, ROUND_APPENDS = 42, 25
TURN_ROUNDS, TURN_ROUND_MESSAGES = 25, 40
#: Room between the corpus messages of two rounds, more than the longest session.
ROUND_GAP = 150
#: The peer's import is measured up to this size only.
PEER_IMPORT_UP_TO = 10_000
WRITERS, WRITING_S, WRITER_ROUNDS = 4, 10.0, 3
CONCURRENT_UP_TO = 100_000


def memory_part(run: Run) -> None:
    """Build the stores of all sizes: rate, longest wait and peak memory of one process that stores the whole corpus."""
    for size in run.sizes:
        for side in run.sides_at(size):
            with run.attempt("memory", f"{side} {size:,}"):
                run.store(side, size)


def append_part(run: Run) -> None:
    """One message, one transaction: bare table, ours and peer in turn, FULL and NORMAL."""
    for size in (size for size in run.sizes if size >= APPEND_FROM):
        for mode in MODES:
            with run.attempt("append", f"{mode} at {size:,}"):
                _append_at(run, size, mode)


def _append_at(run: Run, size: int, mode: str) -> None:
    sides = ["bare", *run.sides_at(size)]
    series: dict[str, list[dict[str, Any]]] = {side: [] for side in sides}
    with run.opened(sides, size, mode, write=True) as workers:
        for at in range(ROUNDS):
            first = size + at * (ROUND_APPENDS + ROUND_GAP)
            for side in run.rotated(sides, at):
                series[side].append(workers[side].call("append", first=first, count=ROUND_APPENDS))
    bare = [_rate(one) for one in series["bare"]]
    for side in sides:
        settling = [one["settle"] for one in series[side]]
        run.figures.add(
            "append",
            f"append one by one, {mode}",
            size,
            side,
            **appending(series[side]),
            of_bare=statistics.median(_rate(one) / floor for one, floor in zip(series[side], bare, strict=True)),
            settle_s=sum(one["own_s"] for one in settling),
            settle_cpu_ms=sum(one["cpu_s"] for one in settling) * 1_000 / (ROUNDS * ROUND_APPENDS),
        )


def _rate(series: dict[str, Any]) -> float:
    return len(series["own"]) / sum(series["own"]) * 1_000


def turn_part(run: Run) -> None:
    """Four messages at once: one transaction where the store can."""
    for size in (size for size in run.sizes if size >= APPEND_FROM):
        for mode in MODES:
            with run.attempt("turn", f"{mode} at {size:,}"):
                _turns_at(run, size, mode)


def _turns_at(run: Run, size: int, mode: str) -> None:
    sides = ["bare", *run.sides_at(size)]
    series: dict[str, list[dict[str, Any]]] = {side: [] for side in sides}
    with run.opened(sides, size, mode, write=True) as workers:
        for at in range(TURN_ROUNDS):
            first = size + at * (TURN_ROUND_MESSAGES + ROUND_GAP)
            for side in run.rotated(sides, at):
                series[side].append(workers[side].call("turns", first=first, count=TURN_ROUND_MESSAGES))
                workers[side].call("settle")
    for side in sides:
        messages = sum(one["messages"] for one in series[side])
        run.figures.add("turn", f"append a turn of 4, {mode}", size, side, **appending(series[side], messages))


def bulk_part(run: Run) -> None:
    """Import into an empty store with FULL, until stored and until searchable."""
    for size in run.sizes:
        if size > CONCURRENT_UP_TO:
            continue  # the store of this size was itself built by import: see the memory part
        for side in ["bare", *run.sides]:
            if side == "peer" and size > PEER_IMPORT_UP_TO:
                continue
            with run.attempt("bulk", f"{side} {size:,}"), run.opened([side], 0, "FULL", write=True) as workers:
                _bulk(run, workers[side], side, size)


def _bulk(run: Run, worker: Any, side: str, size: int) -> None:
    generating = worker.call("corpus_cost", first=0, count=size)["own_s"] if size > 20_000 else 0.0
    before = worker.call("memory")["now_mb"]
    done = worker.call("bulk", first=0, count=size)
    run.figures.add(
        "bulk",
        "bulk import, FULL",
        size,
        side,
        per_s=done["messages"] / (done["searchable_s"] - generating),
        stored_per_s=done["messages"] / (done["stored_s"] - generating),
        cpu_ms=done["cpu_s"] * 1_000 / done["messages"],
        peak_mb=worker.call("memory")["peak_mb"],
        before_open_mb=before,
    )


def processes_part(run: Run) -> None:
    """Four processes append at full speed to one store, each to a session of its own."""
    size = max((size for size in run.sizes if size <= CONCURRENT_UP_TO), default=0)
    for mode in MODES:
        results: dict[str, list[list[dict[str, Any]]]] = {side: [] for side in run.sides}
        for at in range(WRITER_ROUNDS):
            for side in run.rotated(run.sides, at):
                with run.attempt("processes", f"{side} {mode}"):
                    results[side].append(_hammered(run, side, size, mode))
        for side, rounds in results.items():
            if rounds:
                run.figures.add("processes", f"four processes append, {mode}", size, side, **_together(rounds))


def _hammered(run: Run, side: str, size: int, mode: str) -> list[dict[str, Any]]:
    with run.scratch(side, size) as path, ExitStack() as stack:
        workers = [stack.enter_context(run.interpreters.start(side)) for _ in range(WRITERS)]
        for worker in workers:
            worker.call("open", path=str(path), synchronous=mode)
        start_at = time.time() + 2.0
        for number, worker in enumerate(workers):
            worker.send("hammer", worker=number, start_at=start_at, seconds=WRITING_S)
        results = [worker.receive() for worker in workers]
        for worker in workers:
            worker.call("close")
    return results


def _together(rounds: list[list[dict[str, Any]]]) -> dict[str, float]:
    """The best rate of the rounds, since what else the machine does can only lower it; the median unfairness."""
    counts = [[len(worker["wall"]) for worker in workers] for workers in rounds]
    everything = [worker for workers in rounds for worker in workers]
    return {
        "per_s": max(sum(count) for count in counts) / WRITING_S,
        "max_to_min": statistics.median(max(count) / max(1, min(count)) for count in counts),
        "worst_ms": max(max(worker["wall"], default=0.0) for worker in everything),
        "errors": sum(len(worker["errors"]) for worker in everything),
    }
