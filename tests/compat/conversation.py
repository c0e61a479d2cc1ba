"""A whole conversation with one provider, offline; runs in the environment of a tried package.

    python conversation.py PROVIDER

`HERMES_HOME` and `HOME` say where. Prints one JSON document: what every step gave. Whatever the provider does, every
step has to come back; what escapes from the manager is in `broken`.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

from hermes_state import SessionDB
from memory.discovery import Discovery
from memory.manager import MemoryManager
from memory.settings import MemorySettings
from memory.signatures import Adapted

TURNS = [
    (
        "en",
        "My oven is an Electrolux E24, bought in Lisbon.",
        "Noted: the oven is an Electrolux E24.",
        "Which oven is mine?",
    ),
    (
        "en",
        "The blue bike has a flat tyre since Monday.",
        "I will remember the flat tyre.",
        "What about the blue bike?",
    ),
    ("zh", "我最喜欢的茶是福建的乌龙茶。", "好的，我记住了：福建乌龙茶。", "我最喜欢的茶是什么？"),
]
FACTS = {"en": ("E24", "flat tyre"), "zh": ("乌龙茶",)}
FLUSH_S = 60.0


class Offline:
    """Keeps a process from reaching anything but itself, and counts who tried."""

    def __init__(self) -> None:
        self.tried: list[str] = []
        self._connect = socket.socket.connect
        socket.socket.connect = self._guarded(self._connect)  # type: ignore[method-assign]
        resolve = socket.getaddrinfo

        def guarded(host: Any, *args: Any, **kwargs: Any) -> Any:
            if host in (None, "localhost", "127.0.0.1", "::1"):
                return resolve(host, *args, **kwargs)
            self.tried.append(str(host))
            raise socket.gaierror(socket.EAI_NONAME, "this conversation is offline")

        socket.getaddrinfo = guarded

    def _guarded(self, connect: Any) -> Any:
        def guarded(sock: socket.socket, address: Any) -> Any:
            host = address[0] if isinstance(address, tuple) else ""
            if host and not host.startswith("127.") and host not in ("::1", "localhost"):
                self.tried.append(str(host))
                raise OSError("this conversation is offline")
            return connect(sock, address)

        return guarded


class Record:
    """What happened, step by step."""

    def __init__(self) -> None:
        self.steps: dict[str, Any] = {}
        self.broken: list[str] = []

    def step(self, name: str, call: Any, *, allowed: tuple[type[BaseException], ...] = ()) -> Any:
        began = time.monotonic()
        try:
            value = call()
        except allowed as error:
            value = None
            self.steps[name] = {"raised": f"{type(error).__name__}: {error}"}
        except Exception as error:
            value = None
            self.broken.append(f"{name}: {type(error).__name__}: {error}")
        else:
            self.steps[name] = {"value": value if isinstance(value, str | int | list | dict | None) else repr(value)}
        self.steps.setdefault(name, {})["seconds"] = round(time.monotonic() - began, 3)
        return value


def argument(name: str, schema: dict[str, Any]) -> Any:
    """A plausible value for a tool's parameter."""
    if schema.get("enum"):
        return schema["enum"][0]
    if "default" in schema:
        return schema["default"]
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return arguments(schema)
    if kind == "array":
        return [argument(name, schema.get("items", {}))]
    numbers = {"integer": 1, "number": 0.5, "boolean": True}
    return numbers.get(kind, "1" if name.endswith("id") else "oven 烤箱")


def arguments(schema: dict[str, Any], *, required_only: bool = False) -> dict[str, Any]:
    wanted = schema.get("required", []) if required_only else schema.get("properties", {})
    return {name: argument(name, schema.get("properties", {}).get(name, {})) for name in wanted}


def call_tools(manager: MemoryManager, record: Record) -> dict[str, bool]:
    """Call every tool, with what it demands and then with everything; whether all its answers were JSON."""
    answers: dict[str, bool] = {}
    for schema in record.step("tool_schemas", manager.tool_schemas) or []:
        name, parameters = schema["name"], schema.get("parameters", {})
        given = [arguments(parameters, required_only=True), arguments(parameters)]
        answers[name] = all(
            is_json(record.step(f"tool {name} {number}", lambda n=name, a=args: manager.handle_tool_call(n, a)))
            for number, args in enumerate(given, 1)
        )
    return answers


def is_json(text: Any) -> bool:
    try:
        json.loads(text)
    except (TypeError, ValueError):
        return False
    return True


