"""What checks share: the form of a check, a conversation to work with, and whether the provider recalls at all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from memory.conformance.subject import SESSION, Skip, Subject

if TYPE_CHECKING:
    from memory.conformance.subject import Instance

# A check yields (rule, what was found).
Check: TypeAlias = Callable[[Subject], Iterator[tuple[str, str]]]

CONVERSATION: list[dict[str, Any]] = [
    {"role": "system", "content": "You are helpful."},
    {"role": "user", "content": "My bicycle is called Zephyrine. Please remember that."},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "12:00"},
    {"role": "assistant", "content": "Noted: your bicycle is called Zephyrine."},
]
_FORGETFUL = "forgetful"
# Seconds that a provider which stores in a thread of its own gets before a recall counts as failed.
SETTLE_S = 5.0


class Fact(NamedTuple):
    """Something said, the question it answers, and the word that proves it."""

    said: str
    question: str
    proof: str


BICYCLE = Fact("My bicycle is called Zephyrine.", "What is my bicycle called?", "Zephyrine")
OVEN = Fact("The oven in my kitchen is a Brabantia.", "Which oven is in my kitchen?", "Brabantia")
TEA = Fact("我的茶壶叫青龙。", "我的茶壶叫什么?", "青龙")


def tell(
    instance: Instance, fact: Fact, *, session_id: str = SESSION, turn_id: str = "", by_write: bool = True
) -> None:
    """Have a fact stored as a host does: the turn, or a write of built-in memory; then the session's end.

    Args:
        by_write: a provider that takes no turns may be told by a write of built-in memory.
    """
    if instance.adapted.implements("sync_turn"):
        instance.remember(fact.said, "Noted.", session_id=session_id, turn_id=turn_id)
    elif by_write:
        instance.call("on_memory_write", "add", "user", fact.said, {"session_id": session_id})
    messages = [{"role": "user", "content": fact.said}, {"role": "assistant", "content": "Noted."}]
    instance.call("on_session_end", messages)


def recalls(instance: Instance, fact: Fact, *, session_id: str = SESSION) -> bool:
    """Whether a fact is recalled, soon enough."""
    until = time.monotonic() + SETTLE_S
    while fact.proof not in instance.recall(fact.question, session_id=session_id):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def remembering(subject: Subject, fact: Fact = BICYCLE) -> Instance:
    """An instance that has been told a fact and recalls it.

    Raises:
        Skip: what it is told, it does not recall, so nothing can be seen that way.
    """
    if _FORGETFUL in subject.known:
        raise Skip(subject.known[_FORGETFUL])
    instance = subject.started()
    hears = any(instance.adapted.implements(hook) for hook in ("sync_turn", "on_memory_write", "on_session_end"))
    if not hears or not instance.adapted.implements("prefetch"):
        raise Skip("it hears of nothing or recalls nothing, so nothing can be seen that way")
    tell(instance, fact)
    if not recalls(instance, fact):
        subject.known[_FORGETFUL] = "what it is told is not recalled, so nothing can be seen that way"
        raise Skip(subject.known[_FORGETFUL])
    return instance
