"""Hermes homes made with plain SQL, in the shape of each schema version the importer must read."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SESSION_COLUMNS = {
    16: """id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT, system_prompt TEXT,
        parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
        message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,
        output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0,
        reasoning_tokens INTEGER DEFAULT 0, cwd TEXT, billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT,
        estimated_cost_usd REAL, actual_cost_usd REAL, cost_status TEXT, cost_source TEXT, pricing_version TEXT,
        title TEXT, api_call_count INTEGER DEFAULT 0, handoff_state TEXT, handoff_platform TEXT, handoff_error TEXT,
        rewind_count INTEGER NOT NULL DEFAULT 0, archived INTEGER NOT NULL DEFAULT 0""",
    18: """session_key TEXT, chat_id TEXT, chat_type TEXT, thread_id TEXT, display_name TEXT, origin_json TEXT,
        expiry_finalized INTEGER DEFAULT 0""",
    22: """git_branch TEXT, git_repo_root TEXT, compression_failure_cooldown_until REAL,
        compression_failure_error TEXT, compression_fallback_streak INTEGER NOT NULL DEFAULT 0, profile_name TEXT""",
    25: "system_prompt_hash TEXT",
    30: """created_source TEXT, git_metadata_generation INTEGER NOT NULL DEFAULT 0, title_source TEXT,
        last_activity_at REAL, pinned INTEGER NOT NULL DEFAULT 0, hidden INTEGER NOT NULL DEFAULT 0, tool_names TEXT""",
    99: "mood TEXT, aura BLOB",
}
MESSAGE_COLUMNS = {
    16: """id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT,
        tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL, token_count INTEGER, finish_reason TEXT,
        reasoning TEXT, reasoning_content TEXT, reasoning_details TEXT, codex_reasoning_items TEXT,
        codex_message_items TEXT, platform_message_id TEXT, observed INTEGER DEFAULT 0, active INTEGER DEFAULT 1""",
    20: "compacted INTEGER NOT NULL DEFAULT 0",
    22: "effect_disposition TEXT, api_content TEXT",
    30: """_compressed_summary INTEGER NOT NULL DEFAULT 0, display_kind TEXT, display_metadata TEXT,
        display_identity BLOB, display_order INTEGER""",
    99: "sparkle TEXT DEFAULT 'none'",
}
USAGE = """CREATE TABLE session_model_usage (session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    model TEXT NOT NULL, billing_provider TEXT NOT NULL DEFAULT '', billing_base_url TEXT NOT NULL DEFAULT '',
    billing_mode TEXT NOT NULL DEFAULT '', {task}api_call_count INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens INTEGER NOT NULL DEFAULT 0, cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    reasoning_tokens INTEGER NOT NULL DEFAULT 0, estimated_cost_usd REAL NOT NULL DEFAULT 0,
    actual_cost_usd REAL NOT NULL DEFAULT 0, cost_status TEXT, cost_source TEXT, first_seen REAL, last_seen REAL)"""
VERSIONS = (16, 18, 20, 22, 25, 30, 99)
START = 1_760_000_000.0


class Home:
    """A Hermes home that a test fills. The writing connection stays open, as a running agent's does."""

    def __init__(self, folder: Path, *, version: int = 22, wal: bool = True) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.version = version
        self.path = folder / "state.db"
        self.sql = sqlite3.connect(self.path, isolation_level=None)
        if wal:
            self.sql.execute("PRAGMA journal_mode=WAL")
        self._make_tables()

    def _make_tables(self) -> None:
        version = self.version
        for table, columns in (("sessions", SESSION_COLUMNS), ("messages", MESSAGE_COLUMNS)):
            wanted = ", ".join(text for since, text in columns.items() if since <= version)
            self.sql.execute(f"CREATE TABLE {table} ({wanted})")
        self.sql.execute("CREATE TABLE schema_version (version INTEGER NOT NULL)")
        self.sql.execute("INSERT INTO schema_version VALUES (?)", (version,))
        self.sql.execute("CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT)")
        self.sql.execute("CREATE INDEX idx_messages_session_active ON messages(session_id, active, timestamp)")
        if version >= 18:
            self.sql.execute(
                "CREATE TABLE gateway_routing (scope TEXT NOT NULL DEFAULT '', session_key TEXT NOT NULL,"
                " entry_json TEXT NOT NULL, updated_at REAL NOT NULL, PRIMARY KEY (scope, session_key))"
            )
        if version >= 20:
            task = "task TEXT NOT NULL DEFAULT '', " if version >= 22 else ""
            self.sql.execute(USAGE.format(task=task))
        if version >= 25:
            self.sql.execute("CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, prompt TEXT NOT NULL)")
        if version >= 99:
            self.sql.execute("CREATE TABLE dreams (id INTEGER PRIMARY KEY, text TEXT)")
            self.sql.execute("INSERT INTO dreams (text) VALUES ('of electric sheep')")

    def insert(self, table: str, **values: Any) -> int:
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        done = self.sql.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))
        return int(done.lastrowid or 0)

    def session(self, session_id: str, **values: Any) -> str:
        config = values.pop("model_config", None)
        if config is not None:
            values["model_config"] = config if isinstance(config, str) else json.dumps(config)
        self.insert("sessions", **({"id": session_id, "source": "cli", "started_at": START} | values))
        return session_id

    def message(self, session_id: str, content: Any = "hello", role: str = "user", **values: Any) -> int:
        self._clock = getattr(self, "_clock", START) + 1
        row = {"session_id": session_id, "role": role, "content": content, "timestamp": self._clock}
        return self.insert("messages", **(row | values))

    def talk(self, session_id: str, *texts: str) -> list[int]:
        return [self.message(session_id, text, "user" if n % 2 == 0 else "assistant") for n, text in enumerate(texts)]

    def update(self, table: str, row_id: Any, **values: Any) -> None:
        sets = ", ".join(f"{name} = ?" for name in values)
        self.sql.execute(f"UPDATE {table} SET {sets} WHERE id = ?", (*values.values(), row_id))

    def delete(self, table: str, *ids: Any) -> None:
        self.sql.executemany(f"DELETE FROM {table} WHERE id = ?", [(i,) for i in ids])

    def close(self) -> None:
        self.sql.close()


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file of a folder with size and time: equal as long as nobody wrote."""
    return {p.name: (p.stat().st_size, p.stat().st_mtime_ns) for p in sorted(folder.iterdir())}
