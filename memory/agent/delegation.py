"""A child agent for one task: it has the host's tools and no memory; the parent's memory hears of the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory.agent.tools import Tool

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = "subagent"


@dataclass(frozen=True, kw_only=True, slots=True)
class Delegation:
    """What a child came back with: its answer, and its session, a delegate of the parent's."""

    result: str
    session_id: str


def delegate_tool(delegate: Callable[[str], Delegation]) -> Tool:
    """`delegate_task`: lets the model hand a task to a child. `delegate` is `Agent.delegate`."""

    def run(arguments: dict[str, Any]) -> dict[str, str]:
        goal, context = str(arguments.get("goal") or ""), str(arguments.get("context") or "")
        done = delegate(f"{goal}\n\n{context}".strip())
        return {"result": done.result, "session_id": done.session_id}

    return Tool(
        name="delegate_task",
        description=(
            "Hand a self-contained task to a helper that knows nothing of this conversation, and get its result."
        ),
        parameters={
            "type": "object",
            "properties": {
                "goal": {"type": "string", "description": "What is to be done, and what to return."},
                "context": {"type": "string", "description": "Everything the helper has to know."},
            },
            "required": ["goal"],
            "additionalProperties": False,
        },
        run=run,
    )
