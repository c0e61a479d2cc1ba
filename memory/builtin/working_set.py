"""The files of one home as one thing that changes: locked, planned, written, noted in the history, told.

The files are the working set and the truth about what is active. A change locks its files, reads them anew, works out
the result, replaces them, and then writes the history, all under the locks. The store mirrors: without one, or while it
is locked, the files are written all the same, and the next read notes what the history lacks as an external edit.
"""

from __future__ import annotations

import logging
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from hermes_state.errors import HermesStateError
from memory.builtin import ledger
from memory.builtin.changes import Outcome
from memory.builtin.entries import TARGETS, parse, render
from memory.builtin.journal import Journal, digest
from memory.builtin.limits import Limits, Usage
from memory.builtin.planning import Plan
from memory.errors import MemoryBusy, MemoryFault, MemoryWriteFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from hermes_state.engine import Engine
    from memory.builtin.changes import Change, Origin
    from memory.builtin.entries import Parsed
    from memory.builtin.files import MemoryFile, Signature

# How long the history of a change, or of what a read found, may wait for other writers of the store. [seconds]
_WRITE_BUDGET_S, _READ_BUDGET_S = 2.0, 0.2
# How often a change starts over because an editor that knows no locks changed the file meanwhile.
_ATTEMPTS = 5

_log = logging.getLogger(__name__)


