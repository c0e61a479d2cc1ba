"""Checks of session boundaries: every kind of switch, and nothing of one question in the answer to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory.conformance.hooks import judged
from memory.conformance.probe import BICYCLE, OVEN, recalls, remembering, tell
from memory.conformance.subject import SESSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory.conformance.probe import Check
    from memory.conformance.subject import Subject

SWITCHES: list[tuple[str, dict[str, Any]]] = [
    ("conformance-2", {"reset": True, "reason": "new_session"}),
    (SESSION, {"reason": "resume"}),
    ("conformance-3", {"parent_session_id": SESSION, "reason": "branch"}),
    ("conformance-4", {"parent_session_id": "conformance-3", "reason": "compression"}),
    ("conformance-4", {"parent_session_id": "conformance-4", "reason": "compression"}),  # in place
    ("conformance-4", {"rewound": True, "reason": "rewind"}),
]


def switches(subject: Subject) -> Iterator[tuple[str, str]]:
    """Every kind of switch, with turns between."""
    instance = subject.started()
    for session_id, how in SWITCHES:
        instance.call("on_session_end", [{"role": "user", "content": "hello"}])
        outcome = instance.call("on_session_switch", session_id, **how)
        yield from judged("on_session_switch", outcome, f"with {how}, ")
        if outcome.hung:
            return
        yield from judged("sync_turn", instance.remember("hello", session_id=session_id), f"after {how}, ")


def goes_on(subject: Subject) -> Iterator[tuple[str, str]]:
    """After a compression in place and after a rewind it still stores and recalls."""
    instance = remembering(subject)
    for session_id, how in SWITCHES[3:]:
        instance.call("on_session_end", [{"role": "user", "content": BICYCLE.said}])
        instance.call("on_session_switch", session_id, **how)
    tell(instance, OVEN, session_id="conformance-4", turn_id="oven")
    if not recalls(instance, OVEN, session_id="conformance-4"):
        yield "sessions.broken-after", "what is told after a compression in place and a rewind is not recalled"


def recall_of_another_question(subject: Subject) -> Iterator[tuple[str, str]]:
    """What was queued for one question is no answer to the next, least of all in another session."""
    instance = remembering(subject)
    tell(instance, OVEN, turn_id="oven")
    if not recalls(instance, OVEN):
        return
    instance.call("queue_prefetch", OVEN.question, session_id=SESSION)
    instance.call("on_session_switch", "conformance-2", reset=True, reason="new_session")
    text = instance.recall(BICYCLE.question, session_id="conformance-2")
    if OVEN.proof in text and BICYCLE.proof not in text:
        yield "sessions.stale-recall", "asked about the bicycle it recalls only the oven, which was asked about before"


CHECKS: tuple[Check, ...] = (switches, goes_on, recall_of_another_question)
