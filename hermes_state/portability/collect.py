"""What a home holds: every file, folder and link that goes into a backup, and every one that does not, with its reason.

Nothing is followed: a link is what it says, a folder that is a link is a link. Nothing is opened that could block or be
hurt by it.
"""

from __future__ import annotations

import os
import stat
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from hermes_state.portability import apart
from hermes_state.portability.databases import SIDECARS, begins_as_database
from hermes_state.portability.format import Kind
from hermes_state.portability.ownership import own_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hermes_state.portability.rules import Rule, Rules

# A folder that is left out is counted, for the summary, up to this many files: one with millions must not take hours.
COUNTED_FILES = 20_000
# The smallest page, so the smallest database.
_MIN_DATABASE_BYTES = 512
_SPECIAL = {stat.S_IFSOCK: "socket", stat.S_IFIFO: "named pipe", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}


class Found(NamedTuple):
    """Something to take along.

    Attributes:
        path: relative to the root, with `/`; bytes that are no UTF-8 as `surrogateescape` does.
        kind, mode, mtime_ns, size, target: as in `format.Entry`, when it was looked at.
        is_database: it is to be copied through SQLite.
        seen: size, time of modification, time of change and inode then; empty for what is not looked at so.
        is_known: whoever walked knew a file that looked so, and that it is no database.
    """

    path: str
    kind: Kind
    mode: int
    mtime_ns: int
    size: int = 0
    target: str = ""
    is_database: bool = False
    seen: tuple[int, ...] = ()
    is_known: bool = False


class LeftOut(NamedTuple):
    """Something that a rule leaves out.

    Attributes:
        files, bytes: how much; lower bounds where `is_counted` is false.
        is_runtime: it describes processes of one machine, or is one end of a connection to one.
    """

    path: str
    reason: str
    is_dir: bool = False
    files: int = 1
    bytes: int = 0
    is_counted: bool = True
    is_runtime: bool = False


class Unreadable(NamedTuple):
    """Something that should go in and can't."""

    path: str
    reason: str


_T = TypeVar("_T", Found, LeftOut, Unreadable)


class Collection:
    """What a walk found, folders before what is in them.

    Attributes:
        opened: folders that a rule leaves out, but for something in them; what is left out of them is listed singly.
    """

    __slots__ = ("found", "left_out", "opened", "unreadable")

    def __init__(self) -> None:
        self.found: list[Found] = []
        self.left_out: list[LeftOut] = []
        self.unreadable: list[Unreadable] = []
        self.opened: list[str] = []


class _Listing(NamedTuple):
    entries: list[os.DirEntry[str]]
    names: frozenset[str]


def collect(
    root: Path,
    rules: Rules,
    *,
    skip: Iterable[Path] = (),
    only: Iterable[str] = (),
    is_plain: Callable[[str, tuple[int, ...]], bool] | None = None,
    databases: Iterable[tuple[int, int]] = (),
) -> Collection:
    """Walk a folder.

    Args:
        root: may be a link itself.
        skip: folders and files that are not even to be mentioned, such as the archive that is being written.
        only: top-level names to look at; empty: all.
        is_plain: whether a file with this path that looks so (`Found.seen`) is known to be no database; the others are
            opened to see whether they are.
        databases: device and inode of files that are known to be some.

    Raises:
        OSError: the root itself can't be read.
    """
    walk = _Walk(os.path.realpath(root), rules, {os.path.realpath(path) for path in skip}, frozenset(only))
    walk.is_plain = is_plain
    walk.asked.update(dict.fromkeys(databases, True))
    walk.run()
    return walk.result


