"""What the agent asks of a memory, and the memory that has none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Memory(Protocol):
    """The part of `memory.manager.MemoryManager` that the agent uses. No member raises on account of a provider,
    but `on_pre_compress` in strict mode."""

    def initialize(self, session_id: str, **facts: Any) -> object: ...
    def system_prompt(self) -> str: ...
    def on_turn_start(self, turn_number: int, message: str, **facts: Any) -> object: ...
    def prefetch(self, query: str, *, session_id: str = "") -> str: ...
    def describe_recall(self) -> str: ...
    def queue_prefetch(self, query: str, *, session_id: str = "") -> object: ...
    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
        interrupted: bool = False,
    ) -> object: ...
    def tool_schemas(self) -> Sequence[Mapping[str, Any]]: ...
    def handle_tool_call(self, name: str, args: dict[str, Any], **facts: Any) -> str: ...
    def on_pre_compress(
        self,
        messages: list[dict[str, Any]],
        *,
        evidence_messages: list[dict[str, Any]] | None = None,
        require_checkpoint: bool = False,
        checkpoint_api_version: int = 2,
    ) -> str: ...
    def supports_pre_compress_checkpoint(self, api_version: int = 2) -> bool: ...
    def on_session_end(self, messages: list[dict[str, Any]]) -> object: ...
    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        rewound: bool = False,
        reason: str = "",
    ) -> object: ...
    def on_delegation(self, task: str, result: str, *, child_session_id: str = "") -> object: ...
    def notices(self) -> Sequence[str]: ...
    def shutdown(self, timeout_s: float | None = None) -> object: ...


class NoMemory:
    """Remembers nothing: for a delegated child, and for a runtime without memory."""

    def initialize(self, session_id: str, **facts: Any) -> None:
        """Nothing to prepare."""

    def system_prompt(self) -> str:
        """No block in the prompt."""
        return ""

    def on_turn_start(self, turn_number: int, message: str, **facts: Any) -> None:
        """Nobody listens."""

    def prefetch(self, query: str, *, session_id: str = "") -> str:  # noqa: ARG002  the protocol's
        """Nothing is recalled."""
        return ""

    def describe_recall(self) -> str:
        """Nothing was recalled."""
        return ""

    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        """Nobody listens."""

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
        interrupted: bool = False,
    ) -> None:
        """Nobody listens."""

    def tool_schemas(self) -> Sequence[Mapping[str, Any]]:
        """No tools."""
        return ()

    def handle_tool_call(self, name: str, args: dict[str, Any], **facts: Any) -> str:  # noqa: ARG002
        """There is no tool to call."""
        return json.dumps({"error": f"there is no tool {name!r}"})

    def on_pre_compress(
        self,
        messages: list[dict[str, Any]],  # noqa: ARG002
        *,
        evidence_messages: list[dict[str, Any]] | None = None,  # noqa: ARG002
        require_checkpoint: bool = False,  # noqa: ARG002  a side agent is exempt from the gate
        checkpoint_api_version: int = 2,  # noqa: ARG002
    ) -> str:
        """Nothing to add to a summary."""
        return ""

    def supports_pre_compress_checkpoint(self, api_version: int = 2) -> bool:  # noqa: ARG002  the protocol's
        """Nothing is kept."""
        return False

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        """Nobody listens."""

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        rewound: bool = False,
        reason: str = "",
    ) -> None:
        """Nobody listens."""

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "") -> None:
        """Nobody listens."""

    def notices(self) -> Sequence[str]:
        """Nothing to tell."""
        return ()

    def shutdown(self, timeout_s: float | None = None) -> None:
        """Nothing to wait for."""
