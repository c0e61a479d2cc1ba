"""The JSON that `pack`, `unpack` and merges promise, and the events of long work."""

from __future__ import annotations

from typing import Any

Shape = dict[str, Any]

EVENT: Shape = {
    "event": "text",
    "task": "text",
    "what": "text",
    "done": "integer",
    "total": "integer",
    "bytes_per_s": "integer",
    "elapsed_s": "number",
}
DIFFERENCE: Shape = {"path": "text", "what": "text"}
PACK: Shape = {
    "path": "text",
    "pack_id": "text",
    "bytes": "integer",
    "members": "integer",
    "digest": "text",
    "duration_s": "number",
    "partial": "true or false",
    "omitted": [{"name": "text", "reason": "text"}],
    "incomplete": [{"name": "text", "reason": "text"}],
    "parts": "any",
    "secrets": {"policy": "text", "left_out": ["text"], "redacted": {"<path>": ["text"]}, "replaced": "integer"},
}
# Of `unpack` and of `restore --merge`.
JOINED: Shape = {
    "home": "text",
    "archive": "text",
    "dry_run": "true or false",
    "sessions_added": "integer",
    "sessions_extended": ["text"],
    "sessions_beside": [["text"]],
    "messages_added": "integer",
    "memories_added": "integer",
    "files_added": ["text"],
    "equal": "integer",
    "differences": [DIFFERENCE],
    "retitled": [["text"]],
    "notices": ["text"],
}
