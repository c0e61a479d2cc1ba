"""What the tests of search share beside fixtures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hermes_state import SessionDB


# Messages, and segments, that `scatter` makes.
SCATTERED = 12


class Say(Protocol):
    """Put messages of the user into a new session; the session's id."""

    def __call__(self, *texts: Any, source: str = "cli", role: str = "user", **session: Any) -> str: ...


def texts(db: SessionDB, query: str, **arguments: Any) -> list[Any]:
    """The contents of the messages that a query finds, in order."""
    return [db.messages.get(hit.message_id).content for hit in db.search.messages(query, **arguments)]


def scatter(db: SessionDB) -> None:
    """Index messages with `theta` and `wordN` so that each is a segment of the index, which SQLite leaves as they are.

    For a new store, whose index nobody tidies meanwhile.
    """
    session = db.sessions.create(source="cli").id
    for n in range(SCATTERED):
        said = " ".join(f"kappa{n}x{k}" for k in range(600))
        db.messages.append(session, role="user", content=f"theta {n} word{n} 桂林 {said}")
        db.index.catch_up(budget_s=60)
        if n == 0:
            with db.engine.write() as connection:  # https://www.sqlite.org/fts5.html#the_usermerge_configuration_option
                connection.exec_driver_sql("INSERT INTO message_index (message_index, rank) VALUES ('usermerge', 16)")
