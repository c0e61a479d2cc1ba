"""Copies of a database that appear whole or not at all, made while others write."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_state.atomic import sync_dir, sync_file
from hermes_state.engine.failures import translated_os

if TYPE_CHECKING:
    from types import ModuleType

# Pages copied at a time (16 MiB): between two steps the source is free.
_PAGES_PER_STEP = 4096


def copy_database(source: Any, target: Path, module: ModuleType) -> None:
    """Copy the database of a connection through SQLite's backup API.

    The copy is made under a temporary name beside `target`, flushed, and renamed when it is whole. It is in rollback
    mode, so it is complete without a WAL and can be read where nothing can be written.
    """
    with translated_os(target):
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent)
        os.close(descriptor)
        partial = Path(name)
        try:
            _copy(source, module.connect(name, isolation_level=None))
            sync_file(partial)
            partial.replace(target)
            sync_dir(target.parent)
        except BaseException:
            for leftover in (partial, *(Path(f"{name}{suffix}") for suffix in ("-journal", "-wal", "-shm"))):
                leftover.unlink(missing_ok=True)
            raise


def _copy(source: Any, copy: Any) -> None:
    try:
        copy.execute("PRAGMA synchronous=OFF")  # it is flushed as a whole
        source.execute("BEGIN")  # one snapshot, else a busy writer restarts the copy for ever
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        source.backup(copy, pages=_PAGES_PER_STEP, sleep=0)
        copy.execute("PRAGMA journal_mode=DELETE")
    finally:
        copy.close()
