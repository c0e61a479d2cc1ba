"""Making a pack."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from hermes_state.errors import InvalidValue, NotFound, ReadOnlyStore, StoreUnavailable
from hermes_state.home import STORE_NAME
from hermes_state.listing import SessionFilter
from hermes_state.portability.format import (
    MEMORIES,
    PACK_FORMAT,
    PACK_ROOTS,
    PACK_VERSION,
    SESSIONS,
    SKILLS,
    Entry,
    Kind,
)
from hermes_state.portability.interrupted import refuse_interrupted
from hermes_state.portability.manifest import Manifest, Report
from hermes_state.portability.packs.files import Files
from hermes_state.portability.packs.lineage import with_lineage
from hermes_state.portability.policy import Policy
from hermes_state.portability.progress import Step
from hermes_state.portability.staging import staging
from hermes_state.portability.writer import Options, Written, write_archive
from hermes_state.redact import Redactor
from hermes_state.store import SessionDB
from hermes_state.transfer import EVERYTHING, Selection, dump
from hermes_state.transfer import lines as session_format
from hermes_state.transfer import memories as memory_format
from hermes_state.transfer.selection import selected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from hermes_state.engine import Engine
    from hermes_state.transfer import ExportReport

SESSIONS_FILE, MEMORIES_FILE = "sessions/sessions.jsonl", "memories/memories.jsonl"
_PRIVATE, _OWNER = 0o600, 0o700


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What a pack takes; of `ids`, `since` and `everything` one is given.

    Attributes:
        ids: these sessions.
        since: the conversations that were active at or after this moment.
        everything: every session, and the routes.
        parts: of `format.PACK_ROOTS`.
        secrets: what happens to keys and passwords.
    """

    ids: tuple[str, ...] = ()
    since: datetime | None = None
    everything: bool = False
    parts: frozenset[str] = frozenset(PACK_ROOTS)
    secrets: Policy = Policy.INCLUDE

    def __post_init__(self) -> None:
        if [bool(self.ids), self.since is not None, self.everything].count(True) != 1:
            raise InvalidValue("a pack takes some sessions, those since a time, or all: one of these")
        if not self.parts or not self.parts <= {*PACK_ROOTS}:
            raise InvalidValue(f"the parts of a pack are {', '.join(PACK_ROOTS)}")

    def as_json(self) -> dict[str, Any]:
        """What was chosen, for the manifest."""
        if self.ids:
            return {"sessions": list(self.ids)}
        return {"all": True} if self.since is None else {"since": self.since.isoformat()}


@dataclass(frozen=True, kw_only=True, slots=True)
class PackReport:
    """What was packed.

    Attributes:
        replaced: secrets in messages and memories that became placeholders.
    """

    written: Written
    manifest: Manifest
    replaced: int = 0
    seconds: float = 0.0


def pack(
    home: Path,
    target: Path,
    wanted: Wanted,
    *,
    store: Path | str | None = None,
    options: Options | None = None,
    progress: Callable[[Step], None] | None = None,
) -> PackReport:
    """Write a pack. The home is only read, but that its store is brought to this version's schema.

    Args:
        store: a file, or the URL of a store on a server; None: the home's own.

    Raises:
        InvalidValue: there is no home, or no folder for the pack.
        HomeInUse: a restore into the home was cut off while parts were being put in place.
        SessionNotFound: a session that was asked for is not here.
        NotFound: there is nothing to pack.
        StoreUnavailable: sessions are asked for, and there is no store.
        Conflict, DiskFull, OSError: as `write_archive`; nothing is left.
    """
    started = time.monotonic()
    if not target.parent.is_dir():
        raise InvalidValue(f"there is no folder {target.parent} for the pack", hint="make it, or choose another place")
    if not home.is_dir():
        raise InvalidValue(f"there is no home at {home}", hint="give it: --home DIR")
    refuse_interrupted(home)
    with staging(target.parent.resolve(), target.name) as stage:
        work = _Packing(home.resolve(), store or home / STORE_NAME, stage, wanted, progress)
        entries = work.entries()
        manifest = work.manifest()
        written = write_archive(target, manifest, entries, options=options, report=work.report, progress=work.tell)
    return PackReport(written=written, manifest=manifest, replaced=work.replaced, seconds=time.monotonic() - started)


def _opened(store: Path | str) -> SessionDB:
    """The store; where nothing can be written, as it is."""
    try:
        return SessionDB.open(store)
    except ReadOnlyStore:
        return SessionDB.open(store, read_only=True)


