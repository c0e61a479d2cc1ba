"""Snapshots: their files, finding them, publishing and forgetting them."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from hermes_state.atomic import sync_dir, sync_file
from hermes_state.errors import ArchiveDamaged, HermesStateError, InvalidValue, NotFound
from hermes_state.portability.manifest import time_text
from hermes_state.portability.repository.layout import (
    MAX_JSON_BYTES,
    Repository,
    is_repository,
    open_repository,
    parse_json,
    parse_time,
)
from hermes_state.portability.repository.members import lines, parsed
from hermes_state.portability.steps import reached

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

    from hermes_state.portability.repository.index import Index
    from hermes_state.portability.repository.members import Member

FORMAT = "hermes-state-snapshot"
VERSION = 2
LATEST = "latest"
_STAMP = "%Y%m%dT%H%M%SZ"
_T = TypeVar("_T")
_NAME = re.compile(r"\d{8}T\d{6}Z-(?P<id>[0-9a-f]{64})\.json\Z")
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
# The beginning of an id that is shown, and the least that names a snapshot. [hex digits]
SHOWN, _LEAST = 12, 4


class Listing(NamedTuple):
    """Where the list of members is: content like any other."""

    digest: str
    size: int
    chunks: tuple[bytes, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """What a snapshot's file says.

    Attributes:
        created_at: aware, UTC.
        home, host, user: whose home it is of.
        members, content_bytes, whole: as `writer.Written`; but `whole` is made of the digests that the listing has.
        added_bytes: what it took in the repository, of content that was not there before.
        partial: something is missing in it.
        listing: its members.
        id: SHA-256 of the file; "" before it is published.
    """

    created_at: datetime
    home: str
    host: str
    user: str
    members: int
    content_bytes: int
    added_bytes: int
    partial: bool
    whole: str
    listing: Listing
    id: str = ""

    @property
    def source(self) -> tuple[str, str]:
        """What snapshots of one home have in common."""
        return self.host, self.home

    def dump(self) -> bytes:
        """The file."""
        listing = {"digest": self.listing.digest, "size": self.listing.size}
        listing |= {"chunks": [chunk.hex() for chunk in self.listing.chunks]}
        value = {
            "format": FORMAT,
            "version": VERSION,
            "required": [],
            "created_at": time_text(self.created_at),
            "home": self.home,
            "host": self.host,
            "user": self.user,
            "members": self.members,
            "content_bytes": self.content_bytes,
            "added_bytes": self.added_bytes,
            "partial": self.partial,
            "whole": self.whole,
            "listing": listing,
        }
        raw = json.dumps(value, indent=1).encode() + b"\n"
        if len(raw) > MAX_JSON_BYTES:
            raise InvalidValue("a snapshot with so many members that its listing can't be listed")
        return raw


def parse(raw: bytes, where: str) -> Snapshot:
    """A snapshot's file.

    Raises:
        ArchiveDamaged, ArchiveUnsupported.
    """
    found = parse_json(raw, where, FORMAT, VERSION)
    listing = found.get("listing")
    if not isinstance(listing, dict) or not isinstance(listing.get("chunks"), list):
        raise _damaged(where, "listing")
    return Snapshot(
        created_at=parse_time(found.get("created_at"), where),
        home=_field(found, "home", str, where),
        host=_field(found, "host", str, where),
        user=_field(found, "user", str, where),
        members=_field(found, "members", int, where),
        content_bytes=_field(found, "content_bytes", int, where),
        added_bytes=_field(found, "added_bytes", int, where),
        partial=_field(found, "partial", bool, where),
        whole=_hex(found.get("whole"), "whole", where),
        listing=Listing(
            digest=_hex(listing.get("digest"), "listing", where),
            size=_field(listing, "size", int, where),
            chunks=tuple(bytes.fromhex(_hex(chunk, "listing", where)) for chunk in listing["chunks"]),
        ),
        id=hashlib.sha256(raw).hexdigest(),
    )


def _field(found: dict[str, Any], name: str, kind: type[_T], where: str) -> _T:
    value = found.get(name)
    if type(value) is not kind:
        raise _damaged(where, name)
    return value


def _hex(value: Any, name: str, where: str) -> str:
    if not isinstance(value, str) or not _DIGEST.match(value):
        raise _damaged(where, name)
    return value


def _damaged(where: str, name: str) -> ArchiveDamaged:
    return ArchiveDamaged(f"{where} has no proper {name}", code="snapshot", member=name)


# --- files --------------------------------------------------------------------------------------------------------


def read(path: Path) -> Snapshot:
    """The snapshot of a file, compared with its name.

    Raises:
        ArchiveDamaged, ArchiveUnsupported, OSError.
    """
    with path.open("rb") as file:
        raw = file.read(MAX_JSON_BYTES + 1)
    if hashlib.sha256(raw).hexdigest() != id_in(path):
        raise ArchiveDamaged(f"{path} is not what was written", code="snapshot", member=path.name)
    return parse(raw, str(path))


def id_in(path: Path) -> str:
    """The id that a file's name says; "": it is none of a snapshot."""
    named = _NAME.fullmatch(path.name)
    return named["id"] if named else ""


