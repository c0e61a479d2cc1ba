"""The JSON of `backup --repo` and of the commands about repositories; see `contract`."""

from __future__ import annotations

from typing import Any

SNAPSHOT: dict[str, Any] = {
    "id": "text",
    "created_at": "time",
    "home": "text",
    "host": "text",
    "user": "text",
    "members": "integer",
    "content_bytes": "integer",
    "added_bytes": "integer",
    "partial": "true or false",
    "digest": "text",
}
REPOSITORY_SHAPES: dict[str, dict[str, Any]] = {
    "backup --repo DIR": {
        "repository": "text",
        "snapshot": "Snapshot",
        "duration_s": "number",
        "chunks": "integer",
        "new_chunks": "integer",
        "new_content_bytes": "integer",
        "added_bytes": "integer",
        "unread_files": "integer",
        "repository_bytes": "integer",
        "is_new": "true or false",
        "damaged": ["text"],
        "omitted": [{"name": "text", "reason": "text"}],
        "incomplete": [{"name": "text", "reason": "text"}],
        "unsound": {"<path>": "text"},
        "left_out": [{"path": "text", "reason": "text", "files": "integer", "bytes": "integer"}],
        "secrets": {
            "policy": "text",
            "left_out": ["text"],
            "redacted": {"<path>": ["text"]},
            "databases": {"<path>": {"<column>": "integer"}},
            "unsearched": ["text"],
        },
    },
    "repo list": {"path": "text", "snapshots": ["Snapshot"], "unreadable": ["text"]},
    "repo show": {
        "path": "text",
        "repository_id": "text",
        "packs": "integer",
        "bytes": "integer",
        "snapshots": "integer",
        "snapshot": "Snapshot",
        "file": "text",
    },
    "repo check": {
        "path": "text",
        "sound": "true or false",
        "findings": [{"code": "text", "message": "text", "member": "text"}],
        "finding_count": "integer",
        "damaged_snapshots": ["text"],
        "snapshots": "integer",
        "packs": "integer",
        "chunks": "integer",
        "bytes": "integer",
        "unneeded_bytes": "integer",
        "read_data": "true or false",
    },
    "repo prune": {
        "path": "text",
        "dry_run": "true or false",
        "forgotten": ["Snapshot"],
        "kept": ["Snapshot"],
        "packs_deleted": ["text"],
        "packs_rewritten": ["text"],
        "freed_bytes": "integer",
        "bytes": "integer",
    },
    "repo forget": {"path": "text", "forgotten": ["text"]},
}
