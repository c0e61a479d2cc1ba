"""Appends to SQLite, with what a process knows of where its sessions end.

Finding the next id and position, and being told them, is a sixth of what an append costs. A process that appends alone
knows them from its last append. So it says what it believes, and the statement fails when a message was added since:
nothing else moves the end of a session up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_state.engine.statements import append_after_statement, append_statement

if TYPE_CHECKING:
    from collections.abc import Mapping

# Sessions whose end is remembered at most.
_MOST_ENDS = 1000


class Appender:
    """The appends of one engine, one at a time.

    Args:
        refusal: the driver's error for a row that a constraint keeps out.
    """

    def __init__(self, refusal: type[Exception]) -> None:
        self._refusal = refusal
        self._newest = 0  # the id of the last message that was appended here
        self._is_alone = False  # whether the one before it was appended here, too
        self._ends: dict[str, tuple[int, int]] = {}  # session id -> its key, its last position

    def append(self, connection: Any, session_id: str, columns: Mapping[str, Any]) -> tuple[int, int] | None:
        """Add a message on the driver's connection; its id and position, or None when the session can't take it."""
        end = self._ends.get(session_id) if self._is_alone else None
        if end is not None:
            newest, (key, position) = self._newest, end
            values = (session_id, newest, key, position + 1, *columns.values())
            try:
                connection.execute(append_after_statement(tuple(columns)), values)
            except self._refusal:
                self.forget()  # now it is found out what is so
            else:
                self._newest, self._ends[session_id] = newest + 1, (key, position + 1)
                return newest + 1, position + 1
        return self._append_anywhere(connection, session_id, columns)

    def _append_anywhere(self, connection: Any, session_id: str, columns: Mapping[str, Any]) -> tuple[int, int] | None:
        try:
            values = (session_id, *columns.values())
            rows = connection.execute(append_statement(tuple(columns)), values).fetchall()
        except self._refusal:
            return None
        if not rows:
            return None
        message_id, position, key = rows[0]
        self._is_alone = message_id == self._newest + 1
        if not self._is_alone or len(self._ends) >= _MOST_ENDS:
            self._ends.clear()
        self._newest, self._ends[session_id] = message_id, (key, position)
        return message_id, position

    def forget(self) -> None:
        """Know nothing: what was appended may have been undone."""
        self._newest, self._is_alone = 0, False
        self._ends.clear()
