"""What the tests of search share beside fixtures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hermes_state import SessionDB


class Say(Protocol):
    """Put messages of the user into a new session; the session's id."""

    def __call__(self, *texts: Any, source: str = "cli", role: str = "user", **session: Any) -> str: ...


def texts(db: SessionDB, query: str, **arguments: Any) -> list[Any]:
    """The contents of the messages that a query finds, in order."""
    return [db.messages.get(hit.message_id).content for hit in db.search.messages(query, **arguments)]
