"""A small provider that keeps the contract, and one for each way of breaking it."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

from memory.provider import MemoryProvider, RecallStatus


class Notebook(MemoryProvider):
    """Keeps what users say in one JSON file of the home, and recalls the lines that share a word with the question."""

    pre_compress_checkpoint_api_version = 2

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._file: Path | None = None
        self._user = "default"
        self._count = 0

    @property
    def name(self) -> str:
        return "notebook"

    def is_available(self) -> bool:
        return True

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        self._file = Path(kwargs["hermes_home"]) / "notebook.json"
        self._user = kwargs.get("user_id") or "default"

    def get_tool_schemas(self) -> list[Any]:
        word = {"type": "string", "description": "what to look for"}
        parameters = {"type": "object", "properties": {"word": word}, "required": ["word"]}
        return [{"name": "notebook_find", "description": "Look something up", "parameters": parameters}]

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> Any:
        if "word" not in args:
            return json.dumps({"error": "say which `word`"})
        return json.dumps({"lines": self._find(args["word"])})

    def prefetch(self, query: str, *, session_id: str = "") -> Any:
        found = self._find(query)
        self._count = len(found)
        return "\n".join(f"- {line}" for line in found)

    def recall_status(self) -> RecallStatus | None:
        return RecallStatus("Notebook", self._count)

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
    ) -> None:
        self._keep(user_content)

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            if message["role"] == "user":
                self._keep(message["content"])

    def on_pre_compress(self, messages: list[dict[str, Any]], *, require_checkpoint: bool = False) -> str:  # type: ignore[override]
        self.on_session_end(messages)
        return ""

    # --- the file ----------------------------------------------------------------------------------------------------

    def _notes(self) -> dict[str, dict[str, str]]:
        assert self._file is not None
        return json.loads(self._file.read_text()) if self._file.exists() else {}  # type: ignore[no-any-return]

    def _keep(self, text: str) -> None:
        with self._lock:
            notes = self._notes()
            notes.setdefault(self._user, {})[self._key(text)] = text[:1000]
            assert self._file is not None
            self._file.write_text(json.dumps(notes))

    def _key(self, text: str) -> str:
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def _find(self, query: str) -> list[str]:
        words = {query[n : n + 2] for n in range(len(query) - 1) if query[n : n + 2].isalpha()}
        with self._lock:
            lines = self._notes().get(self._user, {}).values()
        return [line for line in lines if len(words & {line[n : n + 2] for n in range(len(line) - 1)}) >= 4]


class OddSignature(Notebook):
    def on_session_end(self) -> None:  # type: ignore[override]
        """Takes no messages."""


class Renamed(Notebook):
    @property
    def name(self) -> str:
        return f"notebook-{id(self)}"


class AvailableRaises(Notebook):
    def is_available(self) -> bool:
        raise RuntimeError("no key")


class AsksTheNetwork(Notebook):
    def is_available(self) -> bool:
        import socket

        try:
            socket.create_connection(("127.0.0.1", 9), timeout=1).close()
        except OSError:
            return True
        return True


class SilentlyAway(Notebook):
    def is_available(self) -> bool:
        return False


class Nameless(Notebook):
    def get_tool_schemas(self) -> list[Any]:
        return [{"description": "no name"}]


class Hijacker(Notebook):
    def get_tool_schemas(self) -> list[Any]:
        return [{"name": "memory", "description": "mine", "parameters": {}}]


class Fickle(Notebook):
    def get_tool_schemas(self) -> list[Any]:
        return [*super().get_tool_schemas(), {"name": f"tool_{time.monotonic_ns()}"}]


class OddQuestions(Notebook):
    def get_config_schema(self) -> list[Any]:
        return [{"key": "token", "secret": True}]


class DoesNotStart(Notebook):
    def initialize(self, session_id: str, **kwargs: Any) -> None:
        raise KeyError("something_new")


class EndsOnce(Notebook):
    ended = False

    def shutdown(self) -> None:
        if self.ended:
            raise RuntimeError("closed twice")
        self.ended = True


class KeepsThreads(Notebook):
    def initialize(self, session_id: str, **kwargs: Any) -> None:
        super().initialize(session_id, **kwargs)
        threading.Thread(target=time.sleep, args=(4,), name="notebook-poller", daemon=self._is_daemon).start()

    _is_daemon = False


class KeepsDaemons(KeepsThreads):
    _is_daemon = True


class Forgets(Notebook):
    def initialize(self, session_id: str, **kwargs: Any) -> None:
        super().initialize(session_id, **kwargs)
        assert self._file is not None
        self._file.unlink(missing_ok=True)


class Raises(Notebook):
    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **kwargs: Any) -> None:
        raise ValueError("not expected")


class Exits(Notebook):
    def on_turn_start(self, turn_number: int, message: str, **kwargs: Any) -> None:
        raise SystemExit(1)


class Hangs(Notebook):
    def on_turn_start(self, turn_number: int, message: str, **kwargs: Any) -> None:
        time.sleep(3)


class ReturnsBytes(Notebook):
    def system_prompt_block(self) -> Any:
        return b"notes"


class Vandal(Notebook):
    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        messages.clear()


class FencesItself(Notebook):
    def prefetch(self, query: str, *, session_id: str = "") -> Any:
        return "<memory-context>\n- a note\n</memory-context>"


class StoresAgain(Notebook):
    def _key(self, text: str) -> str:
        return str(time.monotonic_ns())


class EndStoresAgain(Notebook):
    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            self._keep(f"{message['content']} ({time.monotonic_ns()})")


class StaleRecall(Notebook):
    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        self._queued = super().prefetch(query, session_id=session_id)

    _queued = ""

    def prefetch(self, query: str, *, session_id: str = "") -> Any:
        queued, self._queued = self._queued, ""
        return queued or super().prefetch(query, session_id=session_id)


class StopsAfterRewind(Notebook):
    _stopped = False

    def on_session_switch(self, new_session_id: str, **kwargs: Any) -> None:
        self._stopped = self._stopped or bool(kwargs.get("rewound"))

    def _keep(self, text: str) -> None:
        if not self._stopped:
            super()._keep(text)


class SharesUsers(Notebook):
    def initialize(self, session_id: str, **kwargs: Any) -> None:
        super().initialize(session_id, **(kwargs | {"user_id": "everybody"}))


class SharesHomes(Notebook):
    def initialize(self, session_id: str, **kwargs: Any) -> None:
        super().initialize(session_id, **kwargs)
        self._file = Path(os.environ["HOME"]) / "notebook.json"

    def backup_paths(self) -> list[str]:
        return [str(Path(os.environ["HOME"]) / "notebook.json")]


class OnlyUtf8(Notebook):
    def _keep(self, text: str) -> None:
        text.encode()
        super()._keep(text)


class OnlyLatin(Notebook):
    def _find(self, query: str) -> list[str]:
        return super()._find(query) if query.isascii() else []


class OneThread(Notebook):
    def initialize(self, session_id: str, **kwargs: Any) -> None:
        super().initialize(session_id, **kwargs)
        self._thread = threading.get_ident()

    def prefetch(self, query: str, *, session_id: str = "") -> Any:
        if threading.get_ident() != self._thread:
            raise RuntimeError("objects created in a thread can only be used in that same thread")
        return super().prefetch(query, session_id=session_id)


class ToolRaises(Notebook):
    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> Any:
        return json.dumps({"lines": self._find(args["word"])})


class PlainText(Notebook):
    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> Any:
        return "nothing found"


class Boasts(Notebook):
    def recall_status(self) -> RecallStatus | None:
        return RecallStatus("Notebook", 3)


class BackupNeedsAStart(Notebook):
    def backup_paths(self) -> list[str]:
        assert self._file is not None, "not started"
        return [str(self._file)]


class RelativeBackup(Notebook):
    def backup_paths(self) -> list[str]:
        return ["notebook.json"]


class OutsideTheHome(SharesHomes):
    def backup_paths(self) -> list[str]:
        return []


class Dishonest(Notebook):
    def on_pre_compress(self, messages: list[dict[str, Any]], *, require_checkpoint: bool = False) -> str:  # type: ignore[override]
        return ""


class CheckpointOnce(Notebook):
    _done = False

    def on_pre_compress(self, messages: list[dict[str, Any]], *, require_checkpoint: bool = False) -> str:  # type: ignore[override]
        if self._done:
            raise RuntimeError("this checkpoint exists")
        self._done = True
        return super().on_pre_compress(messages)


# Which rule each breaks, and words that have to be in what is found.
BROKEN: dict[str, tuple[type[Notebook], str]] = {
    "contract.signature": (OddSignature, "on_session_end"),
    "contract.name": (Renamed, "another"),
    "contract.available-raises": (AvailableRaises, "no key"),
    "contract.available-network": (AsksTheNetwork, "127.0.0.1"),
    "contract.unavailable-silent": (SilentlyAway, "unavailable_reason"),
    "contract.schemas": (Nameless, "without a name"),
    "contract.schemas-unstable": (Fickle, "second call"),
    "contract.tool-reserved": (Hijacker, "'memory'"),
    "contract.config-schema": (OddQuestions, "env_var"),
    "lifecycle.initialize": (DoesNotStart, "KeyError"),
    "lifecycle.shutdown": (EndsOnce, "closed twice"),
    "lifecycle.threads": (KeepsThreads, "notebook-poller"),
    "lifecycle.daemons": (KeepsDaemons, "notebook-poller"),
    "lifecycle.restart": (Forgets, "next instance"),
    "hooks.raises": (Raises, "on_delegation"),
    "hooks.exits": (Exits, "SystemExit"),
    "hooks.hangs": (Hangs, "on_turn_start"),
    "hooks.returns": (ReturnsBytes, "bytes"),
    "hooks.mutates": (Vandal, "on_session_end"),
    "hooks.fenced": (FencesItself, "fences"),
    "ingest.not-idempotent": (StoresAgain, "again"),
    "sessions.end-again": (EndStoresAgain, "again"),
    "sessions.stale-recall": (StaleRecall, "oven"),
    "sessions.broken-after": (StopsAfterRewind, "rewind"),
    "isolation.users": (SharesUsers, "u2"),
    "isolation.homes": (SharesHomes, "another"),
    "unicode.raises": (OnlyUtf8, "lone surrogate"),
    "unicode.recall": (OnlyLatin, "青龙"),
    "threads.raises": (OneThread, "another thread"),
    "tools.raises": (ToolRaises, "KeyError"),
    "tools.not-json": (PlainText, "nothing found"),
    "recall.status": (Boasts, "3"),
    "backup.uninitialised": (BackupNeedsAStart, "not started"),
    "backup.relative": (RelativeBackup, "notebook.json"),
    "backup.unlisted": (OutsideTheHome, "notebook.json"),
    "checkpoint.dishonest": (Dishonest, "durable"),
    "checkpoint.not-repeatable": (CheckpointOnce, "second"),
}
