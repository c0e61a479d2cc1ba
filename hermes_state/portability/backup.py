"""A backup: a whole home in one archive, made while its agent works."""

from __future__ import annotations

import io
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from hermes_state.errors import InvalidValue
from hermes_state.home import STORE_NAME
from hermes_state.portability import description, external, hints
from hermes_state.portability.collect import Collection, Found, collect
from hermes_state.portability.copies import Copies
from hermes_state.portability.format import EXTERNAL_ROOT, HOME_ROOT, MAX_LISTED, Entry, Kind
from hermes_state.portability.interrupted import refuse_interrupted
from hermes_state.portability.manifest import Manifest, Report
from hermes_state.portability.policy import Policy
from hermes_state.portability.progress import Step
from hermes_state.portability.rules import QUICK, Rules
from hermes_state.portability.staging import staging
from hermes_state.portability.steady import open_steady
from hermes_state.portability.writer import Options, Written, write_archive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from hermes_state.portability.kept import Kept
    from hermes_state.portability.secrets import Redacted


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What a backup takes.

    Attributes:
        quick: the state only: databases, settings, memories; no skills, plugins, logs or media.
        keep_indexes: full-text indexes too, so that a restore need not build them.
        secrets: what happens to keys and passwords.
        include, exclude: patterns for this backup; see `rules`.
        external: files and folders outside of the home that belong to it, below the user's home folder.
        store: the URL or file of a store that the home uses in the place of its own; "": its own. Its content is in
            the archive as the home's own store.
        reread: in a repository, read everything, although it looks as it did in the snapshot before.
    """

    quick: bool = False
    keep_indexes: bool = False
    secrets: Policy = Policy.INCLUDE
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    external: tuple[Path, ...] = ()
    store: str = ""
    reread: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class BackupReport:
    """What a backup did.

    Attributes:
        written: the archive.
        manifest: what it says of itself.
        unsound: databases that SQLite calls damaged: they are in as they are.
        seconds: how long it took.
    """

    written: Written
    manifest: Manifest
    unsound: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def is_partial(self) -> bool:
        """Whether something is missing, or not sound."""
        return self.written.report.is_partial or bool(self.unsound)


def backup(
    home: Path,
    target: Path,
    wanted: Wanted | None = None,
    *,
    options: Options | None = None,
    progress: Callable[[Step], None] | None = None,
) -> BackupReport:
    """Back up a home into a new archive. The home is only read; nothing waits for it but a database's own locks.

    Raises:
        InvalidValue: there is no home, or no folder for the archive.
        HomeInUse: a restore into it was cut off while parts were being put in place.
        Conflict: the archive is there already.
        DiskFull, OSError: nothing is left of the archive.
    """
    started = time.monotonic()
    refuse_unfit(home)
    if not target.parent.is_dir():
        raise InvalidValue(f"there is no folder {target.parent} for the archive", hint="make it, or choose another")
    with staging(target.parent.resolve(), target.name) as stage:
        work = HomeReading(home, stage, wanted or Wanted(), progress, target)
        work.look()
        manifest = work.manifest()
        written = write_archive(
            target, manifest, work.entries(), options=options, report=work.report, progress=work.tell
        )
    return BackupReport(
        written=written, manifest=manifest, unsound=work.databases.unsound, seconds=time.monotonic() - started
    )


@contextmanager
def preview(
    home: Path, folder: Path, wanted: Wanted | None = None
) -> Iterator[tuple[Iterable[Entry], Mapping[str, Path]]]:
    """What a backup of the home would hold now, to compare with one: its entries, and the copies of databases.

    Args:
        folder: has room for copies of the databases while the block runs.
    """
    with staging(folder.resolve(), "preview") as stage:
        work = HomeReading(home, stage, wanted or Wanted(), None, stage)
        work.look()
        yield work.entries(), {name: copy.path for name, copy in work.databases.made.items()}


def refuse_unfit(home: Path) -> None:
    """Refuse what can't be backed up.

    Raises:
        InvalidValue: there is no home.
        HomeInUse: a restore into it was cut off.
    """
    if not home.is_dir():
        raise InvalidValue(f"there is no home at {home}", hint="give it: --home DIR")
    refuse_interrupted(home)


class HomeReading:
    """One home that is being read for a backup.

    Args:
        stage: a folder for copies of databases.
        target: what is being written, if it lies in the home.
        kept: what need not be read again.

    Attributes:
        databases: the copies of the home's databases.
    """

    def __init__(
        self,
        home: Path,
        stage: Path,
        wanted: Wanted,
        progress: Callable[[Step], None] | None,
        target: Path,
        kept: Kept | None = None,
    ) -> None:
        self.kept = kept
        self.described: dict[str, dict[str, Any]] = {}
        self.unread: set[str] = set()
        self.home, self.stage, self.wanted, self.progress, self.target = home.resolve(), stage, wanted, progress, target
        self.report = Report()
        self.databases = Copies(stage, wanted, kept, self.report, self._step)
        self.roots: dict[str, tuple[Path, Collection]] = {}
        self.elsewhere: dict[str, Path] = {}  # members that are not read where the home would have them
        self.redacted: dict[str, Redacted] = {}
        self.secrets_left_out: list[str] = []
        self.done = self.total = 0

    # --- what there is ------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Walk the home, and copy its databases: these first, so that all of them are from about the same moment."""
        with ExitStack() as stack:
            self.databases.begin(self.home, stack)
            self._walk()
            for root, (base, collection) in self.roots.items():
                self.databases.copy(root, base, collection, self.elsewhere, self.unread)
        if self.databases.unsound:
            self.report.facts["unsound"] = self.databases.unsound
        sizes = (self.databases.size(name, found) for name, found in self._found())
        self.total = sum(sizes)

    def _found(self) -> Iterator[tuple[str, Found]]:
        """All that goes in, by name."""
        return ((f"{root}/{found.path}", found) for root, (_, all_of) in self.roots.items() for found in all_of.found)

    def _walk(self) -> None:
        exclude = (*(QUICK if self.wanted.quick else ()), *self.wanted.exclude)
        rules = Rules.of_home(self.home, include=self.wanted.include, exclude=exclude)
        skip = (self.stage, self.target)
        home = collect(self.home, rules, skip=skip, is_plain=self._is_plain, databases=self.databases.known)
        self.roots[HOME_ROOT] = (self.home, home)
        if self.wanted.store:
            self._take_store(self.roots[HOME_ROOT][1])
        chosen = external.paths(self.home, self.wanted.external)
        for path, reason in chosen.refused:
            self.report.facts.setdefault("external_refused", []).append({"path": str(path), "reason": reason})
        if chosen.paths:
            self.roots[EXTERNAL_ROOT] = (chosen.base, external.collect_paths(chosen, skip=skip))
        for name, (base, collection) in self.roots.items():
            self._apply_secrets(name, base, collection)
            for missing in collection.unreadable:
                self.report.omit(f"{name}/{missing.path}", missing.reason)
            self._find_kept(name, base, collection)

    def _is_plain(self, path: str, seen: tuple[int, ...]) -> bool:
        return self.kept is not None and self.kept.is_plain(f"{HOME_ROOT}/{path}", seen)

    def _take_store(self, collection: Collection) -> None:
        from hermes_state.portability import elsewhere  # loads all of the store, which few backups need

        self._step("copying the store")
        self.elsewhere[f"{HOME_ROOT}/{STORE_NAME}"] = place = self.stage / "store.db"
        elsewhere.take_along(self.wanted.store, place, collection)

    def _find_kept(self, root: str, base: Path, collection: Collection) -> None:
        """Note what need not be read."""
        if self.kept is None:
            return
        other = {*self.redacted, *self.elsewhere, *self.databases.begun}
        for found in collection.found:
            name = f"{root}/{found.path}"
            if found.kind is Kind.FILE and name not in other and self.kept.keeps(name, base, found):
                self.unread.add(name)
                if found.is_database:
                    self.described[name] = self.kept.facts["databases"][name]

    def _apply_secrets(self, root: str, base: Path, collection: Collection) -> None:
        """Take secret files out, or their secrets."""
        if self.wanted.secrets is Policy.INCLUDE:
            return
        kept = []
        for found in collection.found:
            name = f"{root}/{found.path}"
            if self._keeps(name, base, found):
                kept.append(found)
            else:
                self.secrets_left_out.append(name)
        collection.found[:] = kept

    def _keeps(self, name: str, base: Path, found: Found) -> bool:
        if found.kind is Kind.DIR:
            return True
        from hermes_state.portability.secrets import is_secret_file, redact_file  # 15 ms, which few backups need

        is_secret = is_secret_file(found.path)
        if is_secret and (self.wanted.secrets is Policy.EXCLUDE or found.kind is Kind.LINK or found.is_database):
            return False
        redacted = (
            None
            if found.kind is Kind.LINK or found.is_database
            else redact_file(base / found.path, is_secret=is_secret)
        )
        if redacted is not None and redacted.content is not None:
            self.redacted[name] = redacted
        return redacted is None or redacted.content is not None

    # --- what is said of it -------------------------------------------------------------------------------------

    def manifest(self) -> Manifest:
        """What stands at the start of the archive."""
        from hermes_state import __version__

        described = {
            **self.described,
            **{name: description.of_copy(copy) for name, copy in self.databases.made.items()},
        }
        rebuild = any(about.get("left_out") for about in described.values())
        return Manifest(
            roots={name: str(base) for name, (base, _) in self.roots.items()},
            required_restore=("rebuild-indexes",) if rebuild else (),
            facts={
                "product": {"name": "hermes-state", "version": __version__},
                "origin": {"platform": sys.platform, "user": description.user_name(), "home": str(Path.home())},
                "databases": dict(sorted(described.items())),
                **description.left_out({name: collection for name, (_, collection) in self.roots.items()}),
                "secrets": {
                    "policy": self.wanted.secrets.value,
                    "left_out": self.secrets_left_out[:MAX_LISTED],
                    "redacted": {name: list(item.keys) for name, item in self.redacted.items()},
                    **description.of_redactions(self.databases.redactions),
                },
                **self._hints(),
                **({"quick": True} if self.wanted.quick else {}),
            },
        )

    def _hints(self) -> dict[str, Any]:
        """The absolute paths in settings and stores, which lead nowhere on another machine."""
        hidden = {name: item.keys for name, item in self.redacted.items()}
        found = list(hints.in_settings(self.home, hidden, self.unread))
        known = hints.of_manifest(self.kept.facts) if self.kept is not None else ()
        found += [hint for hint in known if hint.path in self.unread]
        for name, copy in self.databases.made.items():
            if not copy.damage:
                found += hints.in_copy(copy, name)
        return {"relocation": [hint.as_json() for hint in found[: hints.MAX_HINTS]]} if found else {}

    # --- what goes in -------------------------------------------------------------------------------------------

    def entries(self, unread: Callable[[str], None] | None = None) -> Iterator[Entry]:
        """Everything, folders before what they hold; each file is opened when its turn comes.

        Args:
            unread: is told the names of what need not be read, each in its turn; there is no entry for these.
        """
        for root, (base, collection) in self.roots.items():
            status = base.stat()
            yield Entry(name=root, kind=Kind.DIR, mode=status.st_mode & 0o7777, mtime_ns=status.st_mtime_ns)
            for found in collection.found:
                name = f"{root}/{found.path}"
                if unread is not None and name in self.unread:
                    unread(name)
                else:
                    yield from self._entry(name, base, found)

    def _entry(self, name: str, base: Path, found: Found) -> Iterator[Entry]:
        if found.kind is not Kind.FILE:
            yield Entry(name=name, kind=found.kind, mode=found.mode, mtime_ns=found.mtime_ns, target=found.target)
            return
        try:
            stream, size = self._content(name, base / found.path)
        except FileNotFoundError:  # it was deleted since we looked: then it is not in this home
            self.report.facts["vanished"] = self.report.facts.get("vanished", 0) + 1
            return
        except OSError as error:
            self.report.omit(name, error.strerror or str(error))
            return
        with stream:
            yield Entry(name=name, mode=found.mode, mtime_ns=found.mtime_ns, size=size, opener=lambda: stream)

    def _content(self, name: str, path: Path) -> tuple[BinaryIO, int]:
        copy = self.databases.made.get(name)
        if copy is not None:
            return copy.path.open("rb"), copy.path.stat().st_size
        redacted = self.redacted.get(name)
        if redacted is not None and redacted.content is not None:
            return io.BytesIO(redacted.content), len(redacted.content)
        content = open_steady(self.databases.raw.get(name, path))
        if not content.is_steady:
            self.report.cut_short(name, "it changed each time it was read")
        return content.stream, content.size

    # --- how far it is ------------------------------------------------------------------------------------------

    def tell(self, entry: Entry, size: int) -> None:
        """The writer took some bytes."""
        self.done += size
        self._step(entry.name)

    def _step(self, what: str) -> None:
        if self.progress is not None:
            self.progress(Step(what=what, done=self.done, total=max(self.total, self.done)))
