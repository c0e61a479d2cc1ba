"""How a store is doing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from hermes_state.clock import from_us
from hermes_state.engine import fts, upkeep
from hermes_state.engine.driver import newest_driver
from hermes_state.engine.holder import open_elsewhere
from hermes_state.index import mark
from hermes_state.maintenance.sizes import Copy, Sizes, copies_of, sizes_of
from hermes_state.migrate import HEAD, revision_of
from hermes_state.schema import messages, sessions, store_state

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Table

    from hermes_state.engine import Engine


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """How much is in a store."""

    sessions: int
    conversations: int
    messages: int


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexStatus:
    """How the full-text index stands.

    Attributes:
        is_available: this SQLite has FTS5.
        is_current: every message is in it.
        is_rebuilding: it is being built anew; searches are complete, but slower.
        pending: messages that are not in it yet.
        bytes: about how much of the file it takes.
    """

    is_available: bool
    is_current: bool
    is_rebuilding: bool
    pending: int
    segmentation: str | None
    bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """How a store is doing.

    Attributes:
        path: the file, or the address without its password.
        engine: `sqlite` or `postgresql`; `database` names the product and its version.
        sizes: of the files; on a server, of the whole database.
        schema: the revision it stands at; `head` is the one this version works with.
        sqlite: which SQLite runs and what that means; `is_wal_safe` is whether it has the fix of the WAL-reset fault.
        journal_mode: `wal`, or what the file system allows.
        unfolded: messages that the counters of their sessions do not have yet; they are added when read.
        copies: snapshots and salvaged copies on the disk.
        open_elsewhere: other processes that have it open, where the system can tell.
        pages, sqlite, sqlite_version, is_wal_safe, journal_mode: None on a server.
        counts, index, store_id, created_at: None when this version can't read the schema.
    """

    path: str
    engine: str
    database: str
    sizes: Sizes
    schema: str | None
    head: str
    pages: upkeep.Pages | None = None
    sqlite: str | None = None
    sqlite_version: str | None = None
    is_wal_safe: bool | None = None
    journal_mode: str | None = None
    copies: tuple[Copy, ...] = ()
    open_elsewhere: tuple[str, ...] = ()
    store_id: str | None = None
    created_at: datetime | None = None
    unfolded: int = 0
    counts: Counts | None = None
    index: IndexStatus | None = None


def status(engine: Engine) -> Status:
    """How a store is doing; reads only, and also works on a schema that is too new or too old to be opened."""
    with engine.read() as connection:
        found = _of_file(engine, connection) if engine.dialect == "sqlite" else _of_server(engine, connection)
        return found if found.schema != HEAD else _with_content(connection, found)


def _of_file(engine: Engine, connection: Connection) -> Status:
    driver = newest_driver()
    return Status(
        path=engine.shown,
        engine=engine.dialect,
        database=f"SQLite {'.'.join(map(str, driver.version))}",
        sizes=sizes_of(engine.path),
        pages=upkeep.pages(connection),
        schema=revision_of(connection),
        head=HEAD,
        sqlite=driver.describe(),
        sqlite_version=".".join(map(str, driver.version)),
        is_wal_safe=driver.wal_reset_safe,
        journal_mode=upkeep.journal_mode(connection),
        copies=tuple(copies_of(engine.path)),
        open_elsewhere=tuple(open_elsewhere(engine.path)),
    )


def _of_server(engine: Engine, connection: Connection) -> Status:
    from hermes_state.engine.postgres.server import database_bytes, version

    return Status(
        path=engine.shown,
        engine=engine.dialect,
        database=version(connection),
        sizes=Sizes(database_bytes(connection), 0),
        schema=revision_of(connection),
        head=HEAD,
    )


def _with_content(connection: Connection, found: Status) -> Status:
    state = connection.execute(select(store_state)).one()
    listed = (sessions.c.is_tip, sessions.c.delegated.is_(False))
    return replace(
        found,
        store_id=state.store_id,
        created_at=from_us(state.created_at),
        unfolded=_count(connection, messages, messages.c.id > state.counted_through),
        counts=Counts(
            sessions=_count(connection, sessions),
            conversations=_count(connection, sessions, *listed),
            messages=_count(connection, messages),
        ),
        index=_index(connection),
    )


def _index(connection: Connection) -> IndexStatus:
    available = fts.is_available(connection)
    stand = mark(connection)
    return IndexStatus(
        is_available=available,
        is_current=available and stand.is_current,
        is_rebuilding=stand.rebuild_from is not None,
        pending=_count(connection, messages, messages.c.id > (stand.indexed_through if stand.is_usable else 0)),
        segmentation=stand.segmentation,
        bytes=upkeep.index_bytes(connection) if connection.dialect.name == "sqlite" else 0,
    )


def _count(connection: Connection, table: Table, *where: ColumnElement[bool]) -> int:
    return int(connection.execute(select(func.count()).select_from(table).where(*where)).scalar_one())
