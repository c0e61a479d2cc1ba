"""`db recover`: what can be read of a damaged store becomes a new, sound one beside it.

A store in which a full check finds nothing to salvage is left alone. The damaged file is only read. It is copied aside
once for each distinct damage, so that repeated runs do not fill the disk; nothing ever deletes it. The new store is
checked in full before anybody is told about it.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_state.atomic import give_name, sync_dir, sync_file
from hermes_state.check import check
from hermes_state.engine import SqliteEngine, outside
from hermes_state.engine.access import refuse_emptied
from hermes_state.engine.failures import translated_os
from hermes_state.engine.salvage import DamagedFile
from hermes_state.errors import Conflict, DiskFull, SchemaTooNew, StoreDamaged, StoreUnavailable
from hermes_state.index import MessageIndex
from hermes_state.maintenance.sizes import DAMAGED, RECOVERED, sizes_of, wal_of
from hermes_state.migrate import HEAD, SNAPSHOT_DIR, known_revisions, upgrade
from hermes_state.recover.build import Builder, Salvaged
from hermes_state.recover.swap import swap_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hermes_state.check import Report


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovery:
    """What was salvaged.

    Attributes:
        source: the damaged store.
        fingerprint: names the damage; None when there was nothing to recover.
        copy: where the damaged file was copied to, or had been by an earlier run; None when it was swapped, or when
            there was room for the new store only.
        target: the new store; after a swap it stands in the damaged one's place. None when there was nothing to
            recover: then nothing was made.
        tables: what became of each table.
        report: the full check of the new store, or of the old one when there is no new one.
        kept: where the damaged store lies after a swap; None when there was none.
    """

    source: Path
    report: Report
    fingerprint: str | None = None
    copy: Path | None = None
    target: Path | None = None
    tables: tuple[Salvaged, ...] = ()
    kept: Path | None = None

    @property
    def is_complete(self) -> bool:
        """Whether nothing is known to be lost or mended, and the new store, if there is one, is sound."""
        if self.target is None:
            return True
        return self.report.is_sound and not any(table.lost or table.mended for table in self.tables)


def recover(
    path: Path,
    *,
    into: Path | None = None,
    swap: bool = False,
    progress: Callable[[str, int], object] | None = None,
    checking: Callable[[str], object] | None = None,
) -> Recovery:
    """Salvage a damaged store; one with nothing to salvage is left as it is.

    Args:
        path: the store; nobody needs to have stopped using it, but what they write meanwhile is not in the new one.
        into: the new store; None: `<name>.recovered.db` beside it.
        swap: put the new store in the damaged one's place, in one step; the damaged one is kept under another name.
            Nobody may have it open.
        progress: called with a table and how many of its rows are written.
        checking: called with what the check of the store looks at, before anything is written.

    Raises:
        StoreUnavailable: there is no such file.
        StoreDamaged: nothing of a store could be read from it.
        SchemaTooNew: a newer version made it, which must salvage it.
        Conflict: the new store's file exists already.
        DiskFull: there is no room for the new store.
        StoreBusy: it was to be swapped and another process has it open; the new store is there all the same.
    """
    if not path.is_file():
        raise StoreUnavailable(f"there is no store at {path}")
    target = into or path.with_name(f"{path.stem}.{RECOVERED}.db")
    if target.exists():
        raise Conflict(f"{target} exists already", hint="look at it and move it away, or name another file")
    refuse_emptied(path)
    source = DamagedFile(path)
    try:
        _refuse_strangers(source, path)
        found = _checked(path, checking)
        if not found.needs_recovery:
            return Recovery(source=path, report=found)
        room_for_copy = _room(path, target)
        fingerprint = source.fingerprint(f"{finding.kind} {finding.where}" for finding in found.findings)
        copy = _set_aside(path, fingerprint) if room_for_copy and not swap else None
        tables, report = _build(source, target, progress)
    finally:
        source.close()
    kept = None
    if swap and report.is_sound:
        kept = swap_in(target, path, fingerprint)
    return Recovery(
        source=path,
        fingerprint=fingerprint,
        copy=copy,
        target=path if kept else target,
        tables=tuple(tables),
        report=report,
        kept=kept,
    )


def _checked(path: Path, progress: Callable[[str], object] | None) -> Report:
    engine = SqliteEngine(path, read_only=True)
    try:
        report = check(engine, full=True, progress=progress)
    finally:
        engine.close()
    if report.interrupted:
        raise KeyboardInterrupt
    return report


def _room(path: Path, target: Path) -> bool:
    """Whether there is room for a copy of the damaged file beside the new store."""
    size = sizes_of(path).total
    free = shutil.disk_usage(target.parent).free
    if free < size + size // 10:
        raise DiskFull(
            f"salvaging {path} may take {size / 1e6:,.1f} MB and there are {free / 1e6:,.1f} MB free",
            hint="free some space, or salvage into another file system",
        )
    return free > 2 * size + size // 5


def _refuse_strangers(source: DamagedFile, path: Path) -> None:
    kept, said = source.columns("sessions"), source.columns("messages")
    if not kept and not said:
        raise StoreDamaged(f"nothing of a store can be read from {path}", hint="restore a backup or a snapshot")
    if "conversation_pk" not in kept and "session_pk" not in said:
        raise StoreDamaged(
            f"{path} is not a hermes-state store",
            hint="a Hermes state.db is read with `hermes-state import hermes PATH`",
        )
    revision = source.revision()
    if revision is not None and revision not in known_revisions():
        raise SchemaTooNew(str(path), found=revision, known=HEAD)


def _set_aside(path: Path, fingerprint: str) -> Path:
    """Copy the damaged file and its WAL, unless this damage was copied before."""
    folder = path.parent / SNAPSHOT_DIR
    copy = folder / f"{path.stem}-{DAMAGED}-{fingerprint}.db"
    if copy.exists():
        return copy
    folder.mkdir(mode=0o700, exist_ok=True)
    partial = copy.with_name(f".{copy.name}.partial")
    for leftover in (partial, wal_of(partial)):
        leftover.unlink(missing_ok=True)
    with translated_os(copy):
        pairs = [(path, partial)]
        if sizes_of(path).wal:
            pairs.append((wal_of(path), wal_of(partial)))
        outside.ask({"copy": [[str(one), str(other)] for one, other in pairs]})
        if wal_of(partial).exists():
            wal_of(partial).replace(wal_of(copy))
        partial.replace(copy)
        sync_dir(folder)
    return copy


def _build(
    source: DamagedFile, target: Path, progress: Callable[[str, int], object] | None
) -> tuple[list[Salvaged], Report]:
    """Make the new store under a temporary name; it appears as `target` when it is whole and checked."""
    partial = target.with_name(f".{target.name}.partial")
    leftovers = [partial.with_name(f"{partial.name}{suffix}") for suffix in ("", "-wal", "-shm", "-journal")]
    for leftover in leftovers:
        leftover.unlink(missing_ok=True)
    try:
        engine = SqliteEngine(partial, synchronous="NORMAL")
        try:
            upgrade(engine)
            tables = Builder(source, engine, progress).build()
            MessageIndex(engine).catch_up()
            report = check(engine, full=True)
        finally:
            engine.close()
        with translated_os(target):
            sync_file(partial)
            give_name(partial, target)
            sync_dir(target.parent)
    except BaseException:
        for leftover in leftovers:
            leftover.unlink(missing_ok=True)
        raise
    return tables, report


__all__ = ["Recovery", "Salvaged", "recover"]
