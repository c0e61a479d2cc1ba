"""Checks of storing: the same turn twice is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.conformance.probe import BICYCLE, recalls, remembering, tell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory.conformance.probe import Check
    from memory.conformance.subject import Instance, Subject


def the_same_turn(subject: Subject) -> Iterator[tuple[str, str]]:
    """A turn that is told again after a crash is not stored again."""
    instance = remembering(subject)
    once = _mentions(instance)
    for _ in range(3):
        tell(instance, BICYCLE)
    recalls(instance, BICYCLE)
    again = _mentions(instance)
    if again > once:
        yield (
            "ingest.not-idempotent",
            f"recalled {once} times; after the turn was told again, {again} times",
        )


def the_same_end(subject: Subject) -> Iterator[tuple[str, str]]:
    """A session's end that is told again stores nothing again."""
    instance = remembering(subject)
    once = _mentions(instance)
    for _ in range(3):
        tell_end(instance)
    recalls(instance, BICYCLE)
    again = _mentions(instance)
    if again > once:
        yield "sessions.end-again", f"recalled {once} times; after the end was told again, {again} times"


def tell_end(instance: Instance) -> None:
    """The end of the session in which the bicycle was named."""
    instance.call(
        "on_session_end", [{"role": "user", "content": BICYCLE.said}, {"role": "assistant", "content": "Noted."}]
    )


def _mentions(instance: Instance) -> int:
    return instance.recall(BICYCLE.question).count(BICYCLE.proof)


CHECKS: tuple[Check, ...] = (the_same_turn, the_same_end)
