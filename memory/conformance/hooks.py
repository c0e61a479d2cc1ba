"""Checks of every hook: it comes back, raises nothing, returns what it should, and leaves the messages alone."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from memory.conformance.probe import BICYCLE, CONVERSATION
from memory.conformance.subject import SESSION
from memory.context import sanitize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory.conformance.probe import Check
    from memory.conformance.subject import Outcome, Subject

_TEXT = frozenset({"system_prompt_block", "prefetch", "on_pre_compress"})


def calls(messages: list[dict[str, Any]]) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """One call of each hook, in the order of a conversation."""
    user, assistant = BICYCLE.said, "Noted."
    here: dict[str, Any] = {"session_id": SESSION}
    return [
        ("system_prompt_block", (), {}),
        ("on_turn_start", (1, user), {"author_id": "u1"}),
        ("prefetch", (user,), here),
        ("recall_status", (), {}),
        ("sync_turn", (user, assistant), here | {"messages": messages, "turn_id": "t1"}),
        ("queue_prefetch", (user,), here),
        ("on_memory_write", ("add", "memory", "x", {"write_origin": "assistant_tool"}), {}),
        ("on_memory_write", ("remove", "user", "", {"previous_content": "whole entry"}), {}),
        ("on_delegation", ("task", "result"), {"child_session_id": "child"}),
        ("on_pre_compress", (messages,), {}),
        ("on_session_end", (messages,), {}),
        ("on_session_switch", ("conformance-2",), {"parent_session_id": SESSION, "reason": "branch"}),
        ("backup_paths", (), {}),
    ]


def one_of_each(subject: Subject) -> Iterator[tuple[str, str]]:
    """An ordinary conversation."""
    instance = subject.started()
    messages = copy.deepcopy(CONVERSATION)
    for hook, args, kwargs in calls(messages):
        outcome = instance.call(hook, *args, **kwargs)
        yield from judged(hook, outcome)
        if messages != CONVERSATION:
            yield "hooks.mutates", f"`{hook}` changed the messages it was given"
            messages[:] = copy.deepcopy(CONVERSATION)
        if outcome.hung:
            return
        if hook in _TEXT and isinstance(outcome.value, str) and sanitize(outcome.value) != outcome.value:
            yield "hooks.fenced", f"`{hook}` returns a text with memory fences"


def nothing_said(subject: Subject) -> Iterator[tuple[str, str]]:
    """Empty texts and empty transcripts."""
    instance = subject.started()
    for hook, args in (
        ("on_turn_start", (0, "")),
        ("prefetch", ("",)),
        ("queue_prefetch", ("",)),
        ("sync_turn", ("", "")),
        ("on_pre_compress", ([],)),
        ("on_session_end", ([],)),
    ):
        outcome = instance.call(hook, *args)
        yield from judged(hook, outcome, "with nothing said, ")
        if outcome.hung:
            return


def judged(hook: str, outcome: Outcome, when: str = "") -> Iterator[tuple[str, str]]:
    """What an outcome says against a provider."""
    if outcome.hung:
        yield "hooks.hangs", f"{when}`{hook}` {outcome.trouble}"
    elif outcome.error is not None and type(outcome.error).__name__ == "ContractBroken":
        yield "hooks.returns", f"{when}`{hook}`: {outcome.error}"
    elif outcome.error is not None:
        rule = "hooks.raises" if isinstance(outcome.error, Exception) else "hooks.exits"
        yield rule, f"{when}`{hook}` {outcome.trouble}"


CHECKS: tuple[Check, ...] = (one_of_each, nothing_said)
