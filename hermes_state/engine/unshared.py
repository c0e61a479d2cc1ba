"""Writing to a database file that nobody else can see yet, so that nothing needs a journal and nothing is flushed.

Whoever makes the file throws it away when anything fails, and flushes it before it gets its name.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import sqlalchemy
from sqlalchemy.pool import NullPool

from hermes_state.engine import access
from hermes_state.engine.driver import newest_driver
from hermes_state.engine.failures import translated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection

_CACHE_KIB = 32 * 1024
# A process that helps may be reading. [ms]
_BUSY_MS = 20_000


@contextmanager
def unshared(path: Path) -> Iterator[Connection]:
    """A connection that begins a transaction with the first statement and is committed by the caller.

    An error, or a kill, leaves a file that is good for nothing. Others may read it between two transactions.

    Raises:
        DiskFull, StoreUnavailable, StoreDamaged: as SQLite says.
    """
    module = newest_driver().module

    def connect() -> object:
        made = module.connect(access.uri_of(path, read_only=False), uri=True, isolation_level=None)
        for pragma in (
            f"busy_timeout={_BUSY_MS}",
            "journal_mode=DELETE",  # out of WAL, which needs a file of its own
            "journal_mode=OFF",
            "synchronous=OFF",
            f"cache_size=-{_CACHE_KIB}",
        ):
            made.execute(f"PRAGMA {pragma}").fetchall()
        return made

    engine = sqlalchemy.create_engine("sqlite+pysqlite://", module=module, creator=connect, poolclass=NullPool)
    sqlalchemy.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    with translated(path), engine.connect() as connection:
        yield connection
