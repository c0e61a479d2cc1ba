"""A Hermes `state.db` as far as a backup looks at it, made here, so that tests need no peer."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_TABLES = """
CREATE TABLE schema_version (version INTEGER NOT NULL);
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, title TEXT, cwd TEXT, started_at REAL);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT,
    content TEXT, tool_name TEXT, tool_calls TEXT, timestamp REAL);
CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT);
CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;
CREATE VIEW recent AS SELECT id FROM sessions;
INSERT INTO schema_version VALUES (22);
"""
_TEXT = "COALESCE({0}content, '') || ' ' || COALESCE({0}tool_name, '') || ' ' || COALESCE({0}tool_calls, '')"
_INDEX = """
CREATE VIRTUAL TABLE {name} USING fts5(content{options});
CREATE TRIGGER {name}_insert AFTER INSERT ON messages BEGIN
    INSERT INTO {name}(rowid, content) VALUES (new.id, {new});
END;
CREATE TRIGGER {name}_delete AFTER DELETE ON messages BEGIN
    DELETE FROM {name} WHERE rowid = old.id;
END;
CREATE TRIGGER {name}_update AFTER UPDATE ON messages BEGIN
    DELETE FROM {name} WHERE rowid = old.id;
    INSERT INTO {name}(rowid, content) VALUES (new.id, {new});
END;
"""
INDEXES = ("messages_fts", "messages_fts_trigram")


def make(path: Path, *, messages: int = 20) -> None:
    """Make a state.db in WAL mode with some sessions; session rowids have gaps, as after deletions."""
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript(_TABLES)
        for name, options in zip(INDEXES, ("", ", tokenize='trigram'"), strict=True):
            db.executescript(_INDEX.format(name=name, options=options, new=_TEXT.format("new.")))
        for number in range(6):
            db.execute(
                "INSERT INTO sessions VALUES (?, 'cli', ?, '/home/ann/.hermes/work', 1.5)", (f"s{number}", f"t{number}")
            )
        db.execute("DELETE FROM sessions WHERE id IN ('s0', 's3')")
        add(db, messages)
    db.close()


def add(db: sqlite3.Connection, count: int, word: str = "redis") -> None:
    """Append messages."""
    rows = [("s1", "user", f"upgrade {word} to 7.{number} 升级数据库") for number in range(count)]
    db.executemany("INSERT INTO messages (session_id, role, content) VALUES (?, ?, ?)", rows)


def answers(path: Path, expression: str, index: str = "messages_fts") -> list[tuple[int, float]]:
    """What a search finds: message ids with their ranks."""
    db = sqlite3.connect(path)
    try:
        query = f"SELECT rowid, rank FROM {index} WHERE {index} MATCH ? ORDER BY rank, rowid"
        return db.execute(query, (expression,)).fetchall()
    finally:
        db.close()


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every ordinary table, with its implicit key."""
    db = sqlite3.connect(path)
    try:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = [name for name in names if not name.startswith("messages_fts")]
        return {name: db.execute(f'SELECT rowid, * FROM "{name}" ORDER BY rowid').fetchall() for name in kept}
    finally:
        db.close()
