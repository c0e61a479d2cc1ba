"""Checks of a whole life: start, end, threads that stay, and a second start."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from memory.conformance.probe import BICYCLE, recalls, remembering, tell
from memory.conformance.subject import Skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory.conformance.probe import Check
    from memory.conformance.subject import Subject

# Seconds that threads get to end after `shutdown`.
_THREADS_END_S = 2.0


def start(subject: Subject) -> Iterator[tuple[str, str]]:
    """An available provider starts, whatever facts it is given."""
    instance = subject.new()
    if not instance.call("is_available").value:
        return
    facts: dict[str, Any] = {"user_id": "u1", "chat_id": "c1", "session_title": "标题", "something_new": 1}
    outcome = instance.start(**facts)
    if not outcome.is_good:
        yield "lifecycle.initialize", f"`initialize` {outcome.trouble}"


def shutdown(subject: Subject) -> Iterator[tuple[str, str]]:
    """`shutdown` works after a start, twice, and without one."""
    never = subject.new().end()
    if not never.is_good:
        yield "lifecycle.shutdown", f"before a start, `shutdown` {never.trouble}"
    instance = subject.started()
    for when in ("", "the second time, "):
        outcome = instance.end()
        if not outcome.is_good:
            yield "lifecycle.shutdown", f"{when}`shutdown` {outcome.trouble}"


def leftover_threads(subject: Subject) -> Iterator[tuple[str, str]]:
    """What was started ends with `shutdown`."""
    before = set(threading.enumerate())
    instance = subject.started()
    tell(instance, BICYCLE)
    instance.recall(BICYCLE.question)
    instance.end()
    until = time.monotonic() + _THREADS_END_S
    while (left := _new_threads(before)) and time.monotonic() < until:
        time.sleep(0.02)
    for thread in left:
        rule = "lifecycle.daemons" if thread.daemon else "lifecycle.threads"
        yield rule, f"the thread {thread.name!r} runs on after `shutdown`"


def _new_threads(before: set[threading.Thread]) -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t not in before and not t.name.startswith("memory-conformance")]


def restart(subject: Subject) -> Iterator[tuple[str, str]]:
    """A new instance recalls what the one before it stored."""
    remembering(subject).end()
    if not recalls(subject.started(session_id="conformance-2"), BICYCLE, session_id="conformance-2"):
        yield "lifecycle.restart", "what was recalled before `shutdown` is not recalled by the next instance"


def homes(subject: Subject) -> Iterator[tuple[str, str]]:
    """Another home knows nothing."""
    remembering(subject)
    elsewhere = subject.home.parent / "other-home"
    elsewhere.mkdir()
    other = subject.started(elsewhere)
    if BICYCLE.proof in other.recall(BICYCLE.question):
        yield "isolation.homes", "what was told in one home is recalled in another"


def users(subject: Subject) -> Iterator[tuple[str, str]]:
    """Another user of the same home knows nothing of what was said.

    Writes of built-in memory are not looked at: that memory is the home's, whoever speaks.
    """
    first = subject.started(user_id="u1")
    tell(first, BICYCLE, by_write=False)
    if not recalls(first, BICYCLE):
        raise Skip("what is said in a turn is not recalled, so nothing can be seen that way")
    second = subject.started(user_id="u2")
    if BICYCLE.proof in second.recall(BICYCLE.question):
        yield "isolation.users", "what user u1 said is recalled for user u2"


CHECKS: tuple[Check, ...] = (start, shutdown, leftover_threads, restart, homes, users)
