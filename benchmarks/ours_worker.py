"""Our store as a benchmark worker: the public interface only, with its defaults but for ``synchronous``.

python benchmarks/ours_worker.py SEED      # then requests on stdin
"""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING, Any

from harness.operations import Operations
from harness.serving import serve

from hermes_state import SessionDB
from hermes_state.engine.driver import newest_driver

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpus import Message, Session

#: Sessions of one transaction of a bulk import: 2,500 messages, a tenth of a second.
BULK_SESSIONS = 64


class OurStore:
    """``SessionDB`` behind the benchmark's calls."""

    sqlite_version = newest_driver().module.sqlite_version

    def __init__(self) -> None:
        self.db: Any = None

    def open(self, path: str, synchronous: str) -> None:
        """Open or create."""
        self.db = SessionDB.open(path, synchronous=synchronous)

    def close(self) -> None:
        """Close."""
        self.db.close()

    def create(self, session: Session) -> str:
        """Create a titled session."""
        return str(self.db.sessions.create(session.id, source=session.source, title=session.title).id)

    def append(self, session_id: str, message: Message) -> None:
        """One message, one transaction."""
        self.db.messages.append(session_id, **_fields(message))

    def append_turn(self, session_id: str, messages: Sequence[Message]) -> None:
        """All in one transaction."""
        self.db.messages.append_many(session_id, [_fields(message) for message in messages])

    def bulk(self, sessions: Iterator[Session]) -> int:
        """A transaction for some sessions at a time."""
        count = 0
        while some := list(islice(sessions, BULK_SESSIONS)):
            with self.db.transaction():
                for session in some:
                    rows = [_fields(one) for one in session.messages]
                    count += len(self.db.messages.append_many(self.create(session), rows))
        return count

    def settle(self) -> None:
        """Bring the index up to date, which the first search would do otherwise."""
        self.db.search.index.catch_up()

    def search(self, query: str, *, newest: bool) -> int:
        """Search with the defaults, and read what a program would show of each hit."""
        order = {"sort": "newest"} if newest else {}
        hits = self.db.search.messages(query, limit=20, **order)
        shown = [(hit.snippet, hit.created_at, [(one.role, one.text) for one in hit.context]) for hit in hits]
        return len(shown)

    def recent(self) -> int:
        """The list and the preview of each row, which the peer's list holds too."""
        listed = self.db.sessions.list(limit=20)
        self.db.sessions.previews([session.id for session in listed])
        return len(listed)

    def read(self, session_id: str) -> int:
        """Session and messages."""
        self.db.sessions.get(session_id)
        return len(self.db.messages.list(session_id))

    def resume(self, session_id: str) -> int:
        """The tip and what the model is sent."""
        return len(self.db.messages.replay(self.db.sessions.resume(session_id).id))

    def message_ids(self, session_id: str) -> list[int]:
        """Ids in order."""
        return [message.id for message in self.db.messages.list(session_id)]

    def window(self, session_id: str, anchor: int) -> int:
        """Five messages on each side."""
        return len(self.db.messages.window(session_id, anchor, before=5, after=5).messages)

    def rebuild(self) -> None:
        """Rebuild the index from the messages."""
        self.db.search.rebuild()


def _fields(message: Message) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        fields["tool_calls"] = message.calls_json()
    if message.tool_call_id is not None:
        fields |= {"tool_call_id": message.tool_call_id, "tool_name": message.tool_name}
    return fields


if __name__ == "__main__":
    serve(Operations(OurStore(), int(sys.argv[1])))
