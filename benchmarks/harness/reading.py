"""The parts of the run that read: searches, lists, sessions, windows; and what is on disk."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING, Any

from harness.figures import latency
from harness.queries import query_kinds

if TYPE_CHECKING:
    from pathlib import Path

    from harness.run import Run

SEARCH_ROUNDS, ROUND_SEARCHES = 3, 10
READ_ROUNDS, ROUND_READS = 3, 20
REBUILD_UP_TO = 100_000
LONG_SESSION_MESSAGES = 10_000
LONG_FROM, LONG_UP_TO = 10_000, 100_000


def search_part(run: Run) -> None:
    """Each kind of query, the sides in turn."""
    for size in run.sizes:
        sides = run.sides_at(size)
        with run.attempt("search", f"at {size:,}"), run.opened(sides, size, "FULL", write=False) as workers:
            for side in sides:
                workers[side].call("search", queries=["warm up"], repeats=2)
            for kind in query_kinds(run.corpus):
                with run.attempt("search", f"{kind.name} at {size:,}"):
                    _search(run, workers, kind, size)


def _search(run: Run, workers: dict[str, Any], kind: Any, size: int) -> None:
    series: dict[str, list[dict[str, Any]]] = {side: [] for side in workers}
    for at in range(SEARCH_ROUNDS):
        for side in run.rotated(list(workers), at):
            offset = at * ROUND_SEARCHES % len(kind.queries)
            queries = [*kind.queries[offset:], *kind.queries[:offset]]
            call = {"queries": queries, "repeats": ROUND_SEARCHES, "newest": kind.newest}
            series[side].append(workers[side].call("search", **call))
    for side, samples in series.items():
        hits = {query: count for one in samples for query, count in one["hits"].items()}
        mean_hits = sum(hits.values()) / len(hits)
        run.figures.add("search", kind.name, size, side, **latency(samples), hits=mean_hits)


def list_part(run: Run) -> None:
    """List by last activity, open a session, resume one."""
    for size in run.sizes:
        sides = run.sides_at(size)
        ids = [session.id for session in run.corpus.sessions(messages=size)][:: max(1, size // 4_000)][:100]
        with run.attempt("list", f"at {size:,}"), run.opened(sides, size, "FULL", write=False) as workers:
            calls: dict[str, dict[str, Any]] = {
                "recent": {"repeats": ROUND_READS},
                "read": {"session_ids": ids, "repeats": ROUND_READS},
                "resume": {"session_ids": ids[::-1], "repeats": ROUND_READS},
            }
            names = {"recent": "list by last activity", "read": "open a session", "resume": "resume a session"}
            for call, arguments in calls.items():
                with run.attempt("list", f"{names[call]} at {size:,}"):
                    _read(run, workers, ("list", names[call], size), call, arguments)


def _read(run: Run, workers: dict[str, Any], name: tuple[str, str, int], call: str, arguments: dict[str, Any]) -> None:
    series: dict[str, list[dict[str, Any]]] = {side: [] for side in workers}
    for at in range(READ_ROUNDS):
        for side in run.rotated(list(workers), at):
            series[side].append(workers[side].call(call, **arguments))
    for side, samples in series.items():
        run.figures.add(*name, side, **latency(samples))


def window_part(run: Run) -> None:
    """Windows of a 10,000-message session."""
    for size in (size for size in run.sizes if LONG_FROM <= size <= LONG_UP_TO):
        sides = run.sides_at(size)
        with run.attempt("window", f"at {size:,}"), run.opened(sides, size, "NORMAL", write=True) as workers:
            series: dict[str, list[dict[str, Any]]] = {side: [] for side in sides}
            ids = {side: workers[side].call("long_session", messages=LONG_SESSION_MESSAGES) for side in sides}
            for at in range(READ_ROUNDS):
                for side in run.rotated(sides, at):
                    call = {"session_id": ids[side], "repeats": ROUND_READS}
                    series[side].append(workers[side].call("window", **call))
            for side, samples in series.items():
                run.figures.add("window", "window in a 10,000-message session", size, side, **latency(samples))


def rebuild_part(run: Run) -> None:
    """Rebuild the search index from the messages."""
    for size in (size for size in run.sizes if size <= REBUILD_UP_TO):
        for side in run.sides_at(size):
            with run.attempt("rebuild", f"{side} {size:,}"), run.opened([side], size, "FULL", write=True) as workers:
                run.figures.add("rebuild", "index rebuild", size, side, **workers[side].call("rebuild"))


def disk_part(run: Run) -> None:
    """Bytes on disk after close, and what they are for."""
    for size in run.sizes:
        for side in run.sides_at(size):
            with run.attempt("disk", f"{side} {size:,}"):
                path = run.store(side, size)
                total = sum(file.stat().st_size for file in _files(path))
                text = run.text_bytes(size)
                values = {"disk_mb": total / 1e6, "text_mb": text / 1e6, "of_text": total / text}
                run.figures.add("disk", "bytes on disk", size, side, **values)
                run.figures.add("breakdown", "biggest tables and indexes", size, side, **_breakdown(path))


def _files(path: Path) -> list[Path]:
    files = (path.with_name(path.name + suffix) for suffix in ("", "-wal"))
    return [file for file in files if file.exists()]


def _breakdown(path: Path, largest: int = 9) -> dict[str, float]:
    """Megabytes per table and index, from SQLite's own page statistics; free pages included."""
    statement = "SELECT name, sum(pgsize) / 1e6 FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT ?"
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            rows: list[tuple[str, float]] = connection.execute(statement, (largest,)).fetchall()
        except sqlite3.OperationalError as error:  # not every SQLite is built with dbstat
            raise RuntimeError(f"no page statistics: {error}") from error
        page = connection.execute("PRAGMA page_size").fetchone()[0]
        free = connection.execute("PRAGMA freelist_count").fetchone()[0]
    return dict(rows) | {"free pages": free * page / 1e6}
