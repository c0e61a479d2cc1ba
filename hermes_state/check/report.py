"""What a check found."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from hermes_state.engine.failures import INTERRUPT, is_driver_error, result_code
from hermes_state.errors import HandleUnusable, HermesStateError, StoreBusy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sqlalchemy import Connection

    from hermes_state.engine import Engine

# Findings of one kind that are kept; all are counted.
SHOWN = 100
# Steps of SQLite's virtual machine between two looks for Ctrl-C: a few milliseconds.
_LOOK_EVERY = 200_000


class Kind(StrEnum):
    """What is wrong; the value is stable in JSON."""

    DAMAGED = "damaged"  # the file itself: pages, b-trees, rows that can't be read
    OUTDATED = "outdated"  # an older version made it, and nobody has brought it up to date
    SCHEMA = "schema"  # tables or indexes are not what the migrations make
    DANGLING = "dangling"  # a reference to a row that is not there
    MARK = "mark"  # one of the store's marks can't be right
    SESSION = "session"  # a column of a session holds what it can't
    LINEAGE = "lineage"  # parents, conversations, tips
    COUNTER = "counter"  # a counter is not what the messages add up to
    MESSAGE = "message"  # a column of a message holds what it can't
    CONTENT = "content"  # stored JSON or compressed text can't be read back
    INDEX = "index"  # the full-text index does not hold what the messages say
    DIGEST = "digest"  # what a digest kept of a session is not what its messages say
    UNUSED = "unused"  # pages that nothing uses and that will not be used again


REMEDIES: Mapping[Kind, str] = {
    Kind.DAMAGED: "`hermes-state db recover` salvages what is readable into a new store",
    Kind.OUTDATED: "`hermes-state db migrate` brings it up to date; then check again",
    Kind.SCHEMA: "restore a backup, or `hermes-state db recover` into a store with the right schema",
    Kind.DANGLING: "`hermes-state db recover` builds a store without the dangling rows",
    Kind.MARK: "`hermes-state db recover` derives the marks anew",
    Kind.SESSION: "`hermes-state db recover` builds a store with valid sessions",
    Kind.LINEAGE: "`hermes-state db recover` derives conversations and tips anew",
    Kind.COUNTER: "`hermes-state db recover` counts anew",
    Kind.MESSAGE: "`hermes-state db recover` builds a store with valid messages",
    Kind.CONTENT: "the message is lost unless a backup has it; `hermes-state db recover` leaves it out",
    Kind.INDEX: "`hermes-state db reindex` builds it anew from the messages",
    Kind.DIGEST: "`hermes-state db digest --anew` reads every message and keeps what it finds",
    Kind.UNUSED: "`hermes-state db vacuum` gives the space back",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that is wrong: what kind, where, what, and what to do about it."""

    kind: Kind
    where: str
    what: str
    remedy: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """The outcome of a check.

    Attributes:
        findings: the first of each kind.
        counts: how many there are of each kind, shown or not.
        checked: how much was looked at: sessions, messages, contents, index entries.
        full: whether everything was looked at, or a sample of contents and index entries.
        interrupted: it was stopped before its end.
    """

    findings: tuple[Finding, ...]
    counts: Mapping[Kind, int]
    checked: Mapping[str, int]
    full: bool
    interrupted: bool

    @property
    def is_sound(self) -> bool:
        """Everything was looked at and nothing is wrong."""
        return not self.counts and not self.interrupted

    @property
    def needs_recovery(self) -> bool:
        """Whether more is wrong than building the index anew, a digest or a vacuum mends."""
        return bool(self.counts.keys() - {Kind.INDEX, Kind.DIGEST, Kind.UNUSED})

    @property
    def exit_code(self) -> int:
        """0 when sound, 1 when anything was found, 130 when it was stopped before anything was."""
        return 1 if self.counts else 130 if self.interrupted else 0


class Interrupted(Exception):
    """SQLite stopped its work because of a signal: somebody pressed Ctrl-C."""


class Collector:
    """Where the steps of a check put what they find."""

    def __init__(self, engine: Engine, *, full: bool, shown: int) -> None:
        self._engine = engine
        self._shown = shown
        self._findings: list[Finding] = []
        self._counts: Counter[Kind] = Counter()
        self.checked: Counter[str] = Counter()
        self.full = full
        self.interrupted = False

    @property
    def is_file(self) -> bool:
        """Whether the store is a SQLite file, so that pages and types of its columns can be wrong."""
        return self._engine.dialect == "sqlite"

    @property
    def is_outdated(self) -> bool:
        """Whether the tables are those of an older version, about which the other steps would be wrong."""
        return Kind.OUTDATED in self._counts

    def add(self, kind: Kind, where: str, what: str, *, times: int = 1) -> None:
        """Note a finding."""
        if self._counts[kind] < self._shown:
            self._findings.append(Finding(kind=kind, where=where, what=what, remedy=REMEDIES[kind]))
        self._counts[kind] += times

    def run(self, name: str, step: Callable[[Collector], None], *, unreadable: Kind) -> None:
        """Take a step. What SQLite can't read is a finding of the kind `unreadable`, not the end of the check.

        Raises:
            StoreBusy, HandleUnusable: nothing can be looked at.
        """
        try:
            step(self)
        except (StoreBusy, HandleUnusable):
            raise
        except HermesStateError as error:
            # A column or table that the step needs is missing: the step about the schema says which.
            self.add(Kind.SCHEMA if "no such" in error.message else unreadable, name, error.message)

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """The store as it is now, for one step or one piece of it; Ctrl-C ends whatever SQLite is doing."""
        with self._engine.read() as connection:
            if not self.is_file:  # a server's driver breaks off by itself
                yield connection
                return
            driver: Any = connection.connection.driver_connection
            driver.set_progress_handler(_keep_going, _LOOK_EVERY)
            try:
                yield connection
            except Exception as error:
                if is_driver_error(error) and result_code(error) == INTERRUPT:
                    raise Interrupted from error
                raise
            finally:
                if not connection.invalidated:  # SQLAlchemy closes what Ctrl-C meets in its own code
                    driver.set_progress_handler(None, 0)

    def report(self) -> Report:
        """What was found so far."""
        return Report(
            findings=tuple(self._findings),
            counts=dict(self._counts),
            checked=dict(self.checked),
            full=self.full,
            interrupted=self.interrupted,
        )


def _keep_going() -> int:
    """Returning to Python is enough: a pending KeyboardInterrupt is raised here, and SQLite stops."""
    return 0