@dataclass(slots=True)
class _Packing:
    """One pack in the making."""

    home: Path
    store: Path | str
    stage: Path
    wanted: Wanted
    progress: Callable[[Step], None] | None
    report: Report = field(default_factory=Report)
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    replaced: int = 0
    total: int = 0
    done: int = 0
    files: Files = field(init=False)

    def entries(self) -> list[Entry]:
        """What goes in, folders first; the texts of the store are written beside the target before."""
        parts = self.wanted.parts
        self.files = Files(
            home=self.home, stage=self.stage, policy=self.wanted.secrets, report=self.report, parts=parts
        )
        found = self.files.entries()
        self.parts |= {part: {"files": count} for part, count in self.files.counts.items()}
        if isinstance(self.store, str) or self.store.exists():
            with _opened(self.store) as db:
                found = self._texts(db.engine) + found
        elif self.wanted.ids or parts == {SESSIONS}:
            raise StoreUnavailable(f"there is no store at {self.store}", hint="give the home: --home DIR")
        if not any(entry.kind is not Kind.DIR for entry in found):
            raise NotFound(f"{self.home} has nothing of {', '.join(sorted(parts))} to pack")
        self.total = sum(entry.size or 0 for entry in found)
        tops = [part for part in PACK_ROOTS if part in parts and part != SKILLS]
        return [*(Entry(name=part, kind=Kind.DIR, mode=_OWNER) for part in tops), *found]

    def _texts(self, engine: Engine) -> list[Entry]:
        found: list[Entry] = []
        if SESSIONS in self.wanted.parts:
            with self._text(SESSIONS_FILE) as out:
                exported = self._dump(engine, out)
            self.replaced += exported.redacted
            format_ = {"format": session_format.FORMAT, "version": session_format.VERSION}
            self.parts[SESSIONS] = {**format_, "sessions": exported.sessions, "messages": exported.messages}
            found.append(self._written(SESSIONS_FILE))
        if MEMORIES in self.wanted.parts:
            redactor = None if self.wanted.secrets is Policy.INCLUDE else Redactor()
            with self._text(MEMORIES_FILE) as out:
                count = memory_format.dump_memories(engine, out, redactor=redactor)
            self.replaced += redactor.count if redactor else 0
            format_ = {"format": memory_format.FORMAT, "version": memory_format.VERSION}
            self.parts[MEMORIES] = {**format_, "memories": count, **self.parts.get(MEMORIES, {})}
            found.append(self._written(MEMORIES_FILE))
        return found

    def _dump(self, engine: Engine, out: IO[str]) -> ExportReport:
        with engine.read() as connection:
            chosen = self._chosen()
            if not chosen.is_everything:
                pks = selected(connection, chosen)
                chosen = Selection(ids=with_lineage(connection, pks), whole_conversations=False)
        redact = self.wanted.secrets is not Policy.INCLUDE
        return dump(engine, out, chosen, redact=redact, progress=self._sessions_told)

    def _chosen(self) -> Selection:
        if self.wanted.everything:
            return EVERYTHING
        if self.wanted.ids:
            return Selection(ids=self.wanted.ids)
        recent = SessionFilter(
            active_after=self.wanted.since, archived=None, include_delegates=True, every_segment=True
        )
        return Selection(wanted=recent)

    @contextmanager
    def _text(self, name: str) -> Iterator[IO[str]]:
        with self._place(name).open("w", encoding="utf-8", newline="\n") as out:
            yield out

    def _written(self, name: str) -> Entry:
        place = self._place(name)
        size, now = place.stat().st_size, int(time.time()) * 10**9
        return Entry(name=name, mode=_PRIVATE, mtime_ns=now, size=size, opener=lambda: place.open("rb"))

    def _place(self, name: str) -> Path:
        return self.stage / name.rpartition("/")[2]

    def manifest(self) -> Manifest:
        """What stands at the start of the pack."""
        from hermes_state import __version__

        return Manifest(
            format=PACK_FORMAT,
            version=PACK_VERSION,
            roots={part: "" for part in PACK_ROOTS if part in self.wanted.parts},
            facts={
                "product": {"name": "hermes-state", "version": __version__},
                "origin": {"platform": sys.platform},
                "chosen": self.wanted.as_json(),
                "parts": self.parts,
                "secrets": {
                    "policy": self.wanted.secrets.value,
                    "left_out": self.files.left_out,
                    "redacted": self.files.redacted,
                    "replaced": self.replaced,
                },
            },
        )

    # --- how far it is ------------------------------------------------------------------------------------------

    def _sessions_told(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(Step(what=f"session {done:,} of {total:,}", done=0, total=0))

    def tell(self, entry: Entry, size: int) -> None:
        """The writer took some bytes."""
        self.done += size
        if self.progress is not None:
            self.progress(Step(what=entry.name, done=self.done, total=max(self.total, self.done)))
