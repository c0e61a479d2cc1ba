"""Showing how far long work on an archive is: a bar of bytes with its rate for people, events for programs."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from hermes_state.commands.backup import archives
from hermes_state.commands.streams import write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_state.commands.invocation import Invocation
    from hermes_state.portability.progress import Step

# Between two events, in seconds: a program that reads them wants to know that it goes on, not each file.
_EVENT_EVERY_S = 0.5


@contextmanager
def watching(invocation: Invocation, what: str, *, jsonl: bool = False) -> Iterator[Callable[[Step], None]]:
    """Something to be told each step.

    With `jsonl` events go to stdout, before the result; with --json to stderr, since stdout has the one document.
    """
    if jsonl or invocation.json:
        events = _Events(what, sys.stdout if jsonl else sys.stderr)
        yield events.tell
        events.finish()
        return
    with archives.byte_progress(invocation, what) as tell:
        yield lambda step: tell(step.done, step.total)


class _Events:
    """JSON Lines: the first step at once, then one in a while, and the last."""

    def __init__(self, task: str, stream: IO[str]) -> None:
        self._task, self._stream = task, stream
        self._started = time.monotonic()
        self._told_at = -_EVENT_EVERY_S
        self._untold: Step | None = None

    def tell(self, step: Step) -> None:
        """One step."""
        elapsed = time.monotonic() - self._started
        if elapsed - self._told_at < _EVENT_EVERY_S:
            self._untold = step
            return
        self._untold, self._told_at = None, elapsed
        self._write(step, elapsed)

    def finish(self) -> None:
        """The work is done: tell the last step."""
        if self._untold is not None:
            self._write(self._untold, time.monotonic() - self._started)

    def _write(self, step: Step, elapsed: float) -> None:
        rate = round(step.done / elapsed) if elapsed > 0 else 0
        event = {"event": "progress", "task": self._task, "what": step.what, "done": step.done, "total": step.total}
        write_json({**event, "bytes_per_s": rate, "elapsed_s": round(elapsed, 3)}, stream=self._stream)
        self._stream.flush()


def give(invocation: Invocation, result: dict[str, Any], *, jsonl: bool) -> None:
    """The result for a program: the document, or the last event."""
    if jsonl:
        write_json({"event": "result", **result})
    else:
        invocation.document(result)
