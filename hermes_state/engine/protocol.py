"""What the store needs of a database: SQLite's engine and PostgreSQL's have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Any

    from sqlalchemy import Connection


class Engine(Protocol):
    """One open database, shared by the threads of a process.

    Every method raises `HandleUnusable` once the engine was closed, and no error of a driver leaves it.
    """

    @property
    def dialect(self) -> str:
        """SQLAlchemy's name of the kind of database."""

    @property
    def packs_texts(self) -> bool:
        """Whether long texts are compressed before they are stored (`packing`); servers do it themselves."""

    @property
    def path(self) -> Path:
        """The database file.

        Raises:
            InvalidValue: the store is in none.
        """

    @property
    def shown(self) -> str:
        """The file or the address without a password, to name the store in messages."""

    @property
    def read_only(self) -> bool:
        """Whether every write raises `ReadOnlyStore`."""

    def enter_store(self) -> None:
        """After the schema was brought up to date: see one store, where a database holds several."""

    def read(self) -> AbstractContextManager[Connection]:
        """A snapshot: all statements of the block see the same state. Inside `write()` it is that transaction."""

    def write(self, *, budget_s: float | None = None) -> AbstractContextManager[Connection]:
        """A write transaction, committed when the block ends and undone when it raises; a nested one is a part of it.

        Raises:
            StoreBusy: others kept the store locked for longer than `budget_s` seconds (None: the engine's budget).
            ReadOnlyStore, DiskFull, StoreDamaged, StoreUnavailable: nothing was written.
        """

    def append_message(self, session_id: str, columns: Mapping[str, Any]) -> tuple[int, int] | None:
        """Add one message at the end of a session; its id and position, or None when the session can't take it."""

    def migration(self) -> AbstractContextManager[Connection]:
        """A write transaction for changes of the schema."""

    def run_alone(self, statement: str, *, budget_s: float | None = None) -> list[Any]:
        """Run one statement that can't be in a transaction, as VACUUM; its rows."""

    def copy_to(self, target: Path) -> None:
        """Copy the whole store, as it is at this moment, to a file that appears only when it is whole.

        Raises:
            InvalidValue: the store is in no file.
        """

    def close(self) -> None:
        """Give every connection back. Twice is once."""
