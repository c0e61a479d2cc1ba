"""`BuiltinMemory`: MEMORY.md and USER.md of one home, with the history that the store keeps of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from hermes_state import memory_index
from hermes_state.errors import InvalidValue
from hermes_state.home import resolve_home
from memory.builtin import archive, ledger
from memory.builtin.approval import APPROVED, REJECTED, Approval, Proposals, without_secrets
from memory.builtin.changes import Operation, Outcome
from memory.builtin.entries import FILES, TARGETS, memory_id
from memory.builtin.files import LOCK_S, MemoryFile
from memory.builtin.finding import in_files
from memory.builtin.limits import Limits, Usage
from memory.builtin.planning import meant
from memory.builtin.snapshot import block
from memory.builtin.working_set import WorkingSet
from memory.errors import EntryNotFound, MemoryFault, WriteDenied

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Mapping, Sequence

    from sqlalchemy import Connection

    from hermes_state.engine import Engine
    from hermes_state.store import SessionDB
    from memory.builtin.approval import Proposal
    from memory.builtin.archive import Event, Memory
    from memory.builtin.changes import Change, Origin
    from memory.builtin.entries import Entry
    from memory.builtin.files import Signature
    from memory.settings import MemorySettings

FOLDER = "memories"
PENDING_FOLDER = "pending/memory"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entries:
    """What a memory file holds.

    Attributes:
        entries: in the order of the file.
        ids: their stable ids.
        problems: what is odd about the file, in words.
    """

    target: str
    entries: tuple[Entry, ...]
    ids: tuple[str, ...]
    usage: Usage
    problems: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the entries."""
        return tuple(entry.text for entry in self.entries)

    def only(self, ids: Collection[str]) -> Entries:
        """The same without the entries that are not named."""
        kept = [pair for pair in zip(self.entries, self.ids, strict=True) if pair[1] in ids]
        return replace(self, entries=tuple(entry for entry, _ in kept), ids=tuple(name for _, name in kept))