class _Walk:
    def __init__(self, root: str, rules: Rules, skip: set[str], only: frozenset[str]) -> None:
        self.root, self.rules, self.skip, self.only = root, rules, skip, only
        self.skip_names = {os.path.basename(path) for path in skip}  # noqa: PTH119  text
        self.result = Collection()
        self.is_plain: Callable[[str, tuple[int, ...]], bool] | None = None
        self.own_files = own_files()
        self.asked: dict[tuple[int, int], bool] = {}

    def run(self) -> None:
        listing = _list(self.root)
        if self.only:
            listing = _Listing([entry for entry in listing.entries if entry.name in self.only], listing.names)
        # A stack of its own, since a home may be deeper than Python's.
        waiting = [("", listing, "")]
        while waiting:
            path, listing, reason = waiting.pop()
            waiting += reversed(self._folder(path, listing, reason))

    def _folder(self, path: str, listing: _Listing, reason: str) -> list[tuple[str, _Listing, str]]:
        """Look at what a folder holds; returns the folders in it that are to be walked.

        Args:
            reason: why a rule leaves the folder out, although another may take something in it; "": none does.
        """
        inner = []
        above = f"{path}/" if path else ""
        ruled = self.rules.names_in(path)
        for entry in listing.entries:
            name = entry.name
            if name in self.skip_names and entry.path in self.skip:
                continue
            if name.endswith(SIDECARS) and self._is_sidecar(entry, listing.names):
                continue
            child = above + name
            try:
                if entry.is_dir(follow_symlinks=False):
                    inner += self._child_folder(child, entry, reason)
                else:
                    rule = None
                    if ruled.may_fit(name):
                        rule = self.rules.decide(child, entry.path, is_dir=False, names=listing.names)
                    status = entry.stat(follow_symlinks=False)
                    if rule is None and not reason and stat.S_ISREG(status.st_mode):
                        self.result.found.append(self._file(child, entry.path, status))
                    else:
                        self._other(child, entry.path, status, rule, reason)
            except FileNotFoundError:  # it went while we looked: then it is not in this home
                continue
            except OSError as error:
                self._cannot(child, error)
        return inner

    def _child_folder(self, path: str, entry: os.DirEntry[str], reason: str) -> list[tuple[str, _Listing, str]]:
        try:
            listing, failure = _list(entry.path), None
        except OSError as error:
            listing, failure = _Listing([], frozenset()), error
        rule = self.rules.decide(path, entry.path, is_dir=True, names=None if failure else listing.names)
        why = reason if rule is None else rule.reason
        if why:
            if self.rules.may_keep_below(path):
                self.result.opened.append(path)
                return [(path, listing, why)]
            self._leave_folder(path, entry.path, why)
            return []
        if failure is not None:
            self._cannot(path, failure)
        if reason:
            self._add_parents(path)
        self.result.found.append(_of_status(path, entry.stat(follow_symlinks=False), Kind.DIR))
        return [(path, listing, "")]

    def _add_parents(self, path: str) -> None:
        """Something is taken from a folder that is left out, so the folders above it are needed."""
        known = {found.path for found in self.result.found if found.kind is Kind.DIR}
        parts = path.split("/")
        for depth in range(1, len(parts)):
            parent = "/".join(parts[:depth])
            if parent not in known:
                status = Path(self.root, parent).lstat()
                self.result.found.append(_of_status(parent, status, Kind.DIR))

    def _file(self, path: str, absolute: str, status: os.stat_result) -> Found:
        seen = _seen(status)
        is_known = self.is_plain is not None and self.is_plain(path, seen)
        is_database = not is_known and self._is_database(absolute, status)
        mode = stat.S_IMODE(status.st_mode)
        return Found(path, Kind.FILE, mode, status.st_mtime_ns, status.st_size, "", is_database, seen, is_known)

    def _other(self, path: str, absolute: str, status: os.stat_result, rule: Rule | None, reason: str) -> None:
        """A link, a file for which there is a rule, or what no backup takes."""
        special = _SPECIAL.get(stat.S_IFMT(status.st_mode))
        why = (reason if rule is None else rule.reason) or special
        if why:
            is_runtime = bool(special or (rule and rule.is_runtime))
            self.result.left_out.append(LeftOut(path=path, reason=why, bytes=status.st_size, is_runtime=is_runtime))
            return
        if reason:
            self._add_parents(path)
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(absolute)  # noqa: PTH115  text, unchanged
            self.result.found.append(_of_status(path, status, Kind.LINK, target=target))
        else:
            self.result.found.append(self._file(path, absolute, status))

    def _is_database(self, path: str, status: os.stat_result) -> bool:
        if status.st_size < _MIN_DATABASE_BYTES:
            return False
        identity = (status.st_dev, status.st_ino)
        if identity not in self.own_files:
            return begins_as_database(path)
        if identity not in self.asked:
            self.asked[identity] = apart.is_database(path)
        return self.asked[identity]

    def _is_sidecar(self, entry: os.DirEntry[str], names: frozenset[str]) -> bool:
        """Whether it is the WAL, journal or lock file of a database, which are in the database's copy."""
        for suffix in SIDECARS:
            if entry.name.endswith(suffix) and entry.name.removesuffix(suffix) in names:
                database = entry.path.removesuffix(suffix)
                try:
                    status = Path(database).lstat()
                    return stat.S_ISREG(status.st_mode) and self._is_database(database, status)
                except OSError:  # gone or unreadable: then the file stands for itself
                    return False
        return False

    def _leave_folder(self, path: str, absolute: str, reason: str) -> None:
        files, size, is_counted = _count(absolute)
        self.result.left_out.append(
            LeftOut(path=path, reason=reason, is_dir=True, files=files, bytes=size, is_counted=is_counted)
        )

    def _cannot(self, path: str, error: OSError) -> None:
        self.result.unreadable.append(Unreadable(path=path, reason=error.strerror or str(error)))


