"""What differs between archives, or an archive and a home: by digest, databases by their rows; not by time."""

from __future__ import annotations

import enum
import hashlib
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_state.portability.digests import digest_of
from hermes_state.portability.extract import extract
from hermes_state.portability.format import Kind
from hermes_state.portability.reader import open_archive
from hermes_state.portability.rows import say_the_same
from hermes_state.portability.staging import staging

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from hermes_state.portability.crypt import Keys
    from hermes_state.portability.format import Entry, Limits
    from hermes_state.portability.manifest import Manifest

# [bytes] read at a time.
_PIECE = 1024 * 1024


class What(enum.StrEnum):
    """How something differs."""

    ADDED = "added"
    REMOVED = "removed"
    KIND = "kind"
    CONTENT = "content"
    TARGET = "target"
    MODE = "mode"


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """A member, as far as it is compared. Times are not: a file that was only touched holds the same."""

    kind: Kind
    mode: int
    size: int
    digest: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One difference.

    Attributes:
        name: of the member.
        what: how it differs; content before mode when both do.
        before, after: the two states; None: it is not there.
    """

    name: str
    what: What
    before: State | None = None
    after: State | None = None

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {"name": self.name, "change": self.what.value, "before": _json(self.before), "after": _json(self.after)}


def _json(state: State | None) -> dict[str, Any] | None:
    if state is None:
        return None
    return {"kind": state.kind.name.lower(), "mode": state.mode, "bytes": state.size, "digest": state.digest.hex()}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two things that are compared.

    Attributes:
        databases: gives each database among the members as a file, made under the path it is called with if need be.
    """

    states: Mapping[str, State]
    manifest: Manifest | None = None
    databases: Mapping[str, Callable[[Path], Path]] = field(default_factory=dict)


def of_archive(path: Path, *, keys: Keys | None = None, limits: Limits | None = None) -> Side:
    """The members of an archive, proven.

    Raises:
        ArchiveDamaged, ArchiveForeign, ArchiveUnsupported, WrongKey, OSError: as the reader.
    """
    states: dict[str, State] = {}
    with open_archive(path, keys=keys, limits=limits) as archive:
        archive.on_digest = lambda entry, digest: states.update({entry.name: _state(entry, entry.length, digest)})
        for _ in archive.members():
            pass
        roots = archive.manifest.roots
    # Our own members, the manifest and the report, differ by nature.
    kept = {name: state for name, state in states.items() if name.partition("/")[0] in roots}
    described = archive.manifest.facts.get("databases")
    names = [name for name in described if name in kept] if isinstance(described, dict) else []
    databases = {name: partial(_taken_out, path, name, keys=keys, limits=limits) for name in names}
    return Side(kept, archive.manifest, databases)


def _taken_out(archive: Path, name: str, place: Path, *, keys: Keys | None, limits: Limits | None) -> Path:
    extract(archive, name, place, keys=keys, limits=limits)
    return place


def of_entries(entries: Iterable[Entry], copies: Mapping[str, Path] | None = None) -> Side:
    """What a backup would hold: the entries that it would write, read and hashed.

    Args:
        copies: where the databases among them lie as long as the sides are compared.

    Raises:
        OSError: a file can't be read.
    """
    states = dict(_hashed(entries))
    return Side(states, databases={name: partial(_as_it_lies, path) for name, path in (copies or {}).items()})


def _as_it_lies(copy: Path, _: Path) -> Path:
    return copy


def _hashed(entries: Iterable[Entry]) -> Iterator[tuple[str, State]]:
    for entry in entries:
        if entry.opener is None:
            yield entry.name, _state(entry, 0, digest_of(entry))
            continue
        found, size = hashlib.sha256(), 0
        with entry.opener() as content:
            while piece := content.read(_PIECE):
                found.update(piece)
                size += len(piece)
        yield entry.name, _state(entry, size, found.hexdigest())


def _state(entry: Entry, size: int, digest: str) -> State:
    return State(kind=entry.kind, mode=entry.mode, size=size, digest=bytes.fromhex(digest))


def changes(before: Side, after: Side, folder: Path | None = None) -> list[Change]:
    """What is different in `after`, by name.

    Args:
        folder: has room for two databases, which are taken out when their bytes differ; None: where temporary files go.
    """
    found = []
    for name in sorted(before.states.keys() | after.states.keys(), key=_order):
        old, new = before.states.get(name), after.states.get(name)
        what = _what(old, new)
        if what is What.CONTENT and _has_the_same_rows(name, before, after, folder or Path(tempfile.gettempdir())):
            what = _mode(old, new)
        if what is not None:
            found.append(Change(name=name, what=what, before=old, after=new))
    return found


def _has_the_same_rows(name: str, before: Side, after: Side, folder: Path) -> bool:
    one, other = before.databases.get(name), after.databases.get(name)
    if one is None or other is None:
        return False
    with staging(folder.resolve(), "diff") as stage:
        return say_the_same(one(stage / "before"), other(stage / "after"))


def _order(name: str) -> list[str]:
    return name.split("/")


def _what(old: State | None, new: State | None) -> What | None:
    if old is None or new is None:
        return What.ADDED if old is None else What.REMOVED
    if old.kind is not new.kind:
        return What.KIND
    if old.digest != new.digest:
        return What.TARGET if old.kind is Kind.LINK else What.CONTENT
    return _mode(old, new)


def _mode(old: State | None, new: State | None) -> What | None:
    return What.MODE if old and new and old.mode != new.mode else None
