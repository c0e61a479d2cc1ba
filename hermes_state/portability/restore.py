"""Restoring a home: built beside its place, proven there, and put in place at last in one step.

Until that step nothing outside of the stage was touched, so any error leaves the home as it was; after it the home is
the new one. `journal` and `swap` see to it that this holds for a crash too.
"""

from __future__ import annotations

import errno
import os
import tempfile
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_state.atomic import short_name
from hermes_state.errors import DiskFull, HermesStateError, HomeInUse, NotFound
from hermes_state.index_worker import IndexWorker
from hermes_state.portability import hints, prepare, swap, target, units
from hermes_state.portability.build import Builder, Built
from hermes_state.portability.databases import SIDECARS, is_open_elsewhere
from hermes_state.portability.external import is_forbidden
from hermes_state.portability.format import HOME_ROOT
from hermes_state.portability.interrupted import SUFFIX
from hermes_state.portability.journal import Journal, State
from hermes_state.portability.opening import Source, open_any
from hermes_state.portability.ownership import Holder, can_tell, holders
from hermes_state.portability.placing import place_external
from hermes_state.portability.progress import Step
from hermes_state.portability.recover import Recovered, locked, recover
from hermes_state.portability.relocate import Map, Moved, relocate_files
from hermes_state.portability.selection import Selection
from hermes_state.portability.steps import reached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hermes_state.portability.collect import LeftOut
    from hermes_state.portability.crypt import Keys
    from hermes_state.portability.format import Limits


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """How a home is restored.

    Attributes:
        force: replace what is there.
        live: go on although processes have the home open: their databases are filled in place.
        only: parts or paths; empty: everything. See `selection`.
        external: put files into the user's home folder; None: from archives of ours only.
        keep: keep what is replaced beside the home.
        prefixes: folders of the old machine and what they are here, besides the home itself.
    """

    force: bool = False
    live: bool = False
    only: tuple[str, ...] = ()
    external: bool | None = None
    keep: bool = True
    prefixes: Mapping[str, str] = field(default_factory=dict)


@dataclass(kw_only=True, slots=True)
class Restored:
    """What a restore did, or would do.

    Attributes:
        home: the restored home; `source` says from what.
        built: files and bytes, external paths, what was left out.
        moved, missing: absolute paths that were changed, and those that lead nowhere on this machine.
        databases: of the archive, by path in the home.
        prepared: databases that were found sound and made ready.
        damaged: databases that were damaged when they were backed up, and are as they were.
        replaced: what was at the top of the home before.
        kept: where that is now.
        carried: what no backup holds and came over from the old home.
        filled, left_open: databases filled in place, and open files that stay as they are.
        secrets: settings and files that the archive does not hold, to be entered again.
        recovered: interrupted restores that were dealt with first.
    """

    home: Path
    source: Source
    built: Built
    moved: list[Moved] = field(default_factory=list)
    missing: list[tuple[str, str, str]] = field(default_factory=list)
    databases: dict[str, Any] = field(default_factory=dict)
    prepared: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    kept: Path | None = None
    carried: list[str] = field(default_factory=list)
    filled: list[str] = field(default_factory=list)
    left_open: list[str] = field(default_factory=list)
    not_placed: list[str] = field(default_factory=list)
    secrets: dict[str, list[str]] = field(default_factory=dict)
    recovered: list[Recovered] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_partial(self) -> bool:
        """Whether something of the archive is not there, or the archive itself was partial."""
        return bool(self.left_open or self.not_placed or self.damaged or self.source.is_partial)


