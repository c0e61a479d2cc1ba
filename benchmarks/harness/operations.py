"""What a worker can be asked to do to its store, with the times it took. Standard library only.

Every operation is written once against :class:`Adapter`, so that all stores are measured by the same
lines. Times are milliseconds per call unless a name says seconds; ``cpu`` is the time of the whole
process, background threads included.
"""

from __future__ import annotations

import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from corpus import Corpus

from harness.clock import Moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpus import Message, Session

TURN_MESSAGES = 4
#: A series of slow calls stops here [seconds], after at least MIN_REPEATS.
SERIES_BUDGET_S = 20.0
MIN_REPEATS = 5
#: Far below the length at which a store might cut a query, far above the repeats of one kind.
MOST_BLANKS = 400
MS = 1_000.0


class Adapter(Protocol):
    """One store under test."""

    sqlite_version: str

    def open(self, path: str, synchronous: str) -> None:
        """Open or create the store; ``synchronous`` is FULL or NORMAL."""

    def close(self) -> None:
        """Close it as a program would at its end."""

    def create(self, session: Session) -> str:
        """Make a session and give the id to append to."""

    def append(self, session_id: str, message: Message) -> None:
        """Append one message durably."""

    def append_turn(self, session_id: str, messages: Sequence[Message]) -> None:
        """Append several messages the fastest way the store has."""

    def bulk(self, sessions: Iterator[Session]) -> int:
        """Import whole sessions the fastest way the store has; gives the number of messages."""

    def settle(self) -> None:
        """Return when everything appended is searchable and no background work is left."""

    def search(self, query: str, *, newest: bool) -> int:
        """Run one search of 20 hits; gives the number of hits."""

    def recent(self) -> int:
        """List the 20 sessions with the latest activity."""

    def read(self, session_id: str) -> int:
        """Read a session with all its messages; gives their number."""

    def resume(self, session_id: str) -> int:
        """Do what continuing a conversation needs: find its tip and load the conversation."""

    def message_ids(self, session_id: str) -> list[int]:
        """Ids of the session's messages, in order."""

    def window(self, session_id: str, anchor: int) -> int:
        """Messages around one message, five on each side."""

    def rebuild(self) -> None:
        """Rebuild the search index from the messages."""