def _of_status(path: str, status: os.stat_result, kind: Kind, *, target: str = "") -> Found:
    """A folder or link."""
    mode = 0o777 if kind is Kind.LINK else stat.S_IMODE(status.st_mode)
    return Found(path, kind, mode, status.st_mtime_ns, target=target)


def _seen(status: os.stat_result) -> tuple[int, ...]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def folder(path: str, place: Path) -> Found:
    """A folder as it is, under a path of its own."""
    return _of_status(path, place.lstat(), Kind.DIR)


def beside(root: Path, database: Found) -> list[Found]:
    """What SQLite keeps beside a database: part of it where it can't be copied through SQLite."""
    names = [f"{database.path}{suffix}" for suffix in SIDECARS if suffix != "-shm"]
    found = [(name, (root / name).lstat()) for name in names if (root / name).is_file()]
    return [
        Found(name, Kind.FILE, stat.S_IMODE(status.st_mode), status.st_mtime_ns, status.st_size, seen=_seen(status))
        for name, status in found
    ]


def moved(items: Iterable[_T], prefix: str) -> list[_T]:
    """Items as they are below another folder."""
    return [item._replace(path=f"{prefix}{item.path}") for item in items]


def _list(path: str) -> _Listing:
    with os.scandir(path) as entries:
        found = [*entries]
    names = [entry.name for entry in found]
    # As bytes; for ASCII, which most names are, the order is the same.
    found.sort(key=attrgetter("name") if "".join(names).isascii() else lambda entry: os.fsencode(entry.name))
    return _Listing(found, frozenset(names))


def _count(folder: str) -> tuple[int, int, bool]:
    """Files and bytes in a folder that is left out, and whether all were counted."""
    files = size = 0
    waiting = [folder]
    while waiting:
        try:
            listing = _list(waiting.pop())
        except OSError:  # it is left out, so nothing is lost; the count is a lower bound
            continue
        for entry in listing.entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
                continue
            files += 1
            try:
                size += entry.stat(follow_symlinks=False).st_size
            except OSError:  # gone meanwhile
                continue
        if files >= COUNTED_FILES:
            return files, size, not waiting
    return files, size, True
