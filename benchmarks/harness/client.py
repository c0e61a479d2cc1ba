"""The measuring end of the pipe to a worker process."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

BENCHMARKS = Path(__file__).resolve().parents[1]
#: A worker that has not answered by then [seconds] is killed and its part reported as failed.
CALL_TIMEOUT_S = 3_600.0
#: Set in every worker, so that nothing follows the machine's load or a user's configuration.
_ENVIRONMENT = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


class WorkerError(RuntimeError):
    """A call failed inside a worker; the message is the worker's traceback."""


@dataclass(frozen=True, slots=True)
class Interpreters:
    """How each side's worker is started."""

    seed: int
    peer: Path | None

    def command(self, side: str) -> list[str]:
        """The command line of a side's worker."""
        if side == "peer":
            if self.peer is None:
                raise WorkerError("no peer: give its interpreter with --peer")
            return [str(self.peer), "-I", str(BENCHMARKS / "peer_worker.py"), str(self.seed)]
        return [sys.executable, str(BENCHMARKS / f"{side}_worker.py"), str(self.seed)]

    def start(self, side: str) -> Worker:
        """Start a worker of this side."""
        return Worker(side, self.command(side))


class Worker:
    """A process that holds one store; a context manager that ends it."""

    def __init__(self, side: str, command: list[str], environment: Mapping[str, str] | None = None) -> None:
        self.side = side
        self._errors = tempfile.TemporaryFile(mode="w+", encoding="utf-8")  # noqa: SIM115 - closed in close()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            cwd=tempfile.gettempdir(),
            env=os.environ | _ENVIRONMENT | dict(environment or {}),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, name: str, **arguments: Any) -> Any:
        """One call and its answer."""
        self.send(name, **arguments)
        return self.receive()

    def send(self, name: str, **arguments: Any) -> None:
        """Start a call without waiting, so that several workers can run at once."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"call": name, "with": arguments}) + "\n")
        self._process.stdin.flush()

    def receive(self) -> Any:
        """The answer to the oldest call without one."""
        assert self._process.stdout is not None
        watchdog = threading.Timer(CALL_TIMEOUT_S, self._process.kill)
        watchdog.start()
        try:
            line = self._process.stdout.readline()
        finally:
            watchdog.cancel()
        if not line:
            raise WorkerError(f"{self.side} worker ended: {self._last_words()}")
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(f"{self.side}: {answer['error']}")
        return answer["value"]

    def close(self) -> None:
        """End the worker; one that does not end by itself is killed."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):  # it is gone already, which receive() has reported
                self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()

    def _last_words(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        return f"exit {self._process.returncode}\n{self._errors.read()[-2_000:]}"
