"""`SessionDB`: opens a store and holds its nouns."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import select
from sqlalchemy.engine import make_url

from hermes_state.engine import DEFAULT_BUSY_BUDGET_S, Engine, SqliteEngine
from hermes_state.errors import InvalidValue, MissingExtra
from hermes_state.home import resolve_home, store_path
from hermes_state.index import MessageIndex
from hermes_state.leases import Leases
from hermes_state.lineage import Lineage
from hermes_state.maintenance import Maintenance
from hermes_state.messages import Messages
from hermes_state.meta import Meta
from hermes_state.migrate import upgrade
from hermes_state.routing import Handoffs, Routes
from hermes_state.schema import store_state
from hermes_state.search import Search
from hermes_state.sessions import Sessions
from hermes_state.usage import UsageLedger

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

# `FULL`: a committed message survives power loss. `NORMAL`: it survives a crash of the process, at a tenth of the wait.
SYNCHRONOUS = ("FULL", "NORMAL")


class SessionDB:
    """An open store. Share it between threads; open one per process; it is a context manager.

    Attributes:
        sessions, messages, lineage, usage: conversations and what they cost.
        search: finding them again; `index` is what it works with.
        leases, meta, routes, handoffs: what a gateway needs beside them.
        redact: whether secrets are taken out of what is stored.
        maintenance: how the store is doing, and its upkeep.
    """

    def __init__(self, engine: Engine, *, redact: bool = False) -> None:
        self.engine = engine
        self.redact = redact
        self.index = MessageIndex(engine)
        nouns = _redacting if redact else _plain
        self.sessions, self.messages, self.lineage = nouns(engine, self.index)
        self.usage = UsageLedger(engine)
        self.leases = Leases(engine)
        self.meta = Meta(engine)
        self.routes = Routes(engine)
        self.handoffs = Handoffs(engine)
        self.search = Search(engine, self.index)
        self.maintenance = Maintenance(engine, self.index)

    @classmethod
    def open(
        cls,
        path_or_url: str | os.PathLike[str] | None = None,
        *,
        home: str | os.PathLike[str] | None = None,
        read_only: bool = False,
        synchronous: str = "FULL",
        busy_budget_s: float = DEFAULT_BUSY_BUDGET_S,
        redact: bool = False,
    ) -> Self:
        """Open a store, making it or bringing its schema up to date where needed.

        Args:
            path_or_url: a file, or a URL such as `sqlite:///…`; None: `hermes_state.db` in the home.
            home: the agent home; None: `$HERMES_HOME`, else `~/.hermes`.
            read_only: write nothing at all.
            synchronous: one of `SYNCHRONOUS`.
            busy_budget_s: seconds a write may wait for other processes before `StoreBusy`.
            redact: store placeholders in the place of keys, tokens and passwords; see `hermes_state.redact`. The
                objects that are given stay as they are.

        Raises:
            StoreUnavailable, StoreDamaged: the file can't be opened, or is not a store.
            SchemaTooNew, SchemaOutdated, MigrationFailed: see `hermes_state.errors`.
            StoreBusy: another process kept the store locked while its schema had to change.
        """
        if synchronous not in SYNCHRONOUS:
            raise InvalidValue(f"synchronous is one of {', '.join(SYNCHRONOUS)}, not {synchronous!r}")
        engine = engine_of(path_or_url, home, read_only=read_only, synchronous=synchronous, busy_budget_s=busy_budget_s)
        try:
            upgrade(engine)
            engine.enter_store()
        except BaseException:
            engine.close()
            raise
        return cls(engine, redact=redact)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Calls of the block that write are committed together when it ends, and none of them when it raises.

        With `synchronous=FULL` every commit waits for the disk, so this is how many sessions are stored quickly.
        Other processes can't write meanwhile: keep it below a second. Reads of the block see what it wrote.

        Raises:
            StoreBusy, ReadOnlyStore, DiskFull: nothing of the block was written.
        """
        with self.engine.write():
            yield

    @property
    def path(self) -> Path:
        """The database file.

        Raises:
            InvalidValue: the store is in no file.
        """
        return self.engine.path

    @property
    def store_id(self) -> str:
        """A random name that the store keeps wherever its file goes."""
        with self.engine.read() as connection:
            return str(connection.execute(select(store_state.c.store_id)).scalar_one())

    def close(self) -> None:
        """Close every connection; the handle can't be used after. Closing twice is fine."""
        self.index.close()
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _plain(engine: Engine, index: MessageIndex) -> tuple[Sessions, Messages, Lineage]:
    sessions = Sessions(engine)
    return sessions, Messages(engine, on_append=index.wake), Lineage(engine, sessions)


def _redacting(engine: Engine, index: MessageIndex) -> tuple[Sessions, Messages, Lineage]:
    from hermes_state.redact import redact_value, redacted_fields  # its patterns cost 10 ms to compile

    sessions = Sessions(engine, redact_value)
    messages = Messages(engine, redacted_fields, on_append=index.wake)
    return sessions, messages, Lineage(engine, sessions, redacted_fields)


def is_on_server(path_or_url: str | os.PathLike[str] | None) -> bool:
    """Whether this names a store on a database server, not one in a file."""
    return isinstance(path_or_url, str) and path_or_url.startswith(("postgresql:", "postgresql+", "postgres:"))


def engine_of(
    path_or_url: str | os.PathLike[str] | None = None, home: str | os.PathLike[str] | None = None, **settings: Any
) -> Engine:
    """The engine for where a store lies, with its schema as it is.

    Args:
        settings: read_only, synchronous, busy_budget_s, as `SessionDB.open` takes them.

    Raises:
        MissingExtra, InvalidValue, StoreUnavailable: there is none for that.
    """
    if is_on_server(path_or_url):
        try:
            from hermes_state.engine.postgres import PostgresEngine
            from hermes_state.engine.postgres.address import Address
        except ImportError as error:
            raise MissingExtra("a store on PostgreSQL", "postgres") from error
        return PostgresEngine(Address.of(str(path_or_url)), **settings)
    return SqliteEngine(locate(path_or_url, home), **settings)


def locate(path_or_url: str | os.PathLike[str] | None = None, home: str | os.PathLike[str] | None = None) -> Path:
    """The file that `SessionDB.open` would open for these arguments, whether or not it is there.

    Raises:
        InvalidValue, MissingExtra: the URL names no file, or an engine that is not here.
    """
    if path_or_url is None:
        return store_path(resolve_home(home))
    text = os.fspath(path_or_url)
    if "://" not in text:
        return Path(text).expanduser().absolute()
    url = make_url(text)
    if url.get_backend_name() == "sqlite":
        if not url.database or url.database == ":memory:":
            raise InvalidValue("a store lies in a file; SQLite's in-memory databases are not supported")
        return Path(url.database).expanduser().absolute()
    if url.get_backend_name() == "postgresql":
        raise InvalidValue("a store on PostgreSQL is in no file", hint="this is for stores that are files")
    raise InvalidValue(f"no engine for {url.get_backend_name()!r}; stores lie in SQLite or PostgreSQL")
