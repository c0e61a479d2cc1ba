"""A store opened to redact keeps no secret, on no path into it, and changes nothing that the caller holds."""

from __future__ import annotations

import copy
import io
import json
from typing import TYPE_CHECKING, Any

from hermes_state.aio import AsyncSessionDB
from hermes_state.store import SessionDB
from hermes_state.transfer import dump

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "sk-test-ABCDEF0123456789abcdef"
PLACEHOLDER = "[redacted:openai-key:150e54bf]"
MESSAGE: dict[str, Any] = {
    "role": "assistant",
    "content": [{"type": "text", "text": f"my key is {SECRET} for the zebra"}],
    "tool_calls": [{"id": "c", "function": {"name": "curl", "arguments": json.dumps({"key": SECRET})}}],
    "reasoning": f"they gave me {SECRET}",
    "reasoning_details": [{"text": SECRET}],
    "api_content": SECRET,
    "extras": {"note": SECRET},
    "unknown": {"deep": [SECRET]},
}


def files_with(folder: Path, text: str) -> list[str]:
    return [file.name for file in folder.iterdir() if file.is_file() and text.encode() in file.read_bytes()]


def test_b167_no_secret_reaches_the_disk(tmp_path: Path) -> None:
    given = copy.deepcopy(MESSAGE)
    with SessionDB.open(tmp_path / "store.db", redact=True) as db:
        session = db.sessions.create(source="cli", title=f"use {SECRET}", system_prompt=SECRET, extras={"k": SECRET})
        known = {name: value for name, value in given.items() if name != "unknown"}
        one = db.messages.append(session.id, **known)
        db.messages.append_many(session.id, [given])
        db.messages.compact(session.id, [given], keep_last=1)
        db.messages.replace(session.id, [given, given])
        child = db.lineage.rotate(session.id, [given]).child
        branch = db.lineage.branch(child.id, title=f"branch {SECRET}")
        db.sessions.rename(branch.id, f"renamed {SECRET}")
        db.sessions.update(branch.id, model_config={"api_key": SECRET}, system_prompt=f"use {SECRET}")
        db.sessions.auto_title(db.sessions.create(source="cli").id, f"auto {SECRET}")
        assert given == MESSAGE
        assert one.content == [{"type": "text", "text": f"my key is {PLACEHOLDER} for the zebra"}]
        assert db.sessions.get(session.id).extras == {"k": PLACEHOLDER}
        (hit,) = db.search.messages("zebra", limit=1)
        assert SECRET not in hit.snippet
        assert db.search.messages("sk-test-ABCDEF0123456789abcdef") == []
        out = io.StringIO()
        dump(db.engine, out)
        assert SECRET not in out.getvalue()
        assert files_with(tmp_path, SECRET) == []
    assert files_with(tmp_path, SECRET) == []


def test_without_redact_everything_is_kept(tmp_path: Path) -> None:
    with SessionDB.open(tmp_path / "store.db") as db:
        session = db.sessions.create(source="cli")
        db.messages.append(session.id, role="user", content=f"my key is {SECRET}")
        assert db.messages.list(session.id)[0].content == f"my key is {SECRET}"
        out = io.StringIO()
        dump(db.engine, out, redact=True)
        assert SECRET not in out.getvalue()


async def _append(path: Path) -> Any:
    async with await AsyncSessionDB.open(path, redact=True) as db:
        session = await db.sessions.create(source="cli")
        return await db.messages.append(session.id, role="user", content=SECRET)


def test_the_async_edge_redacts_too(tmp_path: Path) -> None:
    import asyncio

    assert asyncio.run(_append(tmp_path / "store.db")).content == PLACEHOLDER
