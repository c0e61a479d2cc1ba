"""How large the files of a store are, and which copies of it lie around."""

from __future__ import annotations

import glob
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.migrate import SNAPSHOT_DIR

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.engine import Engine

# What `db recover` makes: the copy of a damaged store, and the one it was salvaged into.
DAMAGED, RECOVERED = "damaged", "recovered"


class Sizes(NamedTuple):
    """Bytes of the files of a store."""

    main: int
    wal: int

    @property
    def total(self) -> int:
        """Both together; the lock file beside them is not content."""
        return self.main + self.wal


class Copy(NamedTuple):
    """A copy of the store, or what was left of making one."""

    path: Path
    bytes: int


def sizes_in(engine: Engine) -> Sizes:
    """How large the files of a store are now; on a server, the whole database."""
    if engine.dialect == "sqlite":
        return sizes_of(engine.path)
    from hermes_state.engine.postgres.server import database_bytes

    with engine.read() as connection:
        return Sizes(database_bytes(connection), 0)


def sizes_of(store: Path) -> Sizes:
    """How large they are now."""
    return Sizes(_size(store), _size(wal_of(store)))


def wal_of(store: Path) -> Path:
    """The write-ahead log beside a store."""
    return store.with_name(f"{store.name}-wal")


def copies_of(store: Path) -> list[Copy]:
    """Snapshots of upgrades, copies of damaged states, salvaged stores, and leftovers of copies that were cut short."""
    name = glob.escape(store.name)
    stem = glob.escape(store.stem)
    folder = store.parent / SNAPSHOT_DIR
    # As exact as they are: `work.db` has nothing to do with the snapshots of a `work-2.db` in the same folder.
    found = [
        *folder.glob(f"{stem}-[0-9][0-9][0-9][0-9]-[0-9]*T[0-9]*Z.db*"),
        *folder.glob(f".{stem}-[0-9][0-9][0-9][0-9]-[0-9]*T[0-9]*Z.db.*partial*"),
        *folder.glob(f"{stem}-{DAMAGED}-*.db*"),
        *folder.glob(f".{stem}-{DAMAGED}-*.partial*"),
        *store.parent.glob(f"{stem}.{DAMAGED}-*.db*"),
        *store.parent.glob(f"{stem}.{RECOVERED}.db*"),
        *store.parent.glob(f".{name}.*.partial*"),
        *store.parent.glob(f".{stem}.{RECOVERED}.db.partial*"),
    ]
    return [Copy(path, _size(path)) for path in sorted(set(found)) if path.is_file()]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
