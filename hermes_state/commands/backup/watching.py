"""Showing how far a backup or restore is: a bar of bytes for people, events for programs."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hermes_state.commands.backup import archives
from hermes_state.commands.streams import write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_state.commands.invocation import Invocation
    from hermes_state.portability.backup import Step

# Between two events, in seconds: a program that reads them wants to know that it goes on, not each file.
_EVENT_EVERY_S = 0.5


@contextmanager
def watching(invocation: Invocation, what: str, *, jsonl: bool) -> Iterator[Callable[[Step], None]]:
    """Something to be told each step."""
    if jsonl:
        yield _events()
        return
    with archives.byte_progress(invocation, what) as tell:
        yield lambda step: tell(step.done, step.total)


def _events() -> Callable[[Step], None]:
    last = 0.0

    def tell(step: Step) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVENT_EVERY_S:
            last = now
            write_json({"event": "progress", "what": step.what, "done": step.done, "total": step.total})

    return tell


def give(invocation: Invocation, result: dict[str, Any], *, jsonl: bool) -> None:
    """The result for a program: the document, or the last event."""
    if jsonl:
        write_json({"event": "result", **result})
    else:
        invocation.document(result)
