"""How every connection to a store's file is set up, and why."""

from __future__ import annotations

from typing import Any

# How long SQLite itself lets a reader wait [ms]: recovery of the WAL's index after a crash is the only thing it ever
# waits for.
READER_BUSY_MS = 10_000
# A checkpoint is tried when the WAL holds this many 4 KiB pages (8 MiB): fewer checkpoints than SQLite's 1,000
# write the hot pages of counters and indexes less often, and the WAL stays below 10 MB.
CHECKPOINT_PAGES = 2000
_CACHE_KIB = 16 * 1024
# What a large transaction made of the WAL is given back at the next reset of the WAL, in bytes.
_WAL_KEPT_BYTES = 10_000_000


def configure(connection: Any, *, read_only: bool, synchronous: str) -> None:
    """Set up a connection of the driver.

    Args:
        synchronous: `NORMAL`, or anything else for `FULL`.
    """
    run = connection.execute
    run(f"PRAGMA busy_timeout={READER_BUSY_MS}")
    if not read_only and run("PRAGMA journal_mode").fetchone()[0] != "wal":
        run("PRAGMA journal_mode=WAL")
    run(f"PRAGMA synchronous={'NORMAL' if synchronous == 'NORMAL' else 'FULL'}")
    run("PRAGMA foreign_keys=ON")
    run(f"PRAGMA cache_size=-{_CACHE_KIB}")
    run(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
    run(f"PRAGMA journal_size_limit={_WAL_KEPT_BYTES}")
    run("PRAGMA secure_delete=FAST")
    connection.create_function("hermes_casefold", 1, _casefold, deterministic=True)


def _casefold(text: str | None) -> str | None:
    """SQLite's own `lower` knows ASCII only."""
    return None if text is None else text.casefold()
