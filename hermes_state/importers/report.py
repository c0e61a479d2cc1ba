"""What an import did: counts of every kind, and everything that was not taken over as it stood."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Warnings kept word for word, per kind; the rest is counted. A damaged home with a million bad rows fits in memory.
WARNINGS_KEPT = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """One thing that came in other than as it stood.

    Attributes:
        kind: a stable name: `title_taken`, `bad_timestamp`, `missing_parent`, …
        where: the session, message or row, by its foreign id.
        what: what was found there and what was done about it.
    """

    kind: str
    where: str
    what: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportReport:
    """What one import did.

    Attributes:
        origin: the file it read.
        kind: `hermes` (a state.db), `hermes-jsonl` (its session export) or `hermes-state` (our own export).
        schema_version: of the foreign store, where it says so.
        sessions_found, sessions_added, sessions_changed, sessions_unchanged: of the foreign store's sessions.
        sessions_deleted_here: left out because they were imported once and deleted in this store.
        sessions_failed: could not be read; the warnings of kind `not_imported` say why.
        sessions_gone: imported earlier and no longer there; kept here as they are.
        messages_added, messages_changed: new ones; known ones whose state or content changed there.
        messages_gone: no longer in their session there; kept here, out of the transcript.
        usage_rows, routes, handoffs, settings: rows of each kind that were written.
        left_out: foreign tables that were not read and how many rows each has: running state of the other agent.
        warnings: at most `WARNINGS_KEPT` per kind; `warning_counts` has the full numbers.
    """

    origin: str
    kind: str
    schema_version: int | None = None
    sessions_found: int = 0
    sessions_added: int = 0
    sessions_changed: int = 0
    sessions_unchanged: int = 0
    sessions_deleted_here: int = 0
    sessions_failed: int = 0
    sessions_gone: int = 0
    messages_added: int = 0
    messages_changed: int = 0
    messages_gone: int = 0
    usage_rows: int = 0
    routes: int = 0
    handoffs: int = 0
    settings: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[Notice, ...] = ()
    warning_counts: Mapping[str, int] = field(default_factory=dict)
    duration_s: float = 0.0

    @property
    def changed_anything(self) -> bool:
        """Whether the store differs from before."""
        return any(
            (
                self.sessions_added,
                self.sessions_changed,
                self.messages_added,
                self.messages_changed,
                self.messages_gone,
                self.usage_rows,
                self.routes,
                self.handoffs,
                self.settings,
            )
        )


class Tally:
    """Counts and warnings while an import runs; `report` freezes them."""

    def __init__(self, origin: str, kind: str) -> None:
        self.origin = origin
        self.kind = kind
        self.schema_version: int | None = None
        self.counts: Counter[str] = Counter()
        self.left_out: dict[str, int] = {}
        self.warnings: list[Notice] = []
        self._warned: Counter[str] = Counter()

    def muted(self) -> Tally:
        """Another one, whose warnings nobody sees: for reading something twice."""
        return Tally(self.origin, self.kind)

    def warn(self, kind: str, where: str, what: str) -> None:
        """Note one thing that came in other than as it stood."""
        self._warned[kind] += 1
        if self._warned[kind] <= WARNINGS_KEPT:
            self.warnings.append(Notice(kind=kind, where=where, what=what))

    def fail(self, where: str, what: str) -> None:
        """Note a session that could not be taken over."""
        self.counts["sessions_failed"] += 1
        self.warn("not_imported", where, what)

    def absorb(self, other: Tally) -> None:
        """Take over another one's warnings."""
        for notice in other.warnings:
            self.warn(notice.kind, notice.where, notice.what)

    def report(self, duration_s: float) -> ImportReport:
        """The frozen report."""
        return ImportReport(
            origin=self.origin,
            kind=self.kind,
            schema_version=self.schema_version,
            left_out=dict(self.left_out),
            warnings=tuple(self.warnings),
            warning_counts=dict(self._warned),
            duration_s=duration_s,
            **self.counts,
        )
