"""Taking over the peer's facts: its `memory_store.db` is only read, and as often as one likes.

A ledger remembers each foreign fact by its id and content. So a fact comes in once, one that was removed or changed
here stays as it is here, and one whose text changed there is changed here too, as long as nobody changed it here.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import delete, insert, select

from hermes_state.clock import now_us, seconds_to_us, to_us
from hermes_state.errors import FormatError, StoreUnavailable
from hermes_state.importers.foreign import ATTEMPTS, PAUSE_S, ForeignChanged, files_of, opened
from hermes_state.schema import facts, imported_facts
from memory.providers.holographic.analysis import digest
from memory.providers.holographic.records import DEFAULT_CATEGORY, NewFact
from memory.providers.holographic.store import FactExists

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from memory.providers.holographic.store import FactStore

PEER_STORE_NAME = "memory_store.db"
BATCH = 500
_COLUMNS = ("fact_id", "content", "category", "tags", "trust_score", "retrieval_count", "helpful_count")
_TIMES = ("created_at", "updated_at")
_i, _f = imported_facts.c, facts.c


@dataclass(frozen=True, kw_only=True, slots=True)
class FactImport:
    """What an import of facts did.

    Attributes:
        found: facts of the foreign database.
        added: new here.
        changed: whose text had changed there.
        known: were taken over before, or are here already.
        skipped: without content, which no fact can be.
    """

    origin: str
    found: int = 0
    added: int = 0
    changed: int = 0
    known: int = 0
    skipped: int = 0
    duration_s: float = 0.0


class _Foreign(NamedTuple):
    id: int
    fact: NewFact


def is_peer_store(path: Path) -> bool:
    """Whether a file is a fact database of the peer.

    Raises:
        StoreUnavailable: it is there and can't be read.
    """
    if not path.is_file():
        return False
    try:
        return set(_COLUMNS) <= set(_read(path, _columns))
    except FormatError:  # no database at all
        return False


def import_facts(
    store: FactStore, path: Path, *, user_id: str = "", progress: Callable[[int, int], object] | None = None
) -> FactImport:
    """Take over the facts of a peer's database.

    Args:
        user_id: whose they are here; "" everybody's.
        progress: called with facts done and all facts.

    Raises:
        StoreUnavailable, FormatError, StoreDamaged, StoreBusy: it can't be read, or is none of the peer's.
    """
    started = time.monotonic()
    found, skipped = _read(path, lambda database: _facts(database, path, user_id))
    origin = str(path.absolute())
    added = changed = known = 0
    for start in range(0, len(found), BATCH):
        new, other, same = _take(store, origin, found[start : start + BATCH])
        added, changed, known = added + new, changed + other, known + same
        if progress is not None:
            progress(min(start + BATCH, len(found)), len(found))
    return FactImport(
        origin=origin,
        found=len(found) + skipped,
        added=added,
        changed=changed,
        known=known,
        skipped=skipped,
        duration_s=time.monotonic() - started,
    )


def _take(store: FactStore, origin: str, batch: Sequence[_Foreign]) -> tuple[int, int, int]:
    """Take over some facts in one transaction; how many were added, changed and known."""
    with store.engine.write() as connection:
        ledger = _ledger(connection, origin, [each.id for each in batch])
        fresh = [each for each in batch if each.id not in ledger]
        added = store.add_many(each.fact for each in fresh)
        _note(connection, origin, [(each, result.fact_id) for each, result in zip(fresh, added, strict=True)])
        changed = 0
        for each in batch:
            entry = ledger.get(each.id)
            if entry is not None and entry[0] != digest(each.fact.content):
                changed += _follow(store, connection, origin, each, *entry)
        new = sum(result.is_new for result in added)
        return new, changed, len(batch) - new - changed


def _follow(store: FactStore, connection: Connection, origin: str, each: _Foreign, before: bytes, fact_pk: int) -> bool:
    """Change a fact whose text changed there. Not if it was changed or removed here."""
    here = connection.execute(select(_f.digest).where(_f.pk == fact_pk)).scalar()
    _note(connection, origin, [(each, fact_pk)])
    if here is None or bytes(here) != before:
        return False
    try:
        return store.update(fact_pk, content=each.fact.content)
    except FactExists:  # it says now what another fact says; that one stays, and so does this
        return False


def _ledger(connection: Connection, origin: str, ids: Sequence[int]) -> dict[int, tuple[bytes, int]]:
    query = select(_i.foreign_id, _i.digest, _i.fact_pk).where(_i.origin == origin, _i.foreign_id.in_(ids))
    return {row.foreign_id: (bytes(row.digest), row.fact_pk) for row in connection.execute(query)}


def _note(connection: Connection, origin: str, taken: Sequence[tuple[_Foreign, int]]) -> None:
    if not taken:
        return
    ids = [each.id for each, _ in taken]
    connection.execute(delete(imported_facts).where(_i.origin == origin, _i.foreign_id.in_(ids)))
    rows = [
        {"origin": origin, "foreign_id": each.id, "digest": digest(each.fact.content), "fact_pk": pk}
        for each, pk in taken
    ]
    connection.execute(insert(imported_facts), rows)


# --- reading ------------------------------------------------------------------------------------------------------


def _read(path: Path, read: Callable[[Any], Any]) -> Any:
    """What a function reads of a foreign database, read again when its owner wrote meanwhile."""
    for _ in range(ATTEMPTS):
        try:
            with opened(path) as database:
                result = read(database)
                database.verify()
                return result
        except ForeignChanged:
            time.sleep(PAUSE_S)
    raise StoreUnavailable(f"{path} changes faster than it can be read", hint="try again when the agent is idle")


def _columns(database: Any) -> list[str]:
    return [row[1] for row in database.rows("PRAGMA table_info(facts)")]


def _facts(database: Any, path: Path, user_id: str) -> tuple[list[_Foreign], int]:
    there = set(_columns(database))
    if not set(_COLUMNS) <= there:
        raise FormatError(f"{path} has no facts of the peer", hint="give a Hermes home or its memory_store.db")
    columns = [*_COLUMNS, *(name for name in _TIMES if name in there)]
    rows = database.rows(f"SELECT {', '.join(columns)} FROM facts ORDER BY fact_id")  # noqa: S608  names of ours
    found, skipped = [], 0
    for values in rows:
        row = dict(zip(columns, values, strict=True))
        content = row["content"].strip() if isinstance(row["content"], str) else ""
        if not content:
            skipped += 1
            continue
        found.append(_Foreign(row["fact_id"], _new_fact(row, content, user_id)))
    return found, skipped


def _new_fact(row: dict[str, Any], content: str, user_id: str) -> NewFact:
    return NewFact(
        content=content,
        category=str(row["category"] or DEFAULT_CATEGORY),
        tags=str(row["tags"] or ""),
        trust=row["trust_score"] if isinstance(row["trust_score"], int | float) else None,
        source="imported",
        user_id=user_id,
        retrieval_count=_count(row["retrieval_count"]),
        helpful_count=_count(row["helpful_count"]),
        created_at=_instant(row.get("created_at")),
        updated_at=_instant(row.get("updated_at")),
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _instant(value: Any) -> int | None:
    """A time as SQLite's CURRENT_TIMESTAMP writes it, or Unix seconds; None for anything else."""
    if isinstance(value, int | float):
        return seconds_to_us(value)
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return min(to_us(moment if moment.tzinfo else moment.replace(tzinfo=UTC)), now_us())


def peer_store(place: Path) -> Path | None:
    """The peer's fact database that a path means: itself, or that of a home; None when there is none."""
    path = place / PEER_STORE_NAME if place.is_dir() else place
    return path if is_peer_store(path) else None


def signature(path: Path) -> str:
    """Equal as long as nobody wrote to a database."""
    return files_of(path).signature
