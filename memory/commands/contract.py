"""The JSON that `memory …` and `chat` promise, in the words of `hermes_state.commands.contract`."""

from __future__ import annotations

from typing import Any

Shape = dict[str, Any]

ENTRY: Shape = {
    "id": "text",
    "target": "text",
    "status": "text",
    "text": "text",
    "chars": "integer",
    "tags": ["text"],
    "created_at": "time or null",
    "changed_at": "time or null",
    "replaced_by": "text or null",
}
USAGE: Shape = {"used": "integer", "limit": "integer", "percent": "integer"}
OUTCOME: Shape = {
    "changed": "true or false",
    "batch": "text or null",
    "changes": [
        {"action": "text", "target": "text", "id": "text", "before": "text or null", "after": "text or null"},
    ],
    "notes": ["text"],
    "warnings": ["text"],
    "usage": {"<target>": USAGE},
    "degraded": "text or null",
}
EVENT: Shape = {
    "id": "text",
    "target": "text",
    "action": "text",
    "at": "time",
    "before": "text or null",
    "after": "text or null",
    "batch": "text",
    "undoes": "text or null",
    "origin": {"<name>": "any"},
}
PROPOSAL: Shape = {
    "id": "text",
    "requested_at": "time",
    "operations": "any",
    "origin": {"<name>": "any"},
    "file": "text or null",
    "problem": "text or null",
}
PROVIDER: Shape = {
    "name": "text",
    "state": "text",
    "source": "text",
    "origin": "text",
    "version": "text",
    "description": "text",
    "reason": "text",
    "hint": "text",
    "used": "true or false",
}
STATUS: Shape = {
    "name": "text",
    "works": "true or false",
    "state": "text",
    "reason": "text",
    "tools": ["text"],
    "waiting": "integer",
    "set_aside": "integer",
    "oldest_at": "time or null",
    "failures_in_row": "integer",
    "last_error": "text",
    "last_error_at": "time or null",
    "last_success_at": "time or null",
    "latency_ms": {"<hook>": ["number"]},
}
# Times of facts are as Hermes's tools give them: `2026-01-31 10:15:00`, UTC.
FACT: Shape = {
    "fact_id": "integer",
    "content": "text",
    "category": "text",
    "tags": "text",
    "trust_score": "number",
    "retrieval_count": "integer",
    "helpful_count": "integer",
    "created_at": "text",
    "updated_at": "text",
}
FOUND_FACTS: Shape = {"results": [FACT | {"fts_rank": "number", "score": "number"}], "count": "integer"}
SHAPES: dict[str, Shape] = {
    "chat --query TEXT": {
        "answer": "text",
        "session_id": "text",
        "message_id": "integer or null",
        "recalled": "text",
        "saved": ["text"],
        "tools": ["text"],
    },
    "memory list": {"entries": [ENTRY], "usage": {"<target>": USAGE | {"problems": ["text"]}}},
    "memory add": OUTCOME,
    "memory replace": OUTCOME,
    "memory remove": OUTCOME,
    "memory remove --forget": {"forgotten": ENTRY},
    "memory search": {"query": "text", "hits": [ENTRY | {"snippet": "text", "score": "number"}]},
    "memory history": {"events": [EVENT]},
    "memory undo": OUTCOME,
    "memory approve": {"pending": [PROPOSAL]},
    "memory approve --all": {"approved": [{"id": "text"} | OUTCOME], "failed": ["text"]},
    "memory approve --all --reject": {"rejected": [{"id": "text"}], "failed": ["text"]},
    "memory providers": {"providers": [PROVIDER]},
    "memory use": {"providers": ["text"], "revived": "integer"},
    "memory setup": {"provider": "text", "values": {"<key>": "any"}, "secrets": ["text"], "used": "true or false"},
    "memory status": {"works": "true or false", "providers": [STATUS], "warnings": ["text"]},
    "memory check": {
        "provider": "text",
        "conformant": "true or false",
        "findings": [
            {"rule": "text", "check": "text", "found": "text", "breaks": "text", "fix": "text", "severity": "text"},
        ],
        "passed": ["text"],
        "skipped": {"<check>": "text"},
    },
    "memory facts stats": {
        "store": "text",
        "facts": "integer",
        "superseded": "integer",
        "entities": "integer",
        "links": "integer",
        "trust": [{"from": "number", "to": "number", "facts": "integer"}],
        "retrieved": "integer",
        "helpful": "integer",
        "categories": [{"name": "text", "facts": "integer", "trust": "number"}],
        "topics": [{"name": "text", "facts": "integer"}],
        "banks": [
            {
                "category": "text",
                "banks": "integer",
                "links": "integer",
                "capacity": "integer",
                "fullest": "integer",
                "over": "integer",
            }
        ],
        "doubles": [{"content": "text", "ids": ["integer"]}],
        "dims": {"<phases>": "integer"},
        "rebuild_due": "true or false",
        "contradictions": "integer",
    },
    "memory facts list": {"facts": [FACT], "count": "integer"},
    "memory facts search": FOUND_FACTS,
    "memory facts about": FOUND_FACTS,
    "memory facts contradictions": {
        "contradictions": [
            {
                "fact_a": FACT,
                "fact_b": FACT,
                "newer": "integer",
                "kind": "text",
                "reason": "text",
                "entity_overlap": "number",
                "content_similarity": "number",
                "contradiction_score": "number",
                "shared_entities": ["text"],
            }
        ],
        "count": "integer",
    },
    "memory facts add": {"facts": [{"fact_id": "integer", "new": "true or false"}]},
    "memory facts import": {
        "import": {
            "origin": "text",
            "found": "integer",
            "added": "integer",
            "changed": "integer",
            "known": "integer",
            "skipped": "integer",
            "duration_s": "number",
        }
    },
    "memory facts rebuild": {"facts": "integer", "dim": "integer"},
}
