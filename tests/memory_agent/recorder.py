"""A memory that writes down what it is told, in order, and recalls what it was given."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Recorder:
    """Stands in for the manager. `calls` holds each hook as (name, arguments)."""

    def __init__(self, recalls: Mapping[str, str] | None = None, *, tools: Sequence[str] = ()) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.recalls = dict(recalls or {})
        self.entries: list[str] = []
        self.fails_checkpoint: Exception | None = None
        self.pre_compress = ""
        self.makes_checkpoints = True
        self._tools = tools
        self._lock = threading.Lock()

    def _note(self, hook: str, **arguments: Any) -> None:
        with self._lock:
            self.calls.append((hook, arguments))

    @property
    def hooks(self) -> list[str]:
        """The names of what was called, in order."""
        return [name for name, _ in self.calls]

    def of(self, name: str) -> list[dict[str, Any]]:
        """The arguments of each call of a hook."""
        return [arguments for hook, arguments in self.calls if hook == name]

    def initialize(self, session_id: str, **facts: Any) -> None:
        self._note("initialize", session_id=session_id, **facts)

    def system_prompt(self) -> str:
        self._note("system_prompt")
        return "\n".join(["KNOWN:", *self.entries])

    def on_turn_start(self, turn_number: int, message: str, **facts: Any) -> None:
        self._note("on_turn_start", turn_number=turn_number, message=message, **facts)

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        self._note("prefetch", query=query, session_id=session_id)
        return "\n".join(text for word, text in self.recalls.items() if word in query)

    def describe_recall(self) -> str:
        return "🧠 Recorder — recalled 1 memory"

    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        self._note("queue_prefetch", query=query, session_id=session_id)

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
        interrupted: bool = False,
    ) -> None:
        self._note("sync_turn", user=user_content, assistant=assistant_content, session_id=session_id)

    def tool_schemas(self) -> Sequence[Mapping[str, Any]]:
        return [{"name": name, "description": name, "parameters": {"type": "object"}} for name in self._tools]

    def handle_tool_call(self, name: str, args: dict[str, Any], **facts: Any) -> str:
        self._note("tool", name=name, args=args, **facts)
        if name == "memory":
            self.entries.append(str(args.get("content")))
            return json.dumps({"success": True, "done": True})
        return "plain text"

    def on_pre_compress(
        self,
        messages: list[dict[str, Any]],
        *,
        evidence_messages: list[dict[str, Any]] | None = None,
        require_checkpoint: bool = False,
        checkpoint_api_version: int = 2,
    ) -> str:
        self._note("on_pre_compress", messages=messages, evidence=evidence_messages, strict=require_checkpoint)
        if require_checkpoint and self.fails_checkpoint is not None:
            raise self.fails_checkpoint
        return self.pre_compress

    def supports_pre_compress_checkpoint(self, api_version: int = 2) -> bool:
        return self.makes_checkpoints

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        self._note("on_session_end", said=[message["content"] for message in messages])

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        rewound: bool = False,
        reason: str = "",
    ) -> None:
        self._note(
            "on_session_switch",
            new=new_session_id,
            parent=parent_session_id,
            reset=reset,
            rewound=rewound,
            reason=reason,
        )

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "") -> None:
        self._note("on_delegation", task=task, result=result, child=child_session_id)

    def notices(self) -> Sequence[str]:
        return ()

    def shutdown(self, timeout_s: float | None = None) -> None:
        self._note("shutdown")
