"""What lies where in a repository, and the file that says that it is one."""

from __future__ import annotations

import errno
import json
import os
import uuid
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_state.atomic import sync_dir
from hermes_state.errors import (
    ArchiveDamaged,
    ArchiveForeign,
    ArchiveUnsupported,
    Conflict,
    DiskFull,
    InvalidValue,
    NotFound,
)
from hermes_state.portability.appearing import appearing
from hermes_state.portability.manifest import load, time_of, time_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FORMAT = "hermes-state-repository"
VERSION = 1
MARK, LOCK, PACKS, SNAPSHOTS = "repository.json", "lock", "packs", "snapshots"
# Work in progress lies in `.backup.….partial` and `.prune.….partial`.
STAGES = ("backup", "prune")
# [bytes] of `repository.json` and of a snapshot's file; real ones have some hundred.
MAX_JSON_BYTES = 1024 * 1024


class Repository(NamedTuple):
    """A repository that is there, and of a version that we know.

    Attributes:
        root: its folder.
        id: 32 hex digits.
    """

    root: Path
    id: str

    @property
    def packs(self) -> Path:
        """The folder of packs."""
        return self.root / PACKS

    @property
    def snapshots(self) -> Path:
        """The folder of snapshots."""
        return self.root / SNAPSHOTS

    @property
    def lock(self) -> Path:
        """The file that is locked."""
        return self.root / LOCK


@contextmanager
def full_disk_told(root: Path) -> Iterator[None]:
    """Turn the system's error of a full disk into ours, which says that nothing is lost."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise DiskFull(
            f"no space is left in {root}; all snapshots in it are as they were",
            hint="free some space, or forget old snapshots: hermes-state repo prune; then try again",
        ) from error


def is_repository(path: Path) -> bool:
    """Whether a folder says that it is a repository."""
    return (path / MARK).is_file()


def open_repository(root: Path) -> Repository:
    """Open a repository.

    Raises:
        NotFound: there is nothing.
        ArchiveForeign: there is something else.
        ArchiveDamaged, ArchiveUnsupported: it can't be used as it is.
    """
    if not is_repository(root):
        if not root.exists():
            raise NotFound(f"there is no repository at {root}", hint="`hermes-state backup --repo DIR` makes one")
        raise ArchiveForeign(str(root), "a folder without a repository in it")
    found = read_json(root / MARK, FORMAT, VERSION)
    repository_id = found.get("repository_id")
    if not isinstance(repository_id, str) or len(repository_id) != 32:
        raise ArchiveDamaged(f"{root / MARK} has no repository_id", code="repository", member=MARK)
    return Repository(root, repository_id)


def make_repository(root: Path) -> Repository:
    """Open a repository, or make it in a folder that is empty or not there. Two that do so at once get the same one.

    Raises:
        InvalidValue: there is something else in the folder.
        As `open_repository`.
    """
    if is_repository(root):
        return open_repository(root)
    if root.exists() and (not root.is_dir() or not _is_fresh(root)):
        raise InvalidValue(f"{root} is not empty and no repository", hint="give a folder that is not there yet")
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in (PACKS, SNAPSHOTS):
        (root / name).mkdir(mode=0o700, exist_ok=True)
    now = time_text(datetime.now(UTC))
    value = {"format": FORMAT, "version": VERSION, "required": [], "repository_id": uuid.uuid4().hex, "created_at": now}
    try:
        with appearing(root / MARK, replace=False) as (file, _):
            file.write(json.dumps(value).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except Conflict:  # another process was quicker
        return open_repository(root)
    sync_dir(root)
    sync_dir(root.resolve().parent)
    return open_repository(root)


def _is_fresh(root: Path) -> bool:
    """Whether a folder holds nothing, or no more than a process that was killed while it made a repository left."""
    ours = {PACKS, SNAPSHOTS, LOCK}
    names = [path.name for path in root.iterdir()]
    return all(name in ours or name.startswith(f".{MARK}.") for name in names) and not any(
        any((root / name).iterdir()) for name in (PACKS, SNAPSHOTS) if (root / name).is_dir()
    )


def read_json(path: Path, expected: str, version: int) -> dict[str, Any]:
    """A small JSON file of a repository.

    Args:
        expected: the format it must name.
        version: the highest that we know.

    Raises:
        ArchiveDamaged, ArchiveUnsupported, OSError.
    """
    with path.open("rb") as file:
        raw = file.read(MAX_JSON_BYTES + 1)
    return parse_json(raw, str(path), expected, version)


def parse_json(raw: bytes, where: str, expected: str, version: int) -> dict[str, Any]:
    """As `read_json`, of bytes that were read."""
    if len(raw) > MAX_JSON_BYTES:
        raise ArchiveDamaged(f"{where} is larger than {MAX_JSON_BYTES} bytes", code="json", member=where)
    found = load(raw, where)
    if found.get("format") != expected:
        raise ArchiveDamaged(f"{where} says its format is {found.get('format')!r}", code="json", member=where)
    _check_version(found, where, version)
    return found


def _check_version(found: Mapping[str, Any], where: str, version: int) -> None:
    given, required = found.get("version"), found.get("required")
    if type(given) is not int or given < 1 or not isinstance(required, list):
        raise ArchiveDamaged(f"{where} has no version", code="json", member=where)
    if given > version:
        raise ArchiveUnsupported(f"{where} has version {given}; this program reads up to {version}")
    if required:
        names = ", ".join(repr(name) for name in required)
        raise ArchiveUnsupported(f"{where} needs what this program doesn't know: {names}")


def parse_time(text: object, where: str) -> datetime:
    """As in manifests.

    Raises:
        ArchiveDamaged: it is none.
    """
    try:
        return time_of(str(text))
    except ValueError as error:
        raise ArchiveDamaged(f"{where} has no time: {text!r}", code="json", member=where) from error