class WorkingSet:
    """The memory files of a home, and the store that mirrors them.

    Args:
        files: by target.
        engine: of the store; None: there is none.
        redact: put placeholders in the place of keys, tokens and passwords that are written.
    """

    def __init__(
        self, files: Mapping[str, MemoryFile], limits: Limits, engine: Engine | None, *, redact: bool = False
    ) -> None:
        self._files = files
        self._redact = redact
        self._limits = limits
        self._engine = engine
        self._journal = Journal(next(iter(files.values())).path.parent)
        self._changing = threading.RLock()
        self._reconciled: dict[str, Signature] = {}
        self.listeners: list[Callable[[Change], object]] = []

    def read(self, target: str) -> Parsed:
        """What a file holds now. Edits by others since the last look get into the history.

        Raises:
            MemoryReadFailed: it is there and can't be read.
        """
        try:
            self._finish(wait_s=0.0)
        except (MemoryBusy, MemoryWriteFailed) as error:  # whoever writes next finishes it
            _log.debug("a change of several files is finished later: %s", error.message)
        self.notice_edits((target,))
        return parse(self._files[target].read())

    def signatures(self) -> tuple[Signature, ...]:
        """What changes when one of the files does.

        Raises:
            MemoryReadFailed: one can't be looked at.
        """
        return tuple(self._files[target].signature() for target in TARGETS)

    def plan(self, targets: Sequence[str], work: Callable[[Plan], object]) -> tuple[Plan, dict[str, bytes]]:
        """Work out a change on fresh copies of the files; returns it with what the files held.

        Raises:
            MemoryFull, MemoryReadFailed, and what `work` raises.
        """
        data = {target: self._files[target].read() for target in targets}
        before = {target: parse(held).entries for target, held in data.items()}
        plan = Plan({target: list(entries) for target, entries in before.items()}, redact=self._redact)
        work(plan)
        plan.check_limits(before, self._limits)
        return plan, data

    def change(
        self, targets: Sequence[str], work: Callable[[Plan], object], origin: Origin, *, undoes: str | None = None
    ) -> Outcome:
        """Change files: all of what `work` plans, or an error and nothing.

        Args:
            targets: files that may change, in the order of `TARGETS`: two writers then never wait for each other.
            undoes: the batch that is taken back.

        Raises:
            MemoryFull, MemoryReadFailed, MemoryWriteFailed, MemoryBusy, DiskFull, and what `work` raises.
        """
        with self._changing, self._locked(targets):
            plan, data = self._write(targets, work)
            batch = ledger.new_batch() if plan.changes else ""
            facts = MappingProxyType({name: value for name, value in origin.items() if value not in (None, "")})
            changes = tuple(replace(each, batch=batch, origin=facts) for each in plan.changes)
            external, degraded = self._mirror(data, changes, undoes)
        self._tell((*external, *changes))
        return Outcome(
            changes=changes,
            notes=tuple(plan.notes),
            warnings=tuple(plan.warnings),
            usage={target: Usage.of(plan.entries[target], self._limits.of(target)) for target in targets},
            counts={target: len(plan.entries[target]) for target in targets},
            batch=batch,
            degraded=degraded,
            external=tuple(external),
        )

    def _write(self, targets: Sequence[str], work: Callable[[Plan], object]) -> tuple[Plan, dict[str, bytes]]:
        """Work out a change and write it, on what the files hold at that moment."""
        for _ in range(_ATTEMPTS):
            plan, data = self.plan(targets, work)
            changed = [target for target in targets if any(each.target == target for each in plan.changes)]
            if any(self._files[target].read() != data[target] for target in changed):
                continue  # an editor that knows no locks wrote meanwhile
            self._write_all({target: render(plan.entries[target]) for target in changed}, data)
            return plan, data
        raise MemoryBusy(", ".join(str(self._files[target].path) for target in targets), waited_s=0.0)

    def _write_all(self, wanted: Mapping[str, bytes], before: Mapping[str, bytes]) -> None:
        """Write several files or none: when one can't be written, those before it are put back."""
        written: list[str] = []
        if len(wanted) > 1:
            self._journal.begin(wanted, before)
        try:
            for target, data in wanted.items():
                self._files[target].write(data)
                written.append(target)
        except HermesStateError:
            for target in written:
                self._files[target].write(before[target])
            self._journal.cross_out()
            raise
        if len(wanted) > 1:
            self._journal.cross_out()

    @contextmanager
    def _locked(self, targets: Sequence[str]) -> Iterator[None]:
        """Keep others from changing files, once what a killed process had begun is carried out."""
        while True:
            self._finish()
            with ExitStack() as locks:
                for target in targets:
                    locks.enter_context(self._files[target].locked())
                if not self._journal.is_open:  # else whoever held the locks until now was killed
                    yield
                    return

    def _finish(self, *, wait_s: float | None = None) -> None:
        """Carry out what a killed process had begun with several files.

        Args:
            wait_s: seconds to wait for the files; None: as they were made with.
        """
        if not self._journal.is_open:
            return
        with self._changing, ExitStack() as locks:
            for target in TARGETS:
                locks.enter_context(self._files[target].locked(wait_s=wait_s))
            for target, step in self._journal.steps().items():
                if digest(self._files[target].read()) == step.before:  # else it is done, or somebody wrote since
                    self._files[target].write(step.data)
            self._journal.cross_out()

    def _mirror(
        self, data: Mapping[str, bytes], changes: Sequence[Change], undoes: str | None
    ) -> tuple[list[Change], str]:
        """Write the history of a change; returns what others had changed before, and why it could not be written."""
        external: list[Change] = []
        if self._engine is None:
            return external, ""
        try:
            with self._engine.write(budget_s=_WRITE_BUDGET_S) as connection:
                for target, held in data.items():
                    external += ledger.reconcile(connection, target, parse(held).entries)
                ledger.record(connection, changes, undoes=undoes)
        except HermesStateError as error:
            _log.warning("memory history is behind its files: %s", error.message)
            return [], error.message
        for target in data:
            self._reconciled[target] = self._files[target].signature()
        return external, ""

    def notice_edits(self, targets: Sequence[str] = TARGETS) -> None:
        """Take what others did to the files into the history, where they have changed since the last look.

        Raises:
            MemoryReadFailed: one can't be read.
        """
        if self._engine is None or self._engine.read_only:
            return
        for target in targets:
            if target not in self._reconciled or self._reconciled[target] != self._files[target].signature():
                self._tell(self._noticed(self._engine, target))

    def _noticed(self, engine: Engine, target: str) -> list[Change]:
        file = self._files[target]
        if not self._changing.acquire(blocking=False):
            return []  # a thread that is changing something notes what it found
        try:
            seen = file.signature()
            entries = parse(file.read()).entries
            with engine.read() as connection:
                if not ledger.external_changes(connection, target, entries):
                    self._reconciled[target] = seen
                    return []
            with file.locked(wait_s=0.0):  # so does a process
                seen = file.signature()
                entries = parse(file.read()).entries
                with engine.write(budget_s=_READ_BUDGET_S) as connection:
                    found = ledger.reconcile(connection, target, entries)
                self._reconciled[target] = seen
                return found
        except (MemoryBusy, MemoryWriteFailed) as error:
            _log.debug("the history of %s is noted later: %s", file.path, error.message)
        except MemoryFault:
            raise
        except HermesStateError as error:
            _log.warning("memory history is behind its files: %s", error.message)
        finally:
            self._changing.release()
        return []

    def _tell(self, changes: Iterable[Change]) -> None:
        for each in changes:
            for listener in self.listeners:
                try:
                    listener(each)
                except Exception:  # noqa: BLE001  a listener is somebody else's; the change was made and stays
                    _log.exception("a listener of memory writes failed")
