"""Filling a database that processes have open: its file stays, its content changes in one transaction."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

from hermes_state.engine.copying import copy_database
from hermes_state.engine.driver import newest_driver
from hermes_state.engine.failures import BUSY, LOCKED, translated
from hermes_state.engine.holder import write_lock_holder
from hermes_state.errors import StoreBusy, StoreUnavailable
from hermes_state.portability.databases import reading
from hermes_state.portability.tables import uri

if TYPE_CHECKING:
    from pathlib import Path

# How long to wait for writers of the live database. [seconds]
_BUSY_S = 20.0


def fill(source: Path, target: Path, saved: Path | None) -> None:
    """Give a live database the content of another, through SQLite's backup API, into the same file.

    Processes that have it open see the new content with their next statement, and write into it, not into a file that
    has lost its name. A crash leaves the old content or the new.

    Args:
        saved: where a copy of the old content goes first; None: it is not kept.

    Raises:
        StoreBusy: a writer held it for too long; the content is the old one.
    """
    if saved is not None and not saved.exists():
        saved.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with reading(target) as live:
            copy_database(live, saved, newest_driver().module)
    module = newest_driver().module
    connected = closing(module.connect(uri(target, "rw"), uri=True, isolation_level=None))
    with reading(source, immutable=True) as new, translated(target), connected as live:
        page_size = new.execute("PRAGMA page_size").fetchone()[0]
        if live.execute("PRAGMA page_size").fetchone()[0] != page_size:
            _refuse_page_size(target)
        deadline = time.monotonic() + _BUSY_S

        def watch(status: int, _: int, __: int) -> None:
            # The driver itself would wait for ever.
            if status in (BUSY, LOCKED) and time.monotonic() > deadline:
                raise StoreBusy(str(target), waited_s=_BUSY_S, holder=write_lock_holder(target))

        new.backup(live, progress=watch, sleep=0.01)


def _refuse_page_size(target: Path) -> None:
    raise StoreUnavailable(
        f"{target} has another page size than the archive's, so it can't be filled while it is open",
        hint="end the processes that have it open, then restore",
    )
