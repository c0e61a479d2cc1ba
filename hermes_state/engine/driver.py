"""Which SQLite runs: the newest of the standard library's and pysqlite3's, and what that version means."""

from __future__ import annotations

import importlib
import importlib.util
import sqlite3
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import ModuleType

# Before 3.51.3 a checkpoint that resets the WAL while another process appends can corrupt the database.
WAL_RESET_FIXED = (3, 51, 3)
# Oldest version everything is tested with: RETURNING, UPDATE FROM and the FTS5 features used here.
OLDEST_SUPPORTED = (3, 40, 0)


class Driver(NamedTuple):
    """A DB-API module and the SQLite it links."""

    module: ModuleType
    version: tuple[int, ...]

    @property
    def name(self) -> str:
        """The module's import name: `sqlite3` or `pysqlite3`."""
        return self.module.__name__.partition(".")[0]

    @property
    def wal_reset_safe(self) -> bool:
        """Whether this SQLite has the fix of the WAL-reset fault."""
        return self.version >= WAL_RESET_FIXED

    def describe(self) -> str:
        """One line for `db status` and `doctor`."""
        text = f"SQLite {'.'.join(map(str, self.version))} ({self.name})"
        if self.wal_reset_safe:
            return text
        return f"{text}: has the WAL-reset fault fixed in 3.51.3; `pip install pysqlite3` brings a newer one"


@cache
def newest_driver() -> Driver:
    """The driver with the newest SQLite; the standard library's when both are equal."""
    best = Driver(sqlite3, sqlite3.sqlite_version_info)
    if importlib.util.find_spec("pysqlite3") is not None:
        module = importlib.import_module("pysqlite3.dbapi2")
        best = max(best, Driver(module, module.sqlite_version_info), key=lambda d: d.version)
    return best
