"""A new store in the place of another, in one step, while nobody has the old one open."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hermes_state.atomic import sync_dir
from hermes_state.engine.driver import newest_driver
from hermes_state.engine.failures import CORRUPT, NOTADB, is_driver_error, result_code, translated, translated_os
from hermes_state.engine.holder import open_elsewhere
from hermes_state.engine.waiting import retry_while_busy
from hermes_state.errors import StoreBusy
from hermes_state.maintenance.sizes import DAMAGED, wal_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# How long others may take to close the store, in seconds.
_BUDGET_S = 2.0


def swap_in(new: Path, path: Path, fingerprint: str) -> Path:
    """Put `new` in the place of the store at `path`; returns where the old one lies now.

    At every moment the path names one of the two, whole. The old store's WAL is brought into its file before; where
    that can't be done any more it goes along under the old store's new name.

    Raises:
        StoreBusy: somebody has the old store open; names the process where the system can tell.
    """
    kept = path.with_name(f"{path.stem}.{DAMAGED}-{fingerprint}.db")
    number = 1
    while kept.exists():
        number += 1
        kept = path.with_name(f"{path.stem}.{DAMAGED}-{fingerprint}-{number}.db")
    with _alone(path), translated_os(path):
        _keep(path, kept)
        if wal_of(path).exists():  # a WAL of another store must never meet the new one: SQLite would replay it
            wal_of(path).replace(wal_of(kept))
        path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
        new.replace(path)
        sync_dir(path.parent)
    return kept


def _keep(path: Path, kept: Path) -> None:
    """Give the old store a second name, so that the path is never without a store."""
    try:
        os.link(path, kept)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: for a moment there is none
        path.rename(kept)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Nobody else can open the store during the block, as far as its damage lets SQLite lock it."""
    uri = f"file:{quote(str(path.absolute()))}?mode=rw"
    with translated(path):
        connection: Any = newest_driver().module.connect(uri, uri=True, timeout=0, isolation_level=None)
        try:
            _lock(connection, path)
            yield
        finally:
            connection.close()


def _lock(connection: Any, path: Path) -> None:
    try:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        # Needs the file for itself, and leaves no WAL that this connection would remove when it closes.
        retry_while_busy(
            lambda: connection.execute("PRAGMA journal_mode=DELETE").fetchall(), time.monotonic() + _BUDGET_S, path
        )
        connection.execute("BEGIN EXCLUSIVE")
    except StoreBusy as error:
        raise StoreBusy(str(path), waited_s=_BUDGET_S, holder=", ".join(open_elsewhere(path))) from error
    except Exception as error:
        if not is_driver_error(error) or result_code(error) not in (CORRUPT, NOTADB):
            raise
        others = open_elsewhere(path)  # SQLite can't lock what it can't read
        if others:
            raise StoreBusy(str(path), waited_s=0.0, holder=", ".join(others)) from error
