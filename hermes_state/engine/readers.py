"""Connections for reading, kept open between the snapshots taken on them.

Checking a connection out of SQLAlchemy's pool, beginning and giving it back costs 80 µs, four times what a small query
costs. Here the connections stay checked out, and a snapshot is begun and ended on the driver's own.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

# Connections kept for later at most; threads that read at the same moment beyond this many open their own each time.
KEPT = 8


class Readers:
    """The reading connections of one engine. Its threads share them, each one at a time.

    Args:
        connect: opens another one.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._free: deque[Connection] = deque()
        self._generation = 0

    def take(self) -> tuple[Connection, int]:
        """A connection on which a snapshot has begun, to be given back with the number beside it."""
        generation = self._generation
        try:
            connection = self._free.pop()
        except IndexError:
            connection = self._connect()
        try:
            _driver(connection).execute("BEGIN")
        except BaseException:
            connection.close()
            raise
        return connection, generation

    def give_back(self, connection: Connection, generation: int) -> None:
        """End the snapshot: there is nothing to commit, and a damaged index can fail that."""
        try:
            if connection.in_transaction():  # SQLAlchemy has run a statement, and keeps count
                connection.rollback()
            else:
                _driver(connection).rollback()
        except BaseException:
            connection.invalidate()
            connection.close()
            raise
        if generation != self._generation or connection.invalidated or len(self._free) >= KEPT:
            connection.close()
        else:
            self._free.append(connection)

    def close(self) -> None:
        """Close those that nobody uses; the others are closed when they are given back."""
        self._generation += 1
        while self._free:
            self._free.pop().close()


def _driver(connection: Connection) -> Any:
    return connection.connection.driver_connection
