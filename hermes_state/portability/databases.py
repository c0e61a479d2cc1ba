"""Copies of the databases of a home, each as it is at one moment, made while their programs write.

A database of another program is copied page by page through SQLite's backup API. The two kinds that consist mostly of
full-text indexes, our own store and a Hermes `state.db`, are copied table by table out of one snapshot instead, and the
indexes that can be built again stay behind: they are four fifths of the bytes.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from hermes_state.engine.copying import copy_database
from hermes_state.engine.driver import newest_driver
from hermes_state.engine.failures import is_busy, is_driver_error, translated
from hermes_state.errors import DiskFull, StoreBusy, StoreDamaged
from hermes_state.portability.derived import DerivedIndex, PlainIndex, find, find_plain, shadows_of
from hermes_state.portability.pages.copying import copy_pages
from hermes_state.portability.pages.errors import Unfit
from hermes_state.portability.tables import (
    Choice,
    Entry,
    SchemaChanged,
    copy_tables,
    is_virtual,
    quoted,
    schema_of,
    source_uri,
    uri,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

MAGIC = b"SQLite format 3\0"
SIDECARS = ("-wal", "-shm", "-journal")
# How long a copy waits for a database in rollback mode whose writer is inside a commit.
BUSY_MS = 10_000
# How often a copy begins again because the schema changed under it.
_TRIES = 3
# Full-text indexes of our own: each is built anew where it is missing, by whoever asks it first at the latest.
_OUR_INDEXES = ("message_index", "memory_index", "fact_index")
# The index of our store is gone: the next search, or a restore, builds it. `hermes_state.index` reads it so.
_FORGET_OUR_INDEX = {
    "store_state": "UPDATE store_state SET indexed_through = 0, segmentation = NULL, rebuild_from = NULL"
}
# Made without rows: what digests kept of our store. The next digest of the copy learns it again, and copies that say
# the same are the same whether somebody asked for a digest in between or not.
_OUR_UNCOPIED = frozenset(("session_digests",))


# What a manifest says of a database's indexes.
LEFT_OUT, KEPT = "left-out", "kept"


Index = DerivedIndex | PlainIndex


class Kind(StrEnum):
    """Whose database it is."""

    OURS = "hermes-state"
    HERMES = "hermes"
    OTHER = "sqlite"


class Part(NamedTuple):
    """What a copy has that holds no more than what changed since an earlier one; see `partial`.

    Attributes:
        page_size: bytes of a page.
        pages: the numbers of the pages that are there, in order.
        paths: the absolute paths in it that `hints` tells: column and path.
    """

    page_size: int
    pages: Sequence[int]
    paths: Sequence[tuple[str, str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Copy:
    """A database as it was at one moment.

    Attributes:
        path: where the copy lies; a plain file that needs no WAL beside it.
        kind, schema: whose it is, and the version its program says it has.
        rows: how many rows each table of it has.
        left_out: the indexes that were left out.
        indexes: of those, the ones that need a description to be built again.
        damage: what SQLite says is wrong with the copy; "" when it is sound.
        part: which pages of it are there, where it is no whole one.
    """

    path: Path
    kind: Kind
    schema: str
    rows: dict[str, int] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    indexes: tuple[Index, ...] = ()
    damage: str = ""
    part: Part | None = None


def begins_as_database(path: str | Path) -> bool:
    """Whether a file that this process has not open begins as SQLite's do, whatever its name is. A link does not.

    Raises:
        OSError: it can't be read.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        return os.read(descriptor, len(MAGIC)) == MAGIC
    finally:
        os.close(descriptor)


