"""The connections of one handle: opened when they are needed, kept for the next use, and tried before it.

They are in the driver's autocommit mode; whoever takes one begins what it needs. So one thread that reads, writes and
appends needs one connection, and a server's connections, which are dear, go to those that work.
"""

from __future__ import annotations

import select
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg
    from sqlalchemy import Connection

# Connections kept between uses; threads that work at the same moment beyond this many open their own each time.
KEPT = 4


class Connections:
    """Connections that the threads of a handle share, each one at a time.

    Args:
        connect: opens another one.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._free: deque[Connection] = deque()
        self._generation = 0

    def take(self) -> tuple[Connection, int]:
        """A connection outside of any transaction, to be given back with the number beside it."""
        generation = self._generation
        while self._free:
            try:
                connection = self._free.pop()
            except IndexError:  # another thread was faster
                break
            if not _has_ended(driver_of(connection)):
                return connection, generation
            discard(connection)
        return self._connect(), generation

    def give_back(self, connection: Connection, generation: int) -> None:
        """End what is unfinished on it and keep it for the next one."""
        try:
            if connection.in_transaction():  # SQLAlchemy has run a statement, and keeps count
                connection.rollback()
            driver_of(connection).rollback()
        except BaseException:
            discard(connection)
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


def driver_of(connection: Connection) -> psycopg.Connection[Any]:
    """The driver's own connection."""
    found: Any = connection.connection.driver_connection
    return found  # type: ignore[no-any-return]


def discard(connection: Connection) -> None:
    """Close a connection that is of no more use."""
    if not connection.invalidated:
        connection.invalidate()
    connection.close()


def _has_ended(driver: psycopg.Connection[Any]) -> bool:
    """Whether the server has hung up. One that says something to a client that asked nothing says farewell."""
    if driver.closed:
        return True
    ready, _, _ = select.select([driver.fileno()], [], [], 0)
    return bool(ready)