def restore(
    archive: Path,
    home: Path,
    asked: Asked | None = None,
    *,
    keys: Keys | None = None,
    limits: Limits | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Restored:
    """Restore an archive into a home.

    Raises:
        HomeNotEmpty, HomeInUse: nothing was changed.
        ArchiveDamaged, ArchiveForeign, ArchiveUnsupported, WrongKey: of the archive; nothing was changed.
        StoreDamaged, SchemaTooNew, DiskFull: nothing was changed.
        NotFound: the archive has nothing of what was asked for.
    """
    return Restoring(archive, home, asked or Asked(), keys, limits, progress).run()


def plan(
    archive: Path, home: Path, asked: Asked | None = None, *, keys: Keys | None = None, limits: Limits | None = None
) -> Restored:
    """What `restore` would do. The archive is read to its end, so it is proven too; nothing is changed.

    Raises:
        As `restore`, but for a home that is not empty or in use: that is told.
    """
    return Restoring(archive, home, asked or Asked(), keys, limits, None).plan()


@contextmanager
def full_disk_told(home: Path) -> Iterator[None]:
    """Turn the system's error of a full disk into ours; all others name the file they are about."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"no space is left to restore into {home}", hint="free some space and try again") from error
        raise


class Restoring:
    """One restore."""

    def __init__(
        self,
        archive: Path,
        home: Path,
        asked: Asked,
        keys: Keys | None,
        limits: Limits | None,
        progress: Callable[[Step], None] | None,
    ) -> None:
        self.archive, self.asked, self.keys, self.limits, self.progress = archive, asked, keys, limits, progress
        self.home = Path(os.path.realpath(home))
        self.selection = Selection(asked.only)

    # --- the two ways through -----------------------------------------------------------------------------------

    def plan(self) -> Restored:
        """Read the archive, build only its settings, and say what there is to say."""
        with tempfile.TemporaryDirectory(prefix="hermes-state-plan-") as folder:
            journal = Journal(stage=Path(folder), home=self.home)
            journal.new.mkdir()
            result = self.build(journal, writes=target.is_settings, indexes=False)
            stored = [hint for hint in self._hints(result.source) if hint.is_stored]
            result.moved += hints.moved(stored, self._prefixes(result.source))
        if self.home.is_dir():
            result.replaced = [name for name in target.present(self.home) if self.selection.takes(name)]
        return result

    def run(self) -> Restored:
        """All of it."""
        started = time.monotonic()
        recovered = recover(self.home)
        target.check(self.home, force=self.asked.force)
        self._refuse_holders(self.home)
        with self.stage() as journal, full_disk_told(self.home):
            journal.write()
            reached("stage")
            result = self.build(journal)
            result.recovered = recovered
            left_out = self._aim(journal, result)
            self._refuse_holders(self.home)
            self._swap(journal, result)
            result.carried = swap.carry_over(journal)
            result.not_placed = place_external(journal)
            result.kept = swap.tidy(journal)
            result.carried += [item.path for item in left_out]
        result.seconds = time.monotonic() - started
        return result

    @contextmanager
    def stage(self) -> Iterator[Journal]:
        """A stage that is thrown away unless its journal says that more is to be done with it."""
        folder = target.stage_folder(self.home)
        stage = Path(tempfile.mkdtemp(prefix=f".{short_name(self.home.name)}.", suffix=SUFFIX, dir=folder))
        with locked(stage):
            journal = Journal(stage=stage, home=self.home, archive=str(self.archive))
            journal.new.mkdir(mode=0o700)
            try:
                yield journal
            except BaseException:
                if not (stage / "journal.json").exists() or Journal.read(stage).state is State.BUILDING:
                    swap.throw_away(stage)
                raise

    # --- building -----------------------------------------------------------------------------------------------

    def build(
        self, journal: Journal, writes: Callable[[str], bool] = lambda _: True, *, indexes: bool = True
    ) -> Restored:
        """Build the new home in a stage, and prepare it."""
        with ExitStack() as helpers:
            with open_any(self.archive, keys=self.keys, limits=self.limits) as source:
                worker = self._helper(source, helpers) if indexes else None
                prefixes = self._prefixes(source)
                refuse = self._external_refusal(source)
                builder = Builder(journal, self.selection, prefixes, refuse_external=refuse, writes=writes)
                for entry, content in source.members():
                    builder.take(entry, content)
                    self._tell(f"reading {entry.name}", source.position(), source.size)
                reached("read")
            result = self._built(source, builder.built)
            moved, result.prepared, result.damaged = prepare.prepare(
                journal.new,
                source.databases,
                prefixes,
                tell=lambda what: self._tell(what, source.size, source.size),
                indexes=indexes,
                worker=worker,
            )
        builder.finish()
        relocation = relocate_files(journal.new, self.home, prefixes)
        result.moved = [*builder.built.moved, *relocation.moved, *moved]
        here = {path.name for path in journal.new.iterdir()}
        result.missing = [*relocation.missing, *hints.missing(self._hints(source), prefixes, self.home, here)]
        reached("built")
        return result

    def _helper(self, source: Source, helpers: ExitStack) -> IndexWorker | None:
        """A second process, which starts while the archive is read."""
        wanted = {path: about for path, about in source.databases.items() if self.selection.takes(path)}
        return helpers.enter_context(closing(IndexWorker.start())) if prepare.has_much_to_index(wanted) else None

    def _built(self, source: Source, built: Built) -> Restored:
        """The result so far.

        Raises:
            NotFound: the archive has nothing of what was asked for.
        """
        if not self.selection.is_all and not built.files and not built.links:
            wanted = ", ".join(self.asked.only)
            raise NotFound(f"{self.archive} has nothing of {wanted}", hint="`hermes-state list` shows what it has")
        return Restored(home=self.home, source=source, built=built, databases=source.databases, secrets=source.secrets)

    def _hints(self, source: Source) -> list[hints.Hint]:
        return [hint for hint in hints.of_manifest(source.facts) if self.selection.takes(hint.member)]

    def _prefixes(self, source: Source) -> Map:
        prefixes = dict(self.asked.prefixes)
        origin = source.roots.get(HOME_ROOT, "")
        if origin:
            prefixes.setdefault(origin, str(self.home))
        told = source.facts.get("origin")
        old_user = told.get("home") if isinstance(told, dict) else None
        if isinstance(old_user, str):
            outside = [hint for hint in hints.of_manifest(source.facts) if not hint.value.startswith(f"{origin}/")]
            for old, new in hints.moves(outside, old_user, Path.home()).items():
                prefixes.setdefault(old, new)
        return Map(prefixes)

    def _external_refusal(self, source: Source) -> Callable[[str], str]:
        wanted = self.asked.external
        if wanted is None:
            wanted = source.is_proven and self.selection.is_all

        def refusal(path: str) -> str:
            if is_forbidden(path):
                return "no archive may write there"
            return "" if wanted else "files outside of the home are not asked for"

        return refusal

    # --- putting in place ---------------------------------------------------------------------------------------

    def _aim(self, journal: Journal, result: Restored) -> list[LeftOut]:
        """Decide what is put where; returns what the old home has that no backup holds, and that stays where it is."""
        there = target.contents(self.home)
        stays: list[LeftOut] = []
        held = self._held()
        if self.selection.is_all and not held and target.can_be_whole(self.home, journal.stage):
            journal.units = units.whole(journal)
        else:
            goes = [name for name in there.present if not os.path.lexists(journal.new / name)]
            parts = units.Parts(journal, self.selection, held, goes if self.selection.is_all else ())
            parts.find(frozenset(result.prepared + result.damaged))
            journal.units, journal.fills = parts.units, parts.fills
            result.filled, result.left_open = list(parts.fills), parts.left_open
            stays = [item for item in there.left_out if "/" not in item.path]
        journal.carry = [item.path for item in there.left_out if item not in stays and not item.is_runtime]
        journal.carry_folders = there.opened
        if self.asked.keep:
            journal.keep = str(target.kept_place(self.home, journal.stage))
        is_whole = [unit.path for unit in journal.units] == [""]
        result.replaced = there.present if is_whole else [unit.path for unit in journal.units if unit.old is not None]
        return stays

    def _held(self) -> set[str]:
        """Paths in the home that processes have open: a database together with what SQLite keeps beside it."""
        paths = {os.path.relpath(holder.path, self.home) for holder in self._holders(self.home)}
        bases = {path.removesuffix(suffix) for path in paths for suffix in SIDECARS}
        return paths | {f"{base}{suffix}" for base in bases for suffix in ("", *SIDECARS)}

    def _swap(self, journal: Journal, result: Restored) -> None:
        swap.start(journal)
        try:
            swap.go_on(journal)
            self._refuse_late_holders(journal)
            target.prove(journal, [name for name in result.prepared if name not in journal.fills])
        except (OSError, HermesStateError):
            swap.take_back(journal)
            raise
        reached("proven")

    def _refuse_late_holders(self, journal: Journal) -> None:
        """A process that opened the old home while it was replaced would go on writing to it, unseen by all others."""
        late = self._holders(journal.old)
        if late:
            raise HomeInUse(
                f"{late[0]} of the replaced home; everything was put back",
                hint="end it and try again",
                pids=[holder.pid for holder in late],
            )

    def _refuse_holders(self, home: Path) -> None:
        found = self._holders(home)
        own = [holder for holder in found if holder.pid == os.getpid()]
        if own:
            raise HomeInUse(
                f"this process has {own[0].path} open; nothing was changed", hint="close it first", pids=[own[0].pid]
            )
        if not can_tell():
            self._refuse_open_databases(home)
        if found and not self.asked.live:
            raise HomeInUse(
                f"{found[0]}; nothing was changed",
                hint="end it, or restore into the live home with --live",
                pids=sorted({holder.pid for holder in found}),
            )

    def _refuse_open_databases(self, home: Path) -> None:
        """Where the system doesn't say who has a file open, SQLite's locks say at least that somebody has."""
        for path in prepare.databases_in(home):
            if not self.asked.live and is_open_elsewhere(path):
                raise HomeInUse(
                    f"a process has {path} open; nothing was changed", hint="end it, or restore into it with --live"
                )

    def _holders(self, folder: Path) -> list[Holder]:
        """Who has something of a home open, but for stages of restores, our own among them."""
        return [holder for holder in holders(folder) if f"{SUFFIX}/" not in holder.path]

    def _tell(self, what: str, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(Step(what=what, done=done, total=total))
