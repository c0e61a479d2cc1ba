"""The connections of one handle: opened when they are needed, and kept for the next use.

Checking a connection out of SQLAlchemy's pool, beginning and giving it back costs 80 µs, four times what a small query
costs. Here the connections stay checked out, and whoever takes one begins on the driver's own what it needs.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection


class Connections:
    """Connections that the threads of a handle share, each one at a time.

    Args:
        connect: opens another one.
        kept: how many are kept between uses; threads that work at the same moment beyond this many open their own.
        is_alive: whether one that was kept can still be used.
    """

    def __init__(
        self, connect: Callable[[], Connection], *, kept: int, is_alive: Callable[[Any], bool] = lambda _driver: True
    ) -> None:
        self._connect = connect
        self._kept = kept
        self._is_alive = is_alive
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
            if self._is_alive(driver_of(connection)):
                return connection, generation
            _discard(connection)
        return self._connect(), generation

    def give_back(self, connection: Connection, generation: int) -> None:
        """End what is unfinished on it and keep it for the next one.

        A snapshot is rolled back: there is nothing to commit, and a damaged index can fail that.
        """
        try:
            if connection.in_transaction():  # SQLAlchemy has run a statement, and keeps count
                connection.rollback()
            driver_of(connection).rollback()
        except BaseException:
            _discard(connection)
            raise
        if generation != self._generation or connection.invalidated or len(self._free) >= self._kept:
            connection.close()
        else:
            self._free.append(connection)

    def close(self) -> None:
        """Close those that nobody uses; the others are closed when they are given back."""
        self._generation += 1
        while self._free:
            self._free.pop().close()


def driver_of(connection: Connection) -> Any:
    """The driver's own connection."""
    # `driver_connection` says the same through four properties, of drivers that are not asynchronous.
    return connection.connection.dbapi_connection


def _discard(connection: Connection) -> None:
    if not connection.invalidated:
        connection.invalidate()
    connection.close()
