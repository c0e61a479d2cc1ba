"""Connections that only append: each call is one statement and one transaction, with nothing of SQLAlchemy's around."""

from __future__ import annotations

import select
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import psycopg

# Connections kept between calls; threads that append at the same moment beyond this many open their own each time.
KEPT = 8


class Appenders:
    """The appending connections of one engine. Its threads share them, each one at a time.

    Args:
        connect: opens another one, in autocommit mode.
    """

    def __init__(self, connect: Callable[[], psycopg.Connection[Any]]) -> None:
        self._connect = connect
        self._free: deque[psycopg.Connection[Any]] = deque()

    def run(self, statement: bytes, values: Sequence[Any]) -> tuple[Any, ...] | None:
        """The first row of one statement. It is sent once: nobody knows whether one that broke off was carried out."""
        connection = self._take()
        try:
            row: tuple[Any, ...] | None = connection.execute(statement, values).fetchone()
        except BaseException:
            connection.close()
            raise
        if len(self._free) < KEPT:
            self._free.append(connection)
        else:
            connection.close()
        return row

    def _take(self) -> psycopg.Connection[Any]:
        while self._free:
            try:
                connection = self._free.pop()
            except IndexError:  # another thread was faster
                break
            if not _has_ended(connection):
                return connection
            connection.close()
        return self._connect()

    def close(self) -> None:
        """Close those that nobody uses."""
        while self._free:
            self._free.pop().close()


def _has_ended(connection: psycopg.Connection[Any]) -> bool:
    """Whether the server has hung up. One that says something to a client that asked nothing says farewell."""
    if connection.closed:
        return True
    ready, _, _ = select.select([connection.fileno()], [], [], 0)
    return bool(ready)
