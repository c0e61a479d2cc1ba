"""A snapshot for reading. It is entered and left at every search, so it is a class: generators would cost 7 µs more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.engine.connections import driver_of
from hermes_state.engine.failures import ours
from hermes_state.engine.pragmas import READER_BUSY_MS

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from sqlalchemy import Connection

    from hermes_state.engine.connections import Connections
    from hermes_state.engine.forks import Gate


class Snapshot:
    """A read transaction on a connection of its own; errors of the driver leave the block as ours.

    Args:
        path: The database file, to name it in errors.
    """

    __slots__ = ("_connection", "_gate", "_generation", "_path", "_readers")

    def __init__(self, readers: Connections, gate: Gate, path: Path) -> None:
        self._readers = readers
        self._gate = gate
        self._path = path

    def __enter__(self) -> Connection:
        self._gate.enter()
        try:
            self._connection, self._generation = self._readers.take()
            try:
                driver_of(self._connection).execute("BEGIN")
            except BaseException:
                self._readers.give_back(self._connection, self._generation)
                raise
        except BaseException as error:
            self._gate.leave()
            self._translate(error)
            raise
        return self._connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._readers.give_back(self._connection, self._generation)
        except BaseException as failure:
            self._translate(failure)
            raise
        finally:
            self._gate.leave()
        if error is not None:
            self._translate(error)

    def _translate(self, error: BaseException) -> None:
        translation = ours(error, self._path, READER_BUSY_MS / 1000)
        if translation is not None:
            raise translation from error
