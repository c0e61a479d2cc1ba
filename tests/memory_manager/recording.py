"""A provider that writes down every call, and does what a test tells it to do."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from memory.provider import MemoryProvider, RecallStatus

if TYPE_CHECKING:
    from collections.abc import Callable


class Recorder(MemoryProvider):
    """Keeps `(hook, arguments)` in `calls`; a function in `acts` is called in the place of a hook's nothing."""

    def __init__(self, name: str = "recorder", **acts: Callable[..., Any]) -> None:
        self._name = name
        self.acts = acts
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.schemas: list[Any] = [{"name": f"{name}_find", "description": "find", "parameters": {"type": "object"}}]
        self.changed = threading.Condition()

    def _do(self, hook: str, default: Any = None, **said: Any) -> Any:
        with self.changed:
            self.calls.append((hook, said))
            self.changed.notify_all()
        act = self.acts.get(hook)
        return default if act is None else act(**said)

    def of(self, *hooks: str) -> list[tuple[str, dict[str, Any]]]:
        """The calls of some hooks, in order."""
        with self.changed:
            return [call for call in self.calls if call[0] in hooks]

    def wait_for(self, hook: str, count: int = 1) -> None:
        """Wait until a hook was called so often."""
        with self.changed:
            assert self.changed.wait_for(lambda: len([c for c in self.calls if c[0] == hook]) >= count, timeout=20)

    @property
    def name(self) -> str:
        return self._name

    def is_available(self) -> bool:
        return bool(self._do("is_available", True))

    def unavailable_reason(self) -> str:
        return str(self._do("unavailable_reason", ""))

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        self._do("initialize", session_id=session_id, facts=kwargs)

    def get_tool_schemas(self) -> list[Any]:
        return self.schemas

    def system_prompt_block(self) -> Any:
        return self._do("system_prompt_block", "")

    def on_turn_start(self, turn_number: int, message: str, **kwargs: Any) -> None:
        self._do("on_turn_start", turn_number=turn_number, message=message)

    def prefetch(self, query: str, *, session_id: str = "") -> Any:
        return self._do("prefetch", "", query=query, session_id=session_id)

    def recall_status(self) -> RecallStatus | None:
        return self._do("recall_status")  # type: ignore[no-any-return]

    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        self._do("queue_prefetch", query=query, session_id=session_id)

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
        turn_id: str = "",
    ) -> None:
        self._do(
            "sync_turn",
            user=user_content,
            assistant=assistant_content,
            session_id=session_id,
            messages=messages,
            turn_id=turn_id,
        )

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> Any:
        return self._do("handle_tool_call", '{"ok": true}', name=tool_name, args=args)

    def on_memory_write(self, action: str, target: str, content: str, metadata: dict[str, Any] | None = None) -> None:
        self._do("on_memory_write", action=action, target=target, content=content, metadata=metadata)

    def on_pre_compress(self, messages: list[dict[str, Any]]) -> Any:
        return self._do("on_pre_compress", "", messages=messages)

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        self._do("on_session_end", messages=messages)

    def on_session_switch(self, new_session_id: str, **kwargs: Any) -> None:
        self._do("on_session_switch", new=new_session_id, **kwargs)

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **kwargs: Any) -> None:
        self._do("on_delegation", task=task, result=result, child_session_id=child_session_id)

    def shutdown(self) -> None:
        self._do("shutdown")


class CheckpointRecorder(Recorder):
    """The same, for the second pre-compress contract."""

    pre_compress_checkpoint_api_version = 2

    def on_pre_compress(self, messages: list[dict[str, Any]], *, require_checkpoint: bool = False) -> Any:  # type: ignore[override]
        return self._do("on_pre_compress", "", messages=messages, require_checkpoint=require_checkpoint)
