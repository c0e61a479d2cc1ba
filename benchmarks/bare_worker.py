"""The floor: message rows in a bare SQLite table, one commit each, no index but the primary key.

What a store can't beat without losing durability. It uses the same SQLite library as our store and
the same ``synchronous``; nothing is searchable.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

from harness.operations import Operations
from harness.serving import serve

try:
    import pysqlite3 as sqlite3
except ImportError:
    import sqlite3

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpus import Message, Session

_TABLE = """
CREATE TABLE IF NOT EXISTS messages (
  id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT,
  tool_calls TEXT, tool_call_id TEXT, tool_name TEXT, created_at REAL NOT NULL)
"""
_INSERT = """
INSERT INTO messages (session_id, role, content, tool_calls, tool_call_id, tool_name, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""


class BareStore:
    """Rows in one table."""

    sqlite_version: str = sqlite3.sqlite_version

    def __init__(self) -> None:
        self.connection: Any = None

    def open(self, path: str, synchronous: str) -> None:
        """Open in WAL mode with SQLite's defaults for everything else."""
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute(f"PRAGMA synchronous={synchronous}")
        self.connection.execute(_TABLE)

    def close(self) -> None:
        """Close; SQLite checkpoints."""
        self.connection.close()

    def create(self, session: Session) -> str:
        """There are no session rows."""
        return session.id

    def append(self, session_id: str, message: Message) -> None:
        """One row, one commit."""
        self.append_turn(session_id, (message,))

    def append_turn(self, session_id: str, messages: Sequence[Message]) -> None:
        """Rows in one transaction."""
        self.connection.execute("BEGIN IMMEDIATE")
        for message in messages:
            calls = json.dumps(message.calls_json()) if message.tool_calls else None
            row = (session_id, message.role, message.content, calls, message.tool_call_id, message.tool_name)
            self.connection.execute(_INSERT, (*row, time.time()))
        self.connection.execute("COMMIT")

    def bulk(self, sessions: Iterator[Session]) -> int:
        """A transaction per session."""
        count = 0
        for session in sessions:
            self.append_turn(session.id, session.messages)
            count += len(session.messages)
        return count

    def settle(self) -> None:
        """Nothing runs in the background."""


if __name__ == "__main__":
    serve(Operations(BareStore(), int(sys.argv[1])))  # type: ignore[arg-type]  # it can't search, and is not asked to