class Operations:
    """The calls :func:`harness.serving.serve` dispatches to."""

    def __init__(self, adapter: Adapter, seed: int) -> None:
        self.adapter = adapter
        self.corpus = Corpus(seed)
        self._searches = 0

    def versions(self) -> str:
        """What this side runs on."""
        return f"Python {platform.python_version()}, SQLite {self.adapter.sqlite_version}"

    def open(self, path: str, synchronous: str) -> dict[str, float]:
        """Open the store; how long that took."""
        return _timed(lambda: self.adapter.open(path, synchronous))

    def close(self) -> dict[str, float]:
        """Close the store; how long that took."""
        return _timed(self.adapter.close)

    def settle(self) -> dict[str, float]:
        """Wait for the index; how long that took."""
        return _timed(self.adapter.settle)

    def rebuild(self) -> dict[str, float]:
        """Rebuild the index; how long that took."""
        return _timed(self.adapter.rebuild)

    def append(self, first: int, count: int) -> dict[str, Any]:
        """Append ``count`` corpus messages one by one, starting with the session at or after ``first``."""
        series = _Series()
        for session in self.corpus.sessions(messages=count, first=first):
            session_id = self.adapter.create(session)
            for message in session.messages:
                series.call(lambda sid=session_id, text=message: self.adapter.append(sid, text))
        return series.result() | {"settle": _timed(self.adapter.settle)}

    def turns(self, first: int, count: int) -> dict[str, Any]:
        """Append ``count`` messages in turns of four; times are per turn."""
        series, messages = _Series(), 0
        for session in self.corpus.sessions(messages=count, first=first):
            session_id = self.adapter.create(session)
            for start in range(0, len(session.messages) - TURN_MESSAGES + 1, TURN_MESSAGES):
                turn = session.messages[start : start + TURN_MESSAGES]
                messages += len(turn)
                series.call(lambda sid=session_id, texts=turn: self.adapter.append_turn(sid, texts))
        return series.result() | {"messages": messages}

    def bulk(self, first: int, count: int) -> dict[str, Any]:
        """Import ``count`` messages; the corpus is generated beforehand unless it would not fit in memory."""
        sessions: Iterator[Session] = self.corpus.sessions(messages=count, first=first)
        if count <= 20_000:
            sessions = iter(list(sessions))
        moment = Moment.start()
        messages = self.adapter.bulk(sessions)
        stored = moment.since()
        self.adapter.settle()
        searchable = moment.since()
        return {
            "messages": messages,
            "stored_s": stored["own_s"],
            "searchable_s": searchable["own_s"],
            "cpu_s": searchable["cpu_s"],
        }

    def corpus_cost(self, first: int, count: int) -> dict[str, float]:
        """Seconds it takes to generate these messages, to be taken off a streamed import."""
        sessions = self.corpus.sessions(messages=count, first=first)
        return _timed(lambda: sum(len(session.messages) for session in sessions))

    def search(self, queries: list[str], repeats: int, *, newest: bool = False) -> dict[str, Any]:
        """Search in turn for each query, ``repeats`` times in all.

        Each query ends in a number of blanks that no query of this process ended in before, so that nobody's cache
        of parsed queries makes a repeated search cheaper than a new one.
        """
        hits: dict[str, int] = {}

        def one(at: int) -> None:
            query = queries[at % len(queries)]
            self._searches += 1
            hits[query] = self.adapter.search(query + " " * (self._searches % MOST_BLANKS), newest=newest)

        return _repeat(one, repeats) | {"hits": hits}

    def recent(self, repeats: int) -> dict[str, Any]:
        """List by last activity."""
        return _repeat(lambda _: self.adapter.recent(), repeats)

    def read(self, session_ids: list[str], repeats: int) -> dict[str, Any]:
        """Open sessions: the row and all messages."""
        return _repeat(lambda at: self.adapter.read(session_ids[at % len(session_ids)]), repeats)

    def resume(self, session_ids: list[str], repeats: int) -> dict[str, Any]:
        """Resume sessions."""
        return _repeat(lambda at: self.adapter.resume(session_ids[at % len(session_ids)]), repeats)

    def window(self, session_id: str, repeats: int) -> dict[str, Any]:
        """Windows around messages spread over one session."""
        anchors = self.adapter.message_ids(session_id)
        step = max(1, len(anchors) // (repeats + 2))
        return _repeat(lambda at: self.adapter.window(session_id, anchors[(at + 1) * step]), repeats)

    def long_session(self, messages: int) -> str:
        """Store one session of ``messages`` short messages; gives its id."""
        session = self.corpus.long_session(messages)
        session_id = self.adapter.create(session)
        self.adapter.append_turn(session_id, session.messages)
        self.adapter.settle()
        return session_id

    def hammer(self, worker: int, start_at: float, seconds: float) -> dict[str, Any]:
        """Append as fast as possible from ``start_at`` [Unix seconds] on; errors are counted, not raised."""
        session = self.corpus.writer_session(worker)
        session_id = self.adapter.create(session)
        time.sleep(max(0.0, start_at - time.time()))
        until = time.perf_counter() + seconds
        series, errors = _Series(), []
        while time.perf_counter() < until:
            message = session.messages[len(series.wall) % len(session.messages)]
            try:
                series.call(lambda text=message: self.adapter.append(session_id, text))
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}"[:200])
        return series.result() | {"errors": errors}

    def memory(self) -> dict[str, float]:
        """Peak and present resident memory of this process [MB]."""
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        kilobytes = {line.split(":")[0]: line.split()[1] for line in status.splitlines() if line.startswith("Vm")}
        return {"peak_mb": int(kilobytes["VmHWM"]) / 1024, "now_mb": int(kilobytes["VmRSS"]) / 1024}


class _Series:
    """Times of a row of calls [ms]; see :mod:`harness.clock` for what they mean."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.own: list[float] = []
        self.cpu: list[float] = []

    def call(self, action: Callable[[], object]) -> None:
        """Run and time one call; a call that raises leaves no sample."""
        moment = Moment.start()
        action()
        took = moment.since()
        self.wall.append(took["wall_s"] * MS)
        self.own.append(took["own_s"] * MS)
        self.cpu.append(took["cpu_s"] * MS)

    def result(self) -> dict[str, Any]:
        """The samples, as JSON values."""
        return {"wall": self.wall, "own": self.own, "cpu": self.cpu}


def _repeat(action: Callable[[int], object], repeats: int) -> dict[str, Any]:
    series, started = _Series(), time.perf_counter()
    for at in range(repeats):
        series.call(lambda at=at: action(at))
        if at + 1 >= MIN_REPEATS and time.perf_counter() - started > SERIES_BUDGET_S:
            break
    return series.result()


def _timed(action: Callable[[], object]) -> dict[str, float]:
    moment = Moment.start()
    action()
    return moment.since()
