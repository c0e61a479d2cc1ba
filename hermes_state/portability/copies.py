"""The databases of a home on their way into a backup: each is copied as it is at one moment."""

from __future__ import annotations

import stat
from functools import partial
from typing import TYPE_CHECKING

from hermes_state.errors import ReadOnlyStore, StoreBusy, StoreDamaged, StoreUnavailable
from hermes_state.home import STORE_NAME
from hermes_state.portability import apart
from hermes_state.portability.collect import beside
from hermes_state.portability.format import HOME_ROOT
from hermes_state.portability.ownership import own_files
from hermes_state.portability.policy import Policy

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import ExitStack
    from pathlib import Path

    from hermes_state.portability.backup import Wanted
    from hermes_state.portability.collect import Collection, Found
    from hermes_state.portability.databases import Copy
    from hermes_state.portability.kept import Kept
    from hermes_state.portability.manifest import Report
    from hermes_state.portability.partial import Begun
    from hermes_state.portability.redacting import Redaction


class Copies:
    """The copies that a backup takes.

    Args:
        stage: a folder for them.
        kept: what the target has already; None: nothing.
        report: is told what can't be copied.
        step: is told what is being done.

    Attributes:
        take: gets the name and the copy of a database that goes in as it is, while SQLite checks it; not of all.
        take_part: the same, of a copy that holds only what changed since the last: its name, path, bytes of a page, and
            which pages are there. What it returns tells whether the other pages could be had from the last copy.
        made: by name of the member.
        unsound: what SQLite finds wrong with some of them.
        raw: of databases that can't be copied, a copy of the file that this process has open.
        redactions: what was taken out; None: nothing was looked for.
        begun: what was begun before the home was walked.
        known: device and inode of these: the walk need not ask a child whether they are databases.
        numberings: files with what a copy leaves for the next one; see `databases.copy`.
    """

    def __init__(
        self, stage: Path, wanted: Wanted, kept: Kept | None, report: Report, step: Callable[[str], None]
    ) -> None:
        self._stage, self._wanted, self._kept, self._report, self._step = stage, wanted, kept, report, step
        self.take: Callable[[str, Path], None] | None = None
        self.take_part: Callable[[str, Path, int, Sequence[int]], Callable[[], bool]] | None = None
        self.made: dict[str, Copy] = {}
        self.unsound: dict[str, str] = {}
        self.raw: dict[str, Path] = {}
        self.redactions: dict[str, Redaction | None] = {}
        self.numberings: dict[str, Path] = {}
        self.begun: dict[str, tuple[Begun, Callable[[], bool]]] = {}
        self.known: list[tuple[int, int]] = []
        self._held = own_files()
        self._targets = 0

    # --- before the home is walked ------------------------------------------------------------------------------

    def begin(self, home: Path, stack: ExitStack) -> None:
        """Begin with the largest database that changed since the last copy: threads work at it while others are found.

        Args:
            stack: closes what was begun.
        """
        if self._kept is None or self.take_part is None or not self._is_refreshed:
            return
        changed = {}
        for name in self._kept.refreshable():
            is_replaced = bool(self._wanted.store) and name == f"{HOME_ROOT}/{STORE_NAME}"
            status = None if is_replaced else self._changed(self._kept, name, _in_home(home, name))
            if status is not None:
                changed[name] = status
        if not changed:
            return
        from hermes_state.portability.partial import refreshing

        name = max(changed, key=lambda one: changed[one].st_size)
        target, remembered = self._places(name)
        path = _in_home(home, name)
        self._step(f"copying {path.name}")
        try:
            begun = stack.enter_context(refreshing(path, target, remembered))
        except (ReadOnlyStore, StoreBusy, StoreUnavailable):  # it is tried again in its turn, and told
            return
        if begun is not None:
            self.begun[name] = begun, self.take_part(name, target, begun.page_size, begun.pages)
            self.known.append((changed[name].st_dev, changed[name].st_ino))
            self._held = own_files()  # a hard link to it is another name of a file that is open here now

    def _changed(self, kept: Kept, name: str, path: Path) -> os.stat_result | None:
        """How a database looks that can be begun, and is not as it was."""
        try:
            status = path.lstat()
            can_begin = stat.S_ISREG(status.st_mode) and not apart.is_held(path, self._held)
            return status if can_begin and kept.has_changed(name, path) else None
        except OSError:  # the walk will tell
            return None

    # --- all of them --------------------------------------------------------------------------------------------

    def copy(self, root: str, base: Path, collection: Collection, other: Mapping[str, Path], skip: set[str]) -> None:
        """Copy the databases of a root.

        Args:
            other: where some of them are read from, by name.
            skip: names of those that need no copy.
        """
        for found in [found for found in collection.found if found.is_database]:
            name = f"{root}/{found.path}"
            source = other.get(name, base / found.path)
            if name in skip:
                continue
            self._step(f"copying {found.path}")
            try:
                made = self._copy(name, source)
            except StoreDamaged as error:
                self.unsound[name] = error.message
                collection.found += beside(base, found)  # it goes in as it is, for whoever can salvage it
                if apart.is_held(source, self._held):
                    self.raw[name] = self._stage / f"{len(self.raw)}.raw"
                    apart.raw_copy(source, self.raw[name])
            except (ReadOnlyStore, StoreBusy, StoreUnavailable) as error:
                self._report.omit(name, error.message)
                collection.found.remove(found)
            else:
                self._add(name, made)

    def size(self, name: str, found: Found) -> int:
        """Bytes of what goes in."""
        return self.made[name].path.stat().st_size if name in self.made else found.size

    def _add(self, name: str, made: Copy) -> None:
        self.made[name] = made
        if self._wanted.secrets is not Policy.INCLUDE:
            from hermes_state.portability import redacting  # 20 ms, which few backups need

            self.redactions[name] = redacting.of_copy(made, self._wanted.secrets)
        if made.damage:
            self.unsound[name] = made.damage

    @property
    def _is_refreshed(self) -> bool:
        """Whether what the target has is what would go in: without secrets a copy is changed before it does."""
        return self._wanted.secrets is Policy.INCLUDE and not self._wanted.keep_indexes

    def _places(self, name: str) -> tuple[Path, Path]:
        """Where a copy goes, and a file with what the last one left."""
        target = self._stage / f"{self._targets}.db"
        self._targets += 1
        self.numberings[name] = remembered = target.with_suffix(".numbering")
        remembered.write_bytes(b"" if self._kept is None else self._kept.numbering(name))
        return target, remembered

    def _copy(self, name: str, source: Path) -> Copy:
        if name in self.begun:
            begun, is_taken = self.begun[name]
            made = begun.finish() if is_taken() else None
            if made is not None:
                return made
        target, remembered = self._places(name)
        is_redacted = self._wanted.secrets is Policy.REDACT  # an index holds what its rows hold
        keep_indexes = self._wanted.keep_indexes and not is_redacted
        if self._kept is None:
            return apart.copied(source, target, keep_indexes=keep_indexes, held=self._held)
        if self.take_part is not None and name not in self.begun and self._is_refreshed and self._kept.is_whole(name):
            take = partial(self.take_part, name, target)
            made = apart.refreshed(source, target, remembered, lambda *part: take(*part)(), self._held)
            if made is not None:
                return made
        beside = partial(self.take, name) if self.take and self._wanted.secrets is Policy.INCLUDE else None
        made = apart.copied(
            source, target, keep_indexes=keep_indexes, remembered=remembered, beside=beside, held=self._held
        )
        if is_redacted or not made.left_out:
            _distrust(remembered)
        return made


def _in_home(home: Path, name: str) -> Path:
    return home / name.removeprefix(f"{HOME_ROOT}/")


def _distrust(remembered: Path) -> None:
    """Keep of what a copy left the numbers of pages alone: what goes in is not what was noted of them.

    Its secrets are taken out, or it was not copied by pages, and what is there is of an earlier one.
    """
    from hermes_state.portability.pages.trace import Trace

    trace = Trace.parse(remembered.read_bytes())
    if trace is not None:
        trace.proven_at = 0
        remembered.write_bytes(trace.dump())
