"""The JSON that `copy`, `db digest` and `db diff` promise."""

from __future__ import annotations

from typing import Any

Shape = dict[str, Any]

PART: Shape = {"items": "integer", "digest": "text"}
DIGEST: Shape = {"digest": "text", "sessions": PART, "messages": "integer", "memories": PART, "facts": PART}
DIFFERENCE: Shape = {
    "kind": "text",
    "name": "text",
    "change": "text",
    "position": "integer or null",
    "fields": ["text"],
}
COPYING_SHAPES: dict[str, Shape] = {
    "copy": {
        "source": "text",
        "target": "text",
        "merged": "true or false",
        "resumed": "true or false",
        "whole": "true or false",
        "equal": "true or false",
        "counts": {"<table>": {"source": "integer", "target": "integer", "added": "integer"}},
        "conflicts": [{"where": "text", "what": "text"}],
        "conflict_count": "integer",
        "beside": [["text"]],
        "source_digest": DIGEST,
        "target_digest": DIGEST,
        "seconds": "number",
    },
    "db digest": {**DIGEST, "read": "integer", "not_kept": "text or null"},
    "db diff": {"differences": [DIFFERENCE]},
}