def files(repository: Repository) -> list[Path]:
    """The files of all snapshots, the oldest first as far as their names say."""
    folder = repository.snapshots
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    return sorted(path for path in map(folder.joinpath, names) if id_in(path))


def readable(repository: Repository) -> tuple[list[Snapshot], list[HermesStateError]]:
    """All snapshots, the oldest first, and why others can't be read."""
    found, failures = [], []
    for path in files(repository):
        try:
            found.append(read(path))
        except HermesStateError as error:
            failures.append(error)
        except FileNotFoundError:  # forgotten meanwhile
            continue
    return sorted(found, key=lambda one: (one.created_at, one.id)), failures


def path_of(repository: Repository, snapshot: Snapshot) -> Path:
    """Where its file is."""
    return repository.snapshots / f"{snapshot.created_at.strftime(_STAMP)}-{snapshot.id}.json"


def publish(repository: Repository, snapshot: Snapshot, stage: Path) -> Path:
    """Give a snapshot its file. All its packs must be on the disk.

    Args:
        stage: a folder of this process in the repository.
    """
    raw = snapshot.dump()
    partial = stage / "snapshot.json"
    descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(raw)
    sync_file(partial)
    reached("snapshot written")
    place = path_of(repository, parse(raw, str(partial)))
    partial.replace(place)
    sync_dir(place.parent)
    return place


def forget(repository: Repository, paths: Iterable[Path]) -> None:
    """Delete the files of snapshots. What only they needed stays until the repository is pruned."""
    for path in paths:
        path.unlink(missing_ok=True)  # two may forget at once
    sync_dir(repository.snapshots)


# --- finding ------------------------------------------------------------------------------------------------------


def find(repository: Repository, ref: str) -> Path:
    """The file of the snapshot that is called so.

    Args:
        ref: an id, the beginning of one, the name of its file, or `latest`: the newest that is whole.

    Raises:
        NotFound: none is.
        InvalidValue: several are; or `latest`, and there are snapshots of several homes.
    """
    if ref == LATEST:
        return path_of(repository, _latest(repository))
    wanted = ref.lower()
    found = [path for path in files(repository) if path.name == ref or id_in(path).startswith(wanted)]
    if not found or (len(wanted) < _LEAST and found[0].name != ref):
        raise NotFound(f"no snapshot in {repository.root} is called {ref!r}", hint=_hint(repository))
    if len(found) > 1:
        raise InvalidValue(f"{ref!r} is the beginning of {len(found)} snapshots' ids", hint="give more of it")
    return found[0]


def _latest(repository: Repository) -> Snapshot:
    found, failures = readable(repository)
    if failures and not found:
        raise failures[0]
    if not found:
        raise NotFound(f"there is no snapshot in {repository.root}", hint="`hermes-state backup --repo DIR` makes one")
    sources = {snapshot.source for snapshot in found}
    if len(sources) > 1:
        names = ", ".join(sorted(f"{home} on {host}" for host, home in sources))
        raise InvalidValue(
            f"{repository.root} holds snapshots of {len(sources)} homes: {names}", hint=_hint(repository)
        )
    return next((snapshot for snapshot in reversed(found) if not snapshot.partial), found[-1])


def _hint(repository: Repository) -> str:
    return f"`hermes-state repo list {repository.root}` shows what there is"


def locate(path: Path) -> tuple[Repository, Path] | None:
    """The snapshot that a path means; None: it means none.

    It may be a repository (its latest snapshot), a snapshot's file in one, or what no file is called: a
    repository with a reference behind it, as in `/mnt/repo/latest`.

    Raises:
        As `find` and `open_repository`.
    """
    if is_repository(path):
        repository = open_repository(path)
        return repository, find(repository, LATEST)
    if id_in(path) and path.is_file() and is_repository(path.parent.parent):
        return open_repository(path.parent.parent), path
    if not os.path.lexists(path) and is_repository(path.parent):
        repository = open_repository(path.parent)
        return repository, find(repository, path.name)
    return None


# --- members ------------------------------------------------------------------------------------------------------


def members(snapshot: Snapshot, index: Index) -> Iterator[Member]:
    """The members of a snapshot, in order.

    Raises:
        ArchiveDamaged: the listing can't be read, or is not of the size it should be.
    """
    return map(parsed, listing_lines(snapshot, index))


def listing_lines(snapshot: Snapshot, index: Index) -> Iterator[bytes]:
    """The same as lines, which take a third of the memory."""
    size = 0

    def pieces() -> Iterator[bytes]:
        nonlocal size
        for chunk in snapshot.listing.chunks:
            piece = index.read(chunk)
            size += len(piece)
            yield piece

    yield from lines(pieces())
    if size != snapshot.listing.size:
        raise ArchiveDamaged(f"the listing of {snapshot.id} is not of its size", code="listing")
