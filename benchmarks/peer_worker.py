"""The peer's store as a benchmark worker: run by the peer's own interpreter, with ``-I``.

``-I`` keeps our package and the current directory out of ``sys.path``, so ``hermes_state`` is the
module the peer installs. Nothing of the peer is changed except what a request asks for and the
report states.

    /path/to/peer/bin/python -I benchmarks/peer_worker.py SEED      # then requests on stdin
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.operations import MS, Operations
from harness.serving import serve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpus import Message, Session

#: The peer refuses larger payloads in one import call.
IMPORT_SESSIONS, IMPORT_BYTES = 400, 20 * 1024 * 1024


class PeerStore:
    """The peer's ``SessionDB`` behind the benchmark's calls."""

    sqlite_version = sqlite3.sqlite_version

    def __init__(self) -> None:
        import hermes_state  # after HERMES_HOME is set: the peer reads it at import

        if not Path(hermes_state.__file__).is_relative_to(sys.prefix):
            raise RuntimeError(f"not the peer's module: {hermes_state.__file__}")
        self._store_class = hermes_state.SessionDB
        self.db: Any = None

    def open(self, path: str, synchronous: str) -> None:
        """Open; the peer has no setting for ``synchronous``, so it is set on its connection."""
        self.db = self._store_class(Path(path))
        self.db._conn.execute(f"PRAGMA synchronous={synchronous}")  # noqa: SLF001 - it offers no other way

    def close(self) -> None:
        """Close with its own final checkpoint."""
        self.db.close()

    def create(self, session: Session) -> str:
        """Create and title a session."""
        self.db.create_session(session.id, session.source)
        self.db.set_session_title(session.id, session.title)
        return session.id

    def append(self, session_id: str, message: Message) -> None:
        """Its one way to append: one message, one transaction."""
        self.db.append_message(
            session_id,
            message.role,
            message.content,
            tool_name=message.tool_name,
            tool_calls=message.calls_json(),
            tool_call_id=message.tool_call_id,
        )

    def append_turn(self, session_id: str, messages: Sequence[Message]) -> None:
        """It has no batch: a turn is one append after the other. A long session goes in by replacement."""
        if len(messages) > 1_000:
            self.db.replace_messages(session_id, [_as_json(message) for message in messages])
            return
        for message in messages:
            self.append(session_id, message)

    def bulk(self, sessions: Iterator[Session]) -> int:
        """``import_sessions``, the import behind its dashboard, in batches it accepts."""
        batch: list[dict[str, Any]] = []
        size = messages = 0
        for session in sessions:
            batch.append(
                {
                    "id": session.id,
                    "source": session.source,
                    "title": session.title,
                    "messages": [_as_json(message) for message in session.messages],
                }
            )
            messages += len(session.messages)
            size += sum(message.text_bytes() for message in session.messages)
            if len(batch) >= IMPORT_SESSIONS or size > IMPORT_BYTES:
                self._import(batch)
                batch, size = [], 0
        self._import(batch)
        return messages

    def _import(self, batch: list[dict[str, Any]]) -> None:
        if batch:
            result = self.db.import_sessions(batch)
            if not result.get("ok", True) or result.get("errors"):
                raise RuntimeError(f"the peer refused an import: {str(result)[:500]}")

    def settle(self) -> None:
        """Its index is written with every message: nothing to wait for."""

    def search(self, query: str, *, newest: bool) -> int:
        """Search with its defaults."""
        return len(self.db.search_messages(query, limit=20, sort="newest" if newest else None))

    def recent(self) -> int:
        """Its list by last activity."""
        return len(self.db.list_sessions_rich(limit=20, order_by_last_active=True))

    def read(self, session_id: str) -> int:
        """Session row and messages."""
        self.db.get_session(session_id)
        return len(self.db.get_messages(session_id))

    def resume(self, session_id: str) -> int:
        """Resolve the tip and load both views of the conversation."""
        tip = self.db.resolve_resume_session_id(session_id)
        return len(self.db.get_resume_conversations(tip)[0])

    def message_ids(self, session_id: str) -> list[int]:
        """Ids in order."""
        return [row["id"] for row in self.db.get_messages(session_id)]

    def window(self, session_id: str, anchor: int) -> int:
        """Five messages on each side."""
        return len(self.db.get_messages_around(session_id, anchor, window=5)["window"])

    def rebuild(self) -> None:
        """Rebuild both of its indexes."""
        self.db.rebuild_fts()


class PeerOperations(Operations):
    """The common calls and the one that builds a store to be kept in the cache."""

    adapter: PeerStore

    def build(self, path: str, messages: int) -> dict[str, float]:
        """Build a store one ``append_message`` after the other with ``synchronous=NORMAL``, all else as it comes."""
        self.adapter.open(path, "NORMAL")
        samples = self.append(0, messages)
        own = sorted(samples["own"])
        peak = self.memory()["peak_mb"]
        self.adapter.close()
        return {
            "seconds": sum(own) / MS,
            "cpu_s": sum(samples["cpu"]) / MS,
            "worst_ms": own[-1],
            "over_100_ms": sum(value > 100 for value in own),
            "stalled_s": sum(value for value in own if value > 500) / MS,
            "p50_ms": own[len(own) // 2],
            "peak_mb": peak,
        }


def _as_json(message: Message) -> dict[str, Any]:
    return {
        "role": message.role,
        "content": message.content,
        "tool_calls": message.calls_json(),
        "tool_call_id": message.tool_call_id,
        "tool_name": message.tool_name,
    }


def main() -> None:
    """Serve requests with a home of its own, deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="peer-home-") as home:
        os.environ["HERMES_HOME"] = home
        serve(PeerOperations(PeerStore(), int(sys.argv[1])))


if __name__ == "__main__":
    main()