def converse(provider: str, home: Path, record: Record) -> dict[str, Any]:
    discovery = Discovery(home)
    found = discovery.find(provider)
    result: dict[str, Any] = {"found": {"state": found.state, "reason": found.reason} if found else None}
    with SessionDB.open(home=home) as db:
        session = db.sessions.create(source="cli").id
        manager = MemoryManager(db, home=home, settings=MemorySettings(provider=provider))
        record.step("load", lambda: manager.add_configured(discovery))
        record.step("initialize", lambda: manager.initialize(session, platform="cli", agent_context="primary"))
        record.step("system_prompt", manager.system_prompt)
        for raw in manager.providers:
            record.step("config schema", Adapted(raw).get_config_schema)
            record.step("backup paths", Adapted(raw).backup_paths)
        messages: list[dict[str, Any]] = []
        for number, turn in enumerate(TURNS, 1):
            _turn(manager, record, number, turn, session, messages)
        record.step("flush", lambda: manager.flush(FLUSH_S))
        result["recalled"] = _recalled(manager, record, session)
        _around(manager, record, session, messages)
        result["tools"] = call_tools(manager, record)
        stored = record.step("recall after tools", lambda: manager.prefetch("oven 烤箱", session_id=session))
        result["recalled"]["tools"] = "烤箱" in (stored or "")
        record.step("session_end", lambda: manager.on_session_end(messages))
        record.step("flush at the end", lambda: manager.flush(FLUSH_S))
        (status,) = manager.status().providers
        result |= {
            "state": status.state,
            "reason": status.reason,
            "calls": status.calls,
            "failures": status.failures,
            "last_error": status.last_error,
            "set_aside": status.set_aside,
        }
        record.step("shutdown", manager.shutdown)
    return result


def _turn(
    manager: MemoryManager, record: Record, number: int, turn: tuple[str, str, str, str], session: str, messages: Any
) -> None:
    _, user, assistant, _ = turn
    record.step(f"turn {number} start", lambda: manager.on_turn_start(number, user))
    record.step(f"turn {number} recall", lambda: manager.prefetch(user, session_id=session))
    messages += [{"role": "user", "content": user}, {"role": "assistant", "content": assistant}]
    record.step(
        f"turn {number} sync", lambda: manager.sync_turn(user, assistant, session_id=session, messages=messages)
    )
    record.step(f"turn {number} queue", lambda: manager.queue_prefetch(user, session_id=session))


def _recalled(manager: MemoryManager, record: Record, session: str) -> dict[str, bool]:
    """In which languages what was said is recalled: by prefetch, now or in the turn after one that was queued."""
    recalled = dict.fromkeys(FACTS, False)
    for number, (language, _, _, question) in enumerate(TURNS, 1):
        for attempt in ("first", "second"):
            text = record.step(f"recall {number} {attempt}", lambda q=question: manager.prefetch(q, session_id=session))
            recalled[language] |= any(fact in (text or "") for fact in FACTS[language])
            record.step(f"queue {number} {attempt}", lambda q=question: manager.queue_prefetch(q, session_id=session))
            record.step(f"flush {number} {attempt}", lambda: manager.flush(FLUSH_S))
    record.step("recall line", manager.describe_recall)
    return recalled


def _around(manager: MemoryManager, record: Record, session: str, messages: list[dict[str, Any]]) -> None:
    """Everything that happens beside turns."""
    origin = {"write_origin": "assistant_tool", "session_id": session}
    record.step("write add", lambda: manager.on_memory_write("add", "user", "likes oolong 乌龙茶", origin))
    replaced = origin | {"old_text": "oolong", "previous_content": "likes oolong 乌龙茶"}
    record.step("write replace", lambda: manager.on_memory_write("replace", "user", "likes tea", replaced))
    record.step("write remove", lambda: manager.on_memory_write("remove", "user", "", origin | {"old_text": "tea"}))
    record.step("pre_compress", lambda: manager.on_pre_compress(messages))
    record.step(
        "pre_compress strict",
        lambda: manager.on_pre_compress(messages, require_checkpoint=True),
        allowed=(Exception,),  # to refuse is what strictness means
    )
    record.step("delegation", lambda: manager.on_delegation("clean", "done 完成", child_session_id="child"))
    switch = manager.on_session_switch
    record.step("switch in place", lambda: switch(session, parent_session_id=session, reason="compression"))
    record.step("switch new", lambda: switch("s-new", parent_session_id=session, reset=True, reason="new_session"))
    record.step("switch back", lambda: switch(session, reason="resume"))
    record.step("rewind", lambda: switch(session, rewound=True, reason="rewind"))


def main() -> None:
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    offline = Offline()
    record = Record()
    result = converse(sys.argv[1], Path(os.environ["HERMES_HOME"]), record)
    result |= {"steps": record.steps, "broken": record.broken, "tried_network": sorted(set(offline.tried))}
    json.dump(result, sys.stdout, ensure_ascii=False, default=str)
    sys.stdout.flush()
    os._exit(0)  # a plug-in's threads must not keep the trial running


if __name__ == "__main__":
    main()
