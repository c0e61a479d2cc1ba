"""Deleted means deleted: after a purge no file of the store holds what was deleted from it.

Deleting takes messages out of their tables, but their bytes stay in free pages, in segments of the index, in the WAL,
in the planner's samples and in older copies. A purge rewrites the first four and removes the last.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_state import fact_index, memory_index
from hermes_state.engine import outside, upkeep
from hermes_state.errors import InvalidValue, ReadOnlyStore, StoreDamaged
from hermes_state.maintenance.sizes import copies_of, sizes_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_state.engine import Engine
    from hermes_state.index import MessageIndex
    from hermes_state.maintenance import Maintenance
    from hermes_state.maintenance.sizes import Copy, Sizes


@dataclass(frozen=True, kw_only=True, slots=True)
class Purged:
    """What a purge did.

    Attributes:
        removed: old copies of the store that are gone.
        wal_emptied: False when a reader of another process was in the way; the WAL may still hold deleted text. Always
            False on a server, whose log and backups are its own.
        found: for each word that was asked about, the files of the home that hold it: other programs' files, archives
            and exports, or the store itself when a message that was not deleted says it.
    """

    before: Sizes
    after: Sizes
    removed: tuple[Copy, ...]
    wal_emptied: bool
    found: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether nothing that was deleted is left in the store's files, nor any word asked about in the home."""
        return self.wal_emptied and not any(self.found.values())


def purge(
    maintenance: Maintenance, engine: Engine, index: MessageIndex, *, words: Sequence[str], while_open: bool
) -> Purged:
    """Rewrite the index and the file, empty the WAL, remove old copies, and look for words.

    Args:
        words: to be looked for in every file of the home afterwards, whatever the case of ASCII letters. Texts that are
            stored compressed can't be found that way; they are gone with their messages all the same.
        while_open: also when other processes have the store open.

    Raises:
        StoreBusy, DiskFull, StoreUnavailable: as `vacuum`; what was done until then stays, and the next purge goes on.
        InvalidValue: words are asked for of a store that is in no file.
    """
    if engine.read_only:
        raise ReadOnlyStore(f"{engine.shown} was opened read-only")
    if words and engine.dialect != "sqlite":
        raise InvalidValue(f"words are looked for in files, and the store at {engine.shown} is in none of this machine")
    before = sizes_in(engine)
    if index.is_available:
        _rewrite(index)
    with engine.write() as connection:
        memory_index.purge(connection)
        fact_index.purge(connection)
        if engine.dialect == "sqlite":
            upkeep.forget_statistics(connection)
    if engine.dialect != "sqlite":
        return _on_server(engine, before)
    maintenance.vacuum(while_open=while_open)
    emptied = maintenance.checkpoint()
    removed = tuple(copies_of(engine.path))
    for copy in removed:
        copy.path.unlink(missing_ok=True)
    return Purged(
        before=before,
        after=sizes_in(engine),
        removed=removed,
        wal_emptied=emptied,
        found=find_words(engine.path.parent, words) if words else {},
    )


def _on_server(engine: Engine, before: Sizes) -> Purged:
    from hermes_state.engine.postgres.vacuum import vacuum

    vacuum(engine, rewrite=True)
    return Purged(before=before, after=sizes_in(engine), removed=(), wal_emptied=False)


def _rewrite(index: MessageIndex) -> None:
    """Rewrite the index without what was deleted; one that is damaged is built anew, which does the same."""
    try:
        index.purge()
    except StoreDamaged as error:
        index.report_damage(error)
        index.purge()


def find_words(home: Path, words: Sequence[str]) -> dict[str, tuple[Path, ...]]:
    """The files of a folder that hold a word, looked at byte by byte."""
    found = outside.ask({"find": list(words), "below": str(home)})
    return {word: tuple(Path(name) for name in names) for word, names in zip(words, found, strict=True)}
