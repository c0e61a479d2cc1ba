"""Looking after a SQLite file: how it is filled, checkpoints, and what rewriting it takes. Never opens the file raw."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from hermes_state.engine.protocol import Engine

# Between two tries to checkpoint while readers or writers are in the way, in seconds.
_PAUSE_S = 0.05
# Rows of each index that the planner looks at: keeps ANALYZE in the milliseconds whatever the size.
_ANALYSIS_LIMIT = 400
_MEMORY = Path("/proc/meminfo")


class Pages(NamedTuple):
    """How a database file is filled. `free` pages hold nothing and are used again before the file grows."""

    size: int
    total: int
    free: int


def pages(connection: Connection) -> Pages:
    """How the file is filled."""
    return Pages(*(_number(connection, f"PRAGMA {name}") for name in ("page_size", "page_count", "freelist_count")))


def _number(connection: Connection, statement: str) -> int:
    return int(connection.exec_driver_sql(statement).scalar_one())


def journal_mode(connection: Connection) -> str:
    """`wal`, or what SQLite fell back to where the file system can't do that."""
    return str(connection.exec_driver_sql("PRAGMA journal_mode").scalar_one())


def index_bytes(connection: Connection) -> int:
    """About how many bytes of the file are the full-text index. Reads all of it."""
    tables = set(
        connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE name GLOB 'message_index_*'").scalars()
    )
    blocks = {
        "message_index_data": "SELECT coalesce(sum(length(block) + 8), 0) FROM message_index_data",
        "message_index_docsize": "SELECT coalesce(sum(length(sz) + 8), 0) FROM message_index_docsize",
        "message_index_idx": "SELECT coalesce(sum(length(term) + 12), 0) FROM message_index_idx",
    }
    return sum(_number(connection, statement) for name, statement in blocks.items() if name in tables)


def checkpoint(engine: Engine, *, truncate: bool = False, budget_s: float = 0.0) -> bool:
    """Copy the WAL's pages into the database file, as far as no reader needs the old ones.

    Args:
        truncate: wait for readers and writers, and make the WAL empty.
        budget_s: how long to try while readers of an older state are in the way.

    Returns:
        Whether all of it was copied (and the WAL emptied).
    """
    mode = "TRUNCATE" if truncate else "PASSIVE"
    deadline = time.monotonic() + budget_s
    while True:
        busy, logged, copied = engine.run_alone(f"PRAGMA wal_checkpoint({mode})")[0]
        if not busy and (truncate or logged == copied):
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(_PAUSE_S)


def refresh_statistics(engine: Engine) -> None:
    """Let the planner know how the tables are filled; a sample is enough."""
    if engine.dialect == "postgresql":
        engine.run_alone("ANALYZE messages, sessions, message_index")
        return
    engine.run_alone(f"PRAGMA analysis_limit={_ANALYSIS_LIMIT}")
    engine.run_alone("PRAGMA optimize")


def copies_in_memory(connection: Connection) -> bool:
    """Whether VACUUM builds its copy in memory: this SQLite was built never to write temporary files."""
    return bool(connection.exec_driver_sql("SELECT sqlite_compileoption_used('TEMP_STORE=3')").scalar())


def free_memory() -> int | None:
    """Bytes of memory that can be used without swapping; None where the system does not tell."""
    try:
        lines = _MEMORY.read_text(encoding="ascii").splitlines()
    except OSError:  # not Linux
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def forget_statistics(connection: Connection) -> None:
    """Drop the planner's samples: they hold values of rows, deleted ones too."""
    names = (
        connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE name GLOB 'sqlite_stat[1-4]'").scalars().all()
    )
    for name in names:
        connection.exec_driver_sql(f"DROP TABLE {name}")  # one of four fixed names
