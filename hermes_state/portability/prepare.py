"""What a newly built home needs before it takes its place: sound databases, current schemas, full indexes."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from hermes_state import memory_index
from hermes_state.engine.driver import newest_driver
from hermes_state.engine.failures import translated
from hermes_state.errors import SchemaTooNew, StoreDamaged
from hermes_state.index import MessageIndex
from hermes_state.index_build import build_unshared
from hermes_state.index_worker import WORTH_MESSAGES
from hermes_state.migrate import SNAPSHOT_DIR
from hermes_state.portability.databases import LEFT_OUT, Kind, begins_as_database, check, kind_of, reading
from hermes_state.portability.derived import DerivedIndex, PlainIndex, from_dict
from hermes_state.portability.relocate import Map, Moved, relocate_database
from hermes_state.portability.tables import schema_of, uri
from hermes_state.schema import memories
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from hermes_state.engine import Engine
    from hermes_state.index_worker import IndexWorker


def databases_in(root: Path) -> Iterator[Path]:
    """Every file of a tree that begins as a database does. Nobody else has them open."""
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size >= 512 and begins_as_database(path):
            yield path


def has_much_to_index(described: Mapping[str, Any]) -> bool:
    """Whether a second process is worth starting for what an archive says of its databases, which may be anything."""
    return any(map(_has_much, described.values()))


def _has_much(about: Any) -> bool:
    if not isinstance(about, dict) or about.get("kind") != Kind.OURS or about.get("indexes") != LEFT_OUT:
        return False
    rows = about.get("rows")
    messages = rows.get("messages") if isinstance(rows, dict) else None
    return isinstance(messages, int) and messages >= WORTH_MESSAGES


def prepare(
    root: Path,
    described: Mapping[str, Any],
    prefixes: Map,
    *,
    tell: Callable[[str], None],
    indexes: bool = True,
    worker: IndexWorker | None = None,
) -> tuple[list[Moved], list[str], list[str]]:
    """Check, relocate, migrate and index every database of a home that is being built.

    Args:
        described: of the archive: by path in the home, what the manifest says of a database.
        tell: is told what is being done.
        indexes: build those of our stores; False: whoever asked for the home does without, or builds them.
        worker: helps to build them, if it was started already.

    Returns:
        The columns that were relocated; the databases that are ready; those that were damaged when they were backed up.

    Raises:
        StoreDamaged: a database that was sound is not any more.
        SchemaTooNew, MigrationFailed: our store can't be brought to this version's schema.
        FormatError: the archive describes an index that can't be built.
    """
    moved: list[Moved] = []
    ready: list[str] = []
    damaged: list[str] = []
    for path in databases_in(root):
        name = str(path.relative_to(root))
        about = described.get(name, {})
        path.with_name(f"{path.name}-shm").unlink(missing_ok=True)  # an index of the WAL in another memory
        if about.get("damage") or not _is_sound(path, name, known=name in described):
            damaged.append(name)
            continue
        ready.append(name)
        tell(f"preparing {name}")
        moved += relocate_database(path, name, prefixes)
        kind = _kind(path)
        if kind is not Kind.OURS:
            _complete_other(path, about, tell)
            continue
        try:
            _bring_up_to_date(path)
        except SchemaTooNew as error:  # where it is being built means nothing to who reads this
            raise SchemaTooNew(f"{name} in the archive", found=error.found, known=error.known) from error
        if indexes:
            tell(f"building the indexes of {name}")
            build_unshared(path, worker)
    return moved, ready, damaged


def _is_sound(path: Path, name: str, *, known: bool) -> bool:
    """Whether SQLite finds nothing wrong with a database.

    Raises:
        StoreDamaged: something is, although the archive says it was sound.
    """
    try:
        with reading(path) as connection:
            damage = check(connection)
    except StoreDamaged as error:
        damage = error.message
    if damage and known:
        raise StoreDamaged(
            f"{name} in the archive is not sound: {damage}", hint="nothing was changed; try another backup"
        )
    return not damage


def _kind(path: Path) -> Kind:
    with reading(path) as connection:
        return kind_of(schema_of(connection))


def _complete_other(path: Path, about: Mapping[str, Any], tell: Callable[[str], None]) -> None:
    left_out = [from_dict(index) for index in about.get("rebuild", ())]
    if left_out:
        tell(f"building the indexes of {path.name}")
        _rebuild(path, left_out)


def _bring_up_to_date(path: Path) -> None:
    """Bring our store to this version's schema, and the small index of its memories up to date."""
    snapshots = path.parent / SNAPSHOT_DIR
    had_snapshots = snapshots.exists()
    with SessionDB.open(path, synchronous="NORMAL") as db:
        if db.index.is_available:
            _index_memories(db.engine)
    path.with_name(f"{path.name}.lock").unlink(missing_ok=True)  # nobody else ever had this file open
    if not had_snapshots and snapshots.exists():  # of before the migration: the archive is just that
        shutil.rmtree(snapshots)


def complete_indexes(engine: Engine) -> None:
    """Bring the full-text indexes of a store of ours up to date, where this SQLite can."""
    index = MessageIndex(engine)
    if not index.is_available:
        return
    index.catch_up()
    _index_memories(engine)


def _index_memories(engine: Engine) -> None:
    with engine.write() as connection:
        if connection.execute(select(memories.c.pk).limit(1)).first() is not None:
            memory_index.catch_up(connection)


def _rebuild(path: Path, indexes: list[DerivedIndex | PlainIndex]) -> None:
    """Build indexes; a crash here costs nothing, so nothing is flushed."""
    module = newest_driver().module
    connected = closing(module.connect(uri(path, "rw"), uri=True, isolation_level=None))
    with translated(path), connected as connection:
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-65536", "temp_store=FILE"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN IMMEDIATE")
        for index in indexes:
            index.rebuild(connection)
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode=DELETE")