@contextmanager
def reading(path: Path, *, immutable: bool = False) -> Iterator[Any]:
    """A connection that only reads a database, wherever it lies and whatever its name is."""
    address = uri(path, "ro") + "&immutable=1" if immutable else source_uri(path)
    module = newest_driver().module
    with translated(path), closing(module.connect(address, uri=True, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        yield connection


def copy(
    source: Path,
    target: Path,
    *,
    keep_indexes: bool = False,
    remembered: Path | None = None,
    beside: Callable[[Path], object] | None = None,
) -> Copy:
    """Copy a database that others may be writing to.

    Args:
        source: the database; it is never written to.
        target: the file to make; nothing may be there.
        keep_indexes: take full-text indexes along, so that a restore need not build them.
        remembered: a file with what an earlier copy left there, so that pages keep their places in a copy without
            indexes; what this copy is to leave is put there, if anything.
        beside: is called with the copy while SQLite checks it in another thread; the copy must not be changed.

    Raises:
        StoreDamaged: SQLite can't read it through.
        StoreUnavailable, DiskFull, StoreBusy: as it says. After any error nothing is left of the copy.
    """
    try:
        for _ in range(_TRIES):
            try:
                kind, indexes = _copy(source, target, keep_indexes=keep_indexes, remembered=remembered)
            except SchemaChanged:
                remove(target)
            else:
                return _described_beside(target, kind, indexes, beside) if beside else _described(target, kind, indexes)
        _give_up(source)
    except DiskFull as error:
        remove(target)
        message = f"no space is left in {target.parent.parent} for a copy of {source}"
        raise DiskFull(message, hint="free some space there, or write to another disk") from error
    except UnicodeDecodeError as error:  # a name in the schema, or in SQLite's message about it, is no text any more
        remove(target)
        raise StoreDamaged(
            f"{source}: {_in_words(error)}", hint="its own program may have a way to salvage it"
        ) from error
    except BaseException:
        remove(target)
        raise


def _in_words(error: UnicodeDecodeError) -> str:
    shown = bytes(error.object).decode("utf-8", "replace")[:200]
    return f"SQLite's schema, or its message about it, is not UTF-8: {shown!r}"


def _give_up(source: Path) -> NoReturn:
    raise StoreBusy(str(source), waited_s=0, holder="a program that changes its schema")


def remove(database: Path) -> None:
    """Delete a database and what SQLite may have left beside it."""
    for name in (database.name, *(f"{database.name}{suffix}" for suffix in SIDECARS)):
        database.with_name(name).unlink(missing_ok=True)


def _copy(source: Path, target: Path, *, keep_indexes: bool, remembered: Path | None) -> tuple[Kind, list[Index]]:
    with reading(source) as connection:
        schema = schema_of(connection)
        kind = kind_of(schema)
        indexes = [] if keep_indexes else derived_of(connection, kind, schema)
        if not indexes:
            copy_database(connection, target, newest_driver().module)
    if indexes:
        with translated(source):
            _copy_without(source, target, choice_of(schema, kind, indexes), remembered)
    return kind, indexes


def uncopied(kind: Kind) -> AbstractSet[str]:
    """The tables whose rows say nothing and stay behind."""
    return _OUR_UNCOPIED if kind is Kind.OURS else frozenset()


def choice_of(schema: Sequence[Entry], kind: Kind, indexes: Sequence[Index]) -> Choice:
    """What is taken where indexes are left out: with them go their tables and triggers, and rows that say nothing."""
    texts = [index for index in indexes if isinstance(index, DerivedIndex)]
    without = {index.name for index in indexes} | {name for index in texts for name in shadows_of(index.name)}
    without |= {entry.name for entry in schema for index in texts if entry.sql in index.triggers}
    return Choice(schema, without, uncopied(kind), _FORGET_OUR_INDEX if kind is Kind.OURS else {})


def _copy_without(source: Path, target: Path, choice: Choice, remembered: Path | None) -> None:
    if remembered is not None:
        try:
            copy_pages(source, target, choice, busy_ms=BUSY_MS, remembered=remembered)
        except Unfit:  # SQLite then says what is wrong with it, if anything is
            remove(target)
            remembered.write_bytes(b"")
        else:
            return
    copy_tables(source, target, choice, busy_ms=BUSY_MS)


def is_open_elsewhere(path: Path) -> bool:
    """Whether another connection has a database in WAL mode open, as far as SQLite's own locks tell.

    For systems that don't say which process has a file open. Without the WAL, only a transaction shows.
    """
    module = newest_driver().module
    with closing(module.connect(uri(path, "rw"), uri=True, isolation_level=None, timeout=0)) as connection:
        try:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
        except Exception as error:
            if not is_busy(error):
                raise
            return True
    return False


def kind_of(schema: list[Entry]) -> Kind:
    """Whose database has this schema."""
    tables = {entry.name for entry in schema if entry.type == "table"}
    if {"store_state", "alembic_version", "messages"} <= tables:
        return Kind.OURS
    return Kind.HERMES if {"sessions", "messages", "schema_version"} <= tables else Kind.OTHER


def derived_of(connection: Any, kind: Kind, schema: list[Entry]) -> list[Index]:
    """The indexes of a database that can be built again, and so stay behind."""
    if kind is Kind.OURS:
        known = {row[1] for row in connection.execute("PRAGMA table_info(store_state)")}
        if not {"indexed_through", "segmentation", "rebuild_from"} <= known:
            return []
        made = {entry.name: entry.sql for entry in schema if entry.name in _OUR_INDEXES and entry.sql}
        return [DerivedIndex(name=name, create=create, triggers=()) for name, create in made.items()]
    if kind is Kind.HERMES and not _is_being_rebuilt(connection):
        texts = [index for index in find(schema) if index.name.startswith("messages_fts") and _opens(connection, index)]
        # Hermes makes its ordinary indexes at every start where they are missing; they are 3 % of an archive.
        return [*texts, *(find_plain(schema) if texts else ())]
    return []


def _is_being_rebuilt(connection: Any) -> bool:
    """Newer Hermes versions fill an index over days and note in `state_meta` how far they are: then it stays."""
    if not connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'state_meta'").fetchone()[0]:
        return False
    query = "SELECT count(*) FROM state_meta WHERE key LIKE 'fts!_rebuild%' ESCAPE '!'"
    return bool(connection.execute(query).fetchone()[0])


def _opens(connection: Any, index: DerivedIndex) -> bool:
    """Whether this SQLite has the index's tokenizer: what it can't build again, it must not leave out."""
    try:
        connection.execute(f"SELECT rowid FROM {index.name} LIMIT 0")  # noqa: S608  letters and digits only
    except Exception as error:
        if not is_driver_error(error):
            raise
        return False
    return True


# --- what a copy is -----------------------------------------------------------------------------------------------


def _described(target: Path, kind: Kind, indexes: list[Index]) -> Copy:
    """Prove the copy, and say what it holds."""
    with reading(target, immutable=True) as connection:
        return described(connection, target, kind, indexes, check(connection))


def described(connection: Any, target: Path, kind: Kind, indexes: Sequence[Index], damage: str) -> Copy:
    """What a copy holds, read from it or from what it is a copy of."""
    return Copy(
        path=target,
        kind=kind,
        schema=_version(connection, kind),
        rows=_counts(connection, kind),
        left_out=tuple(index.name for index in indexes),
        indexes=tuple(index for index in indexes if index.name not in _OUR_INDEXES),
        damage=damage,
    )


def _described_beside(target: Path, kind: Kind, indexes: list[Index], beside: Callable[[Path], object]) -> Copy:
    with ThreadPoolExecutor(1, "check") as pool:
        proven = pool.submit(_described, target, kind, indexes)
        beside(target)
        return proven.result()


def check(connection: Any, without: AbstractSet[str] | None = None) -> str:
    """What SQLite finds wrong with a database; "" when nothing is.

    Args:
        without: tables that are not looked at; indexes of the others are then not compared with their rows.

    Full-text indexes are left to their programs: they are derived, to read one against its rows takes longer than all
    else, and a newer SQLite than the one that wrote it calls some differences of tokenizers `malformed`.
    """
    try:
        schema = schema_of(connection)
        if without is None and not any(is_virtual(entry) for entry in schema):
            return _findings(connection, "PRAGMA integrity_check(5)")
        pragma = "integrity_check" if without is None else "quick_check"
        tables = [entry.name for entry in schema if entry.type == "table" and not is_virtual(entry)]
        chosen = [name for name in tables if name not in (without or ())]
        found = (_findings(connection, f"PRAGMA {pragma}({quoted(name)})") for name in chosen)
        return "; ".join(filter(None, found))
    except UnicodeDecodeError as error:
        return _in_words(error)
    except Exception as error:
        if not is_driver_error(error):
            raise
        return str(error)


def _findings(connection: Any, pragma: str) -> str:
    findings = [row[0] for row in connection.execute(pragma).fetchall()]
    return "" if findings == ["ok"] else "; ".join(findings)


def _version(connection: Any, kind: Kind) -> str:
    query = {
        Kind.OURS: "SELECT version_num FROM alembic_version",
        Kind.HERMES: "SELECT version FROM schema_version",
        Kind.OTHER: "PRAGMA user_version",
    }[kind]
    row = connection.execute(query).fetchone()
    return "" if row is None else str(row[0])


def _counts(connection: Any, kind: Kind) -> dict[str, int]:
    """The rows of the tables a person thinks of; to count those of an unknown database could take long."""
    if kind is Kind.OTHER:
        return {}
    return {
        name: int(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0])  # noqa: S608  a fixed list
        for name in ("sessions", "messages")
    }
