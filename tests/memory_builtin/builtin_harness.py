"""Calls of the tool `memory`, and its files as other programs write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from memory.builtin import BuiltinMemory, MemoryTool

if TYPE_CHECKING:
    from pathlib import Path


class Call(Protocol):
    """One call of the tool."""

    def __call__(self, **args: Any) -> dict[str, Any]: ...


def caller(memory: BuiltinMemory) -> Call:
    """Calls of the tool on a memory, with the reply as the model gets it."""
    tool = MemoryTool(memory)

    def call(**args: Any) -> dict[str, Any]:
        reply = json.loads(tool.call(args, session_id="s1", tool_call_id="c1"))
        assert isinstance(reply, dict)
        return reply

    return call


def file_of(home: Path, target: str = "memory") -> Path:
    """The file of a target."""
    return home / "memories" / {"memory": "MEMORY.md", "user": "USER.md"}[target]


def put(home: Path, data: bytes | str, target: str = "memory") -> Path:
    """Write a memory file as another program would."""
    path = file_of(home, target)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path
