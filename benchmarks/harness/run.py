"""One run of the benchmark: its sizes, its stores on disk, its workers and what it has measured."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from corpus import CORPUS_REVISION, Corpus

from harness.figures import Figures, appending

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.client import Interpreters, Worker

STORE_FILE = "store.db"
#: Above this our store is built by bulk import, one append at a time would take too long.
ONE_BY_ONE_UP_TO = 100_000
#: The peer's store is never built above this.
PEER_UP_TO = 100_000
PEER_BUILD = (
    "The peer's stores were built before the measurements (and kept for later runs), one append_message after the "
    "other in one process, with synchronous=NORMAL and everything else as it comes. Rates with FULL and NORMAL are "
    "measured in the run itself, on copies of them."
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A part that could not be measured, and why."""

    part: str
    what: str
    error: str


@dataclass(slots=True)
class Run:
    """Everything the parts share."""

    sizes: list[int]
    work: Path
    cache: Path
    interpreters: Interpreters
    corpus: Corpus
    figures: Figures = field(default_factory=Figures)
    failures: list[Failure] = field(default_factory=list)
    say: Callable[[str], None] = print
    _text_bytes: dict[int, int] = field(default_factory=dict)

    @property
    def sides(self) -> list[str]:
        """Our side, and the peer when there is one."""
        return ["ours", "peer"] if self.interpreters.peer else ["ours"]

    def sides_at(self, size: int) -> list[str]:
        """The sides that have a store of this size."""
        return [side for side in self.sides if side == "ours" or size <= PEER_UP_TO]

    @contextmanager
    def attempt(self, part: str, what: str) -> Iterator[None]:
        """Go on with the next measurement when this one fails; the run reports it and exits non-zero."""
        self.say(f"{part}: {what}")
        try:
            yield
        except Exception as error:
            self.failures.append(Failure(part, what, str(error) or type(error).__name__))
            self.say(f"FAILED {part}: {what}: {error}")

    @staticmethod
    def rotated(sides: list[str], by: int) -> list[str]:
        """The sides in another order each round, so that no side always follows the same one."""
        at = by % len(sides)
        return [*sides[at:], *sides[:at]]

    def text_bytes(self, size: int) -> int:
        """UTF-8 bytes of the text in a corpus of this size."""
        if size not in self._text_bytes:
            sessions = self.corpus.sessions(messages=size)
            self._text_bytes[size] = sum(message.text_bytes() for one in sessions for message in one.messages)
        return self._text_bytes[size]

    def store(self, side: str, size: int) -> Path:
        """The pristine store of a side, built when missing. Read it or copy it; don't write to it."""
        if side == "peer":
            return self._peer_store(size)
        path = self.work / f"ours-{size}" / STORE_FILE
        note = path.with_name("build.json")
        if not note.exists():
            shutil.rmtree(path.parent, ignore_errors=True)
            path.parent.mkdir(parents=True)
            build = self._build_one_by_one if size <= ONE_BY_ONE_UP_TO else self._build_by_import
            self.say(f"building our store of {size:,} messages")
            note.write_text(json.dumps(build(path, size)))
        self.figures.add("memory", _built(size), size, "ours", **json.loads(note.read_text()))
        return path

    @contextmanager
    def scratch(self, side: str, size: int) -> Iterator[Path]:
        """A copy of a store that may be written to; an empty place for the bare side."""
        directory = self.work / f"scratch-{side}-{size}-{time.monotonic_ns()}"
        directory.mkdir(parents=True)
        try:
            if side != "bare" and size:
                original = self.store(side, size)
                for file in original.parent.glob(f"{original.name}*"):
                    if not file.name.endswith(".json"):
                        _copy(file, directory / file.name.replace(original.name, STORE_FILE))
            yield directory / STORE_FILE
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    @contextmanager
    def opened(self, sides: list[str], size: int, synchronous: str, *, write: bool) -> Iterator[dict[str, Worker]]:
        """A worker for each side with its store of ``size`` open: a scratch copy if it will be written to."""
        with ExitStack() as stack:
            workers = {}
            for side in sides:
                path = stack.enter_context(self.scratch(side, size)) if write else self.store(side, size)
                worker = stack.enter_context(self.interpreters.start(side))
                worker.call("open", path=str(path), synchronous=synchronous)
                workers[side] = worker
            yield workers
            for worker in workers.values():
                worker.call("close")

    def _build_one_by_one(self, path: Path, size: int) -> dict[str, float]:
        with self.interpreters.start("ours") as worker:
            before = worker.call("memory")["now_mb"]
            worker.call("open", path=str(path), synchronous="NORMAL")
            samples = worker.call("append", first=0, count=size)
            peak = worker.call("memory")["peak_mb"]
            worker.call("close")
        settling = {"settle_s": samples["settle"]["own_s"], "settle_cpu_ms": samples["settle"]["cpu_s"] * 1e3 / size}
        return appending([samples]) | settling | {"peak_mb": peak, "before_open_mb": before}

    def _build_by_import(self, path: Path, size: int) -> dict[str, float]:
        with self.interpreters.start("ours") as worker:
            before = worker.call("memory")["now_mb"]
            worker.call("open", path=str(path), synchronous="NORMAL")
            built = worker.call("bulk", first=0, count=size)
            peak = worker.call("memory")["peak_mb"]
            worker.call("close")
        rates = {"per_s": size / built["searchable_s"], "cpu_ms": built["cpu_s"] * 1e3 / size}
        return rates | {"peak_mb": peak, "before_open_mb": before}

    def _peer_store(self, size: int) -> Path:
        version = peer_version(self.interpreters)
        name = f"peer-{version}-s{self.corpus.seed}-r{CORPUS_REVISION}-{size}.db"
        path, note = self.cache / name, self.cache / f"{name}.json"
        if not path.exists():
            self.say(f"building the peer's store of {size:,} messages into {self.cache}")
            self.cache.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(".part")
            with self.interpreters.start("peer") as worker:
                note.write_text(json.dumps(worker.call("build", path=str(part), messages=size), indent=1))
            part.rename(path)
        self._note_peer_build(size, json.loads(note.read_text()))
        return path

    def _note_peer_build(self, size: int, built: dict[str, float]) -> None:
        values = {
            "per_s": size / built["seconds"],
            "steady_per_s": size / (built["seconds"] - built["stalled_s"]),
            "p50_ms": built["p50_ms"],
            "worst_ms": built["worst_ms"],
            "over_100_ms": built["over_100_ms"],
            "cpu_ms": built["cpu_s"] * 1_000 / size,
            "peak_mb": built["peak_mb"],
        }
        self.figures.add("memory", _built(size), size, "peer", **values)


def _copy(original: Path, copy: Path) -> None:
    """Copy, and wait until the copy is on the disk: else its pages are what the first commits wait for."""
    shutil.copy2(original, copy)
    with copy.open("rb") as file:
        os.fsync(file.fileno())


def _built(size: int) -> str:
    way = "append all, one by one" if size <= ONE_BY_ONE_UP_TO else "bulk import, corpus generated meanwhile"
    return f"{way}, NORMAL"


def peer_version(interpreters: Interpreters) -> str:
    """Version of the peer's distribution, from its own environment; empty without a peer."""
    if interpreters.peer is None:
        return ""
    code = "import importlib.metadata as m; print(m.version('hermes-agent'))"
    done = subprocess.run([str(interpreters.peer), "-I", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def machine() -> str:
    """What the run ran on, and how busy it was when it began."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    cpu = next((line.split(":")[1].strip() for line in lines if "model name" in line), platform.processor())
    load = f"load {os.getloadavg()[0]:.1f} at the start"
    return f"{cpu}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, {load}"