class BuiltinMemory:
    """The curated memory of one home. Share it between threads; several processes may have one.

    Args:
        home: the agent home; None: `$HERMES_HOME`, else `~/.hermes`.
        db: the store that keeps the history; without one there is no search of what left the files, and no undo. One
            that takes secrets out of what it stores has them taken out of what is written here.
        limits: characters the files may hold.
        approval: whether writes need a person's yes.
        shown: the targets that are switched on: in the prompt, and for the tool.
        lock_s: seconds a change waits for other processes.
    """

    def __init__(
        self,
        home: str | os.PathLike[str] | None = None,
        db: SessionDB | None = None,
        *,
        limits: Limits | None = None,
        approval: Approval | bool = False,
        shown: Sequence[str] = TARGETS,
        lock_s: float = LOCK_S,
    ) -> None:
        self.home = resolve_home(home)
        self.limits = limits or Limits()
        self.shown = tuple(target for target in TARGETS if target in shown)
        self.approval = Approval(required=approval) if isinstance(approval, bool) else approval
        self._engine: Engine | None = None if db is None else db.engine
        self._redact = db is not None and db.redact
        files = {target: MemoryFile(self.home / FOLDER / name, lock_s=lock_s) for target, name in FILES.items()}
        self._files = WorkingSet(files, self.limits, self._engine, redact=self._redact)
        self._proposals = Proposals(self._engine, self.home / PENDING_FOLDER)
        self._snapshot: str | None = None

    @classmethod
    def configured(cls, home: str | os.PathLike[str] | None, db: SessionDB | None, settings: MemorySettings) -> Self:
        """The memory of a home as its configuration wants it."""
        switched = {"memory": settings.memory_enabled, "user": settings.user_profile_enabled}
        return cls(
            home,
            db,
            limits=Limits(memory=settings.memory_char_limit, user=settings.user_char_limit),
            approval=settings.write_approval,
            shown=[target for target, is_on in switched.items() if is_on],
        )

    @property
    def has_history(self) -> bool:
        """Whether there is a store that keeps what was."""
        return self._engine is not None

    # --- reading --------------------------------------------------------------------------------------------------

    def read(self, target: str) -> Entries:
        """What a file holds now. Edits by others since the last look get into the history.

        Raises:
            MemoryReadFailed: it is there and can't be read.
        """
        parsed = self._files.read(target)
        return Entries(
            target=target,
            entries=parsed.entries,
            ids=tuple(memory_id(target, entry) for entry in parsed.entries),
            usage=Usage.of(parsed.entries, self.limits.of(target)),
            problems=parsed.problems,
        )

    def snapshot(self) -> str:
        """The blocks for the system prompt, as they were when it was first asked for; empty when memory is.

        They stay the same until `refresh_snapshot`, so that the beginning of the prompt stays cacheable.

        Raises:
            MemoryReadFailed: a file can't be read.
        """
        if self._snapshot is None:
            self._snapshot = self._blocks()
        return self._snapshot

    def refresh_snapshot(self) -> str:
        """Read the files for a new session, or after a compression; returns the new blocks."""
        self._snapshot = self._blocks()
        return self._snapshot

    def signatures(self) -> tuple[Signature, ...]:
        """Something that changes whenever a file does, whoever wrote; takes microseconds.

        Raises:
            MemoryReadFailed: a file can't be looked at.
        """
        return self._files.signatures()

    def _blocks(self) -> str:
        blocks = (block(target, self.read(target).entries, self.limits.of(target)) for target in self.shown)
        return "\n\n".join(filter(None, blocks))

    # --- changing -------------------------------------------------------------------------------------------------

    def on_write(self, listener: Callable[[Change], object]) -> None:
        """Call a function with every change after it was made, edits by others included (`Change.origin` tells)."""
        self._files.listeners.append(listener)

    def apply(self, operations: Sequence[Operation | Mapping[str, Any]], *, origin: Origin | None = None) -> Outcome:
        """Take operations: all of them, or an error and none.

        Args:
            operations: as `Operation`, or as the mappings that `Operation.of` reads.
            origin: who wrote, in which session, by which call.

        Raises:
            InvalidValue, EntryNotFound, AmbiguousMatch, MemoryFull, UnsafeMemory: an operation can't be done.
            MemoryReadFailed, MemoryWriteFailed, MemoryBusy, DiskFull: the file can't be changed now.
            WriteDenied: a person was asked and said no.
        """
        if not operations:
            raise InvalidValue("there is nothing to do: no operations were given")
        wanted = [each if isinstance(each, Operation) else Operation.of(each) for each in operations]
        if self.approval.required:
            # What can't be done is not asked for.
            self._files.plan(_targets(wanted), lambda plan: plan.run(wanted))
            if self.approval.ask is None:
                if self._redact:
                    wanted = [without_secrets(each) for each in wanted]
                return Outcome(proposal=self._proposals.stage(wanted, origin or {}))
            if not self.approval.ask(wanted):
                raise WriteDenied
        return self._files.change(_targets(wanted), lambda plan: plan.run(wanted), origin or {})

    def find(self, operation: Operation) -> str:
        """The id of the entry in its file that an operation means; nothing is changed.

        Raises:
            InvalidValue, EntryNotFound, AmbiguousMatch: it means none, or several.
        """
        held = self.read(operation.target)
        place = meant(operation, held.entries, whole_words=operation.action in ("remove", "archive"))
        return held.ids[place.index]

    def undo(self, batch: str | None = None, *, origin: Origin | None = None) -> Outcome:
        """Take back what was changed together; by default the last change that was made through us.

        To undo an undo, name its batch.

        Raises:
            EntryNotFound: there is no such batch, or an entry it made is not there any more.
            InvalidValue: it is taken back already, or nothing is left to undo.
            MemoryFault: there is no store, so nobody knows what was.
            As `apply`.
        """
        engine = self._history_engine()
        self._files.notice_edits()
        with engine.read() as connection:
            name = batch or ledger.last_batch(connection)
            if name is None:
                raise InvalidValue("there is nothing to undo")
            changes = ledger.changes_of(connection, name)
            if not changes:
                raise EntryNotFound(
                    name,
                    message=f"no change has the batch {name!r}; nothing was changed",
                    hint="`hermes-state memory history` shows the batches",
                )
            if name in ledger.undone(connection):
                raise InvalidValue(f"{name} is undone already", hint="`memory history` shows the batch that did it")
        targets = tuple(target for target in TARGETS if any(each.target == target for each in changes))
        return self._files.change(targets, lambda plan: plan.take_back(changes), origin or {}, undoes=name)

    def forget(self, name: str) -> Memory:
        """Take an entry out of its file and delete it with its history; only a purge also takes out the bytes.

        Raises:
            EntryNotFound, AmbiguousMatch: no entry, or several, have this id.
        """
        engine, found = self._history_engine(), self.named(name)
        if found.status == "active":
            self._files.change((found.target,), lambda plan: plan.drop(found.target, found.id), {})
        with engine.write() as connection:
            ledger.forget(connection, [found.pk])
        return found

    # --- history --------------------------------------------------------------------------------------------------

    def _history_engine(self) -> Engine:
        if self._engine is None:
            raise MemoryFault("there is no store, so memory has no history", hint="open it with a SessionDB")
        return self._engine

    def history(self, name: str | None = None, *, limit: int | None = None) -> list[Event]:
        """What happened, newest first: to one entry (by id) and its kin, or to all.

        Raises:
            EntryNotFound, AmbiguousMatch: no entry, or several, have that id.
            MemoryFault: there is no store.
        """
        engine = self._history_engine()
        self._files.notice_edits()
        with engine.read() as connection:
            return archive.history(connection, name, limit=limit)

    def entries(
        self, *, target: str | None = None, tags: Sequence[str] = (), statuses: Sequence[str] = archive.STATUSES
    ) -> list[Memory]:
        """Every entry there ever was that fits, oldest first.

        Raises:
            MemoryFault: there is no store.
        """
        engine = self._history_engine()
        self._files.notice_edits()
        with engine.read() as connection:
            return archive.listed(connection, target=target, tags=tags, statuses=statuses)

    def named(self, name: str) -> Memory:
        """The entry with this id, or the only one whose id begins so, wherever it is now.

        Raises:
            EntryNotFound, AmbiguousMatch, MemoryFault: as `history`.
        """
        engine = self._history_engine()
        self._files.notice_edits()
        with engine.read() as connection:
            return archive.named(connection, name)

    def has_archived(self) -> bool:
        """Whether anything was put away that is still true."""
        if self._engine is None:
            return False
        with self._engine.read() as connection:
            return archive.has(connection, "archived")

    def tag(self, name: str, tags: Sequence[str]) -> Memory:
        """Give an entry (by id) these tags instead of those it has.

        Raises:
            EntryNotFound, AmbiguousMatch, MemoryFault: as `history`.
        """
        engine = self._history_engine()
        self._files.notice_edits()
        with engine.write() as connection:
            found = archive.named(connection, name)
            ledger.set_tags(connection, found.pk, tuple(tags))
            return replace(found, tags=tuple(sorted(tags)))

    def search(
        self,
        query: str,
        limit: int = 20,
        *,
        target: str | None = None,
        tags: Sequence[str] = (),
        statuses: Sequence[str] = archive.STATUSES,
        excerpts: bool = True,
    ) -> list[Memory]:
        """The entries that answer a query best, those that left the files included.

        Without a store only the files are searched.

        Args:
            tags: an entry must have all of them.
            statuses: only entries that are in one of these.
            excerpts: fill `Memory.snippet`, which takes longer than the rest where entries are long.

        Raises:
            MemoryReadFailed: a file can't be read.
        """
        if self._engine is None:
            found = [self.read(each) for each in TARGETS if target in (None, each)]
            return in_files([(each.target, each.ids, each.texts) for each in found], query, limit)
        self._files.notice_edits()

        def ask(connection: Connection) -> list[Memory]:
            return archive.search(
                connection, query, target=target, tags=tags, statuses=statuses, limit=limit, excerpts=excerpts
            )

        return memory_index.asked(self._engine, ask)

    # --- approval -------------------------------------------------------------------------------------------------

    def pending(self) -> list[Proposal]:
        """Writes that wait for approval, the peer's included; oldest first."""
        return self._proposals.pending()

    def approve(self, name: str) -> Outcome:
        """Make a write that waited; its texts are checked anew.

        Raises:
            NothingWaits, AmbiguousMatch: no write, or several, wait under this id.
            InvalidValue: it can't be read.
            As `apply`; it then goes on waiting.
        """
        proposal = self._proposals.get(name)
        if proposal.problem:
            raise InvalidValue(f"the write {proposal.id} can't be read: {proposal.problem}", hint="reject it")
        operations = proposal.operations
        origin = {**proposal.origin, "approved": proposal.id}
        outcome = self._files.change(_targets(operations), lambda plan: plan.run(operations), origin)
        self._proposals.decide(proposal, APPROVED)
        return outcome

    def reject(self, name: str) -> Proposal:
        """Let a write that waited not happen.

        Raises:
            NothingWaits, AmbiguousMatch: no write, or several, wait under this id.
        """
        proposal = self._proposals.get(name)
        self._proposals.decide(proposal, REJECTED)
        return proposal


def _targets(operations: Sequence[Operation]) -> tuple[str, ...]:
    return tuple(target for target in TARGETS if any(each.target == target for each in operations))
