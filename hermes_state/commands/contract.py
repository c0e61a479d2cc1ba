"""The JSON that the command line promises, as `docs/cli.md` shows it and the tests hold it.

A shape has the keys of the real thing and words for its values: `text`, `integer`, `number`, `time` (ISO 8601, UTC),
`true or false`, `any`; `… or null` where there may be none. A list has the shape of its items. A key `<…>` stands for
any keys. A word with a capital names one of `RECORDS`.
"""

from __future__ import annotations

from typing import Any

Shape = dict[str, Any]

SESSION: Shape = {
    "id": "text",
    "title": "text or null",
    "source": "text",
    "model": "text or null",
    "started_at": "time",
    "last_active_at": "time",
    "message_count": "integer",
    "parent_id": "text or null",
    "relation": "text or null",
    "archived": "true or false",
    "preview": "text or null",
    "conversation_id": "text",
    "delegated": "true or false",
    "ended_at": "time or null",
    "end_reason": "text or null",
    "tool_call_count": "integer",
    "rewind_count": "integer",
    "model_config": "any",
    "user_id": "text or null",
    "chat_id": "text or null",
    "chat_type": "text or null",
    "thread_id": "text or null",
    "display_name": "text or null",
    "origin": "any",
    "cwd": "text or null",
    "git_branch": "text or null",
    "git_root": "text or null",
    "profile": "text or null",
    "tags": ["text"],
    "extras": "any",
}
CONTEXT: Shape = {
    "message_id": "integer",
    "role": "text",
    "text": "text",
    "created_at": "time",
    "is_hit": "true or false",
    "is_cut": "true or false",
}
MESSAGE_HIT: Shape = {
    "message_id": "integer",
    "session_id": "text",
    "conversation_id": "text",
    "role": "text",
    "snippet": "text",
    "score": "number",
    "created_at": "time",
    "source": "text",
    "title": "text or null",
    "context": ["Context"],
    "position": "integer",
    "tool_name": "text or null",
    "model": "text or null",
    "parent_id": "text or null",
    "relation": "text or null",
    "is_archived": "true or false",
    "is_compacted": "true or false",
}
CONVERSATION_HIT: Shape = {
    "conversation_id": "text",
    "session_id": "text",
    "title": "text or null",
    "source": "text",
    "score": "number",
    "started_at": "time",
    "last_active_at": "time",
    "hits": ["MessageHit"],
    "hit_count": "integer",
    "snippet": "text",
    "context": ["Context"],
    "model": "text or null",
    "parent_id": "text or null",
    "relation": "text or null",
    "is_archived": "true or false",
    "title_matches": "true or false",
}
IMPORT_REPORT: Shape = {
    "origin": "text",
    "kind": "text",
    "schema_version": "integer or null",
    "sessions_found": "integer",
    "sessions_added": "integer",
    "sessions_changed": "integer",
    "sessions_unchanged": "integer",
    "sessions_deleted_here": "integer",
    "sessions_failed": "integer",
    "sessions_gone": "integer",
    "messages_added": "integer",
    "messages_changed": "integer",
    "messages_gone": "integer",
    "usage_rows": "integer",
    "routes": "integer",
    "handoffs": "integer",
    "settings": "integer",
    "left_out": {"<table>": "integer"},
    "warnings": [{"kind": "text", "where": "text", "what": "text"}],
    "warning_counts": {"<kind>": "integer"},
    "duration_s": "number",
}
PROBLEM: Shape = {"line": "integer", "session_id": "text", "what": "text", "hint": "text"}
DELETION: Shape = {
    "dry_run": "true or false",
    "deleted": ["text"],
    "messages": "integer",
    "kept": {"<session id>": "text"},
    "oldest_at": "time or null",
    "newest_at": "time or null",
}
# Fields of a message that are always there; all others of `hermes_state.Message` only where they say something.
MESSAGE: Shape = {
    "id": "integer",
    "session_id": "text",
    "position": "integer",
    "role": "text",
    "content": "any",
    "created_at": "time",
    "state": "text",
}
FINDING: Shape = {"code": "text", "message": "text", "member": "text"}
MEMBER_STATE: Shape = {"kind": "text", "mode": "integer", "bytes": "integer", "digest": "text"}
VERIFICATION: Shape = {
    "path": "text",
    "verdict": "text",
    "findings": [FINDING],
    "finding_count": "integer",
    "notices": [FINDING],
    "notice_count": "integer",
    "bytes": "integer",
    "encrypted": "true or false",
    "archive_id": "text or null",
    "created_at": "time or null",
    "digest": "text or null",
    "members": "integer",
    "content_bytes": "integer",
    "partial": "true or false or null",
    "foreign": "text or null",
}
RECORDS: dict[str, Shape] = {
    "Session": SESSION,
    "Message": MESSAGE,
    "MemberState": MEMBER_STATE,
    "MessageHit": MESSAGE_HIT,
    "ConversationHit": CONVERSATION_HIT,
    "Context": CONTEXT,
    "ImportReport": IMPORT_REPORT,
}
SIZES: Shape = {"main": "integer", "wal": "integer"}
COPY: Shape = {"path": "text", "bytes": "integer"}
ONE_SESSION: Shape = {"session": "Session"}
SHAPES: dict[str, Shape] = {
    "search": {"query": "text", "hits": ["MessageHit"], "degraded": ["text"], "notes": ["text"]},
    "search --conversations": {
        "query": "text",
        "conversations": ["ConversationHit"],
        "degraded": ["text"],
        "notes": ["text"],
    },
    "sessions list": {"sessions": ["Session"], "total": "integer"},
    "sessions show": {
        "session": "Session",
        "segments": ["text"],
        "anchor_id": "integer or null",
        "before": "integer",
        "messages": ["Message"],
        "after": "integer",
    },
    "sessions resume": ONE_SESSION,
    "sessions rename": ONE_SESSION,
    "sessions tag": ONE_SESSION,
    "sessions untag": ONE_SESSION,
    "sessions archive": {"sessions": ["Session"]},
    "sessions unarchive": {"sessions": ["Session"]},
    "sessions import": {
        "file": "text",
        "sessions_added": "integer",
        "messages_added": "integer",
        "sessions_equal": "integer",
        "conflicts": [PROBLEM],
        "retitled": [["text"]],
        "unlinked": [["text"]],
        "problems": [PROBLEM],
    },
    "sessions delete": DELETION,
    "sessions prune": DELETION,
    "sessions stats": {
        "store": {"path": "text", "bytes": "integer"},
        "conversations": "integer",
        "sessions": "integer",
        "archived": "integer",
        "delegates": "integer",
        "messages": {"active": "integer", "compacted": "integer", "rewound": "integer"},
        "first_at": "time or null",
        "last_at": "time or null",
        "days": [{"date": "text", "messages": "integer", "sessions": "integer"}],
        "sources": [{"source": "text", "messages": "integer", "sessions": "integer"}],
        "models": [{"model": "text or null", "messages": "integer", "sessions": "integer"}],
        "roles": [{"role": "text", "messages": "integer"}],
        "longest": [
            {"id": "text", "title": "text or null", "source": "text", "messages": "integer", "segments": "integer"}
        ],
        "usage": [
            {
                "model": "text",
                "task": "text",
                "api_calls": "integer",
                "input_tokens": "integer",
                "output_tokens": "integer",
                "cache_read_tokens": "integer",
                "cache_write_tokens": "integer",
                "reasoning_tokens": "integer",
                "estimated_cost_usd": "number or null",
                "actual_cost_usd": "number or null",
                "first_at": "time or null",
                "last_at": "time or null",
            }
        ],
    },
    "import hermes": {"imports": ["ImportReport"]},
    "db status": {
        "path": "text",
        "sizes": SIZES,
        "pages": {"size": "integer", "total": "integer", "free": "integer"},
        "schema": "text or null",
        "head": "text",
        "sqlite": "text",
        "sqlite_version": "text",
        "is_wal_safe": "true or false",
        "journal_mode": "text",
        "copies": [COPY],
        "open_elsewhere": ["text"],
        "store_id": "text or null",
        "created_at": "time or null",
        "unfolded": "integer",
        "counts": {"sessions": "integer", "conversations": "integer", "messages": "integer"},
        "index": {
            "is_available": "true or false",
            "is_current": "true or false",
            "is_rebuilding": "true or false",
            "pending": "integer",
            "segmentation": "text or null",
            "bytes": "integer",
        },
    },
    "db check": {
        "sound": "true or false",
        "findings": [{"kind": "text", "where": "text", "what": "text", "remedy": "text"}],
        "counts": {"<kind>": "integer"},
        "checked": {"<what>": "integer"},
        "full": "true or false",
        "interrupted": "true or false",
    },
    "db migrate": {"path": "text", "from": "text or null", "to": "text", "changed": "true or false"},
    "db reindex": {"messages": "integer", "pending": "integer", "duration_s": "number"},
    "db optimize": {"steps": "integer", "longest_lock_s": "number", "is_complete": "true or false"},
    "db vacuum": {"before": SIZES, "after": SIZES, "saved_bytes": "integer"},
    "db purge": {
        "complete": "true or false",
        "before": SIZES,
        "after": SIZES,
        "removed": [COPY],
        "wal_emptied": "true or false",
        "found": {"<word>": ["text"]},
    },
    "doctor": {
        "ok": "true or false",
        "checks": [{"name": "text", "status": "text", "message": "text", "fix": "text"}],
    },
    "verify": VERIFICATION,
    "list": {
        "path": "text",
        "archive_id": "text",
        "members": [
            {
                "name": "text",
                "kind": "text",
                "mode": "integer",
                "bytes": "integer",
                "mtime_ns": "integer",
                "target": "text or null",
            }
        ],
    },
    "show": {"path": "text", "bytes": "integer", "encrypted": "true or false", "manifest": "any"},
    "extract": {"name": "text", "path": "text", "bytes": "integer", "damage": "text or null"},
    "diff": {
        "before": "text",
        "after": "text",
        "changes": [
            {"name": "text", "change": "text", "before": "MemberState or null", "after": "MemberState or null"}
        ],
    },
    "completion": {"shell": "text", "script": "text", "install": "text"},
}
ERROR: Shape = {"error": {"kind": "text", "message": "text", "hint": "text", "retryable": "true or false"}}
