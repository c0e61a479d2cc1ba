"""Repositories for tests: small homes, what a snapshot holds, hostile snapshots."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hermes_state.portability.digests import Tally
from hermes_state.portability.format import OWN_MEMBERS, Entry, Kind
from hermes_state.portability.manifest import Manifest, Report, dump
from hermes_state.portability.reader import open_archive
from hermes_state.portability.repository import snapshots
from hermes_state.portability.repository.checking import Checked, check
from hermes_state.portability.repository.index import Index
from hermes_state.portability.repository.layout import Repository, make_repository, open_repository
from hermes_state.portability.repository.members import Member, line_of
from hermes_state.portability.repository.snapshots import Listing, Snapshot
from hermes_state.portability.repository.storing import ChunkStore
from hermes_state.portability.verify import Verdict, Verification, verify

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

OWN = ("manifest.json", "report.json")
assert len(OWN) == OWN_MEMBERS - 1


def small_home(home: Path, seed: int = 1) -> Path:
    """Settings, a database, something in several chunks, odd names."""
    home.mkdir(parents=True)
    make = random.Random(seed).randbytes
    (home / "config.yaml").write_text("model: {}\n")
    (home / "logs").mkdir()
    (home / "logs/agent.log").write_bytes(make(700_000))
    (home / "empty").mkdir()
    (home / "zero").touch()
    (home / "名前 🙂 שלום").write_text("升级")
    (home / "link").symlink_to("config.yaml")
    with closing(sqlite3.connect(home / "facts.db")) as db:
        db.execute("CREATE TABLE facts (id INTEGER PRIMARY KEY, text TEXT)")
        db.executemany("INSERT INTO facts (text) VALUES (?)", ((make(150).hex(),) for _ in range(2000)))
        db.commit()
    return home


def noise_file(path: Path, size: int, seed: int = 3) -> None:
    """A file that does not compress."""
    path.write_bytes(random.Random(seed).randbytes(size))


def contents(path: Path) -> dict[str, tuple[Any, ...]]:
    """What an archive or a snapshot holds, proven; without what it says of itself."""
    found: dict[str, tuple[Any, ...]] = {}
    with open_archive(path) as archive:
        archive.on_digest = lambda entry, digest: found.update(
            {entry.name: (entry.kind, entry.mode, entry.mtime_ns, entry.size, entry.target, digest)}
        )
        for _ in archive.members():
            pass
    return {name: value for name, value in found.items() if name not in OWN}


def checked(root: Path) -> Checked:
    """A full check."""
    return check(open_repository(root), read_data=True)


def assert_sound(root: Path) -> None:
    """Every snapshot of a repository is whole, by two ways."""
    found = checked(root)
    assert found.findings.listed == []
    for path in snapshots.files(open_repository(root)):
        result = verify(path)
        assert (result.verdict, result.findings.listed) == (Verdict.SOUND, [])


def all_snapshots(root: Path) -> list[Snapshot]:
    """The oldest first."""
    found, failures = snapshots.readable(open_repository(root))
    assert failures == []
    return found


def file(name: str, content: bytes = b"") -> tuple[Entry, bytes]:
    """A file, as `forge` takes it."""
    return Entry(name=name, mode=0o600, size=len(content)), content


def folder(name: str) -> tuple[Entry, bytes]:
    """A folder, as `forge` takes it."""
    return Entry(name=name, kind=Kind.DIR, mode=0o700), b""


def link(name: str, target: str) -> tuple[Entry, bytes]:
    """A link, as `forge` takes it."""
    return Entry(name=name, kind=Kind.LINK, mode=0o777, target=target), b""


def forge(root: Path, given: Iterable[tuple[Entry, bytes]], **changes: Any) -> Path:
    """A snapshot that no writer of ours would make, with all digests right.

    Args:
        changes: `line` (a function of a member's line), or fields of the snapshot.
    """
    repository = make_repository(root)
    change_line = changes.pop("line", lambda same: same)
    stage = root / "forge"
    stage.mkdir()
    tally, listing = Tally(), io.BytesIO()
    own = {"manifest.json": dump(Manifest(roots={"home": "/home/ann"}).as_json()), "report.json": Report().dump()}
    first, last = (file(name, raw) for name, raw in own.items())
    with Index.of(repository.packs) as index, ChunkStore(repository, index, stage, level=1) as store:
        for entry, content in [first, *given, last]:
            member = _stored(store, entry, content)
            tally.add(member.entry, member.digest)
            listing.write(change_line(line_of(member)))
        listing.seek(0)
        stored = store.put(listing.read)
        store.finish()
    made = Snapshot(
        created_at=Manifest(roots={"home": "/"}).created_at,
        home="/home/ann",
        host="test",
        user="ann",
        members=tally.entries,
        content_bytes=tally.content_bytes,
        added_bytes=0,
        partial=False,
        whole=tally.whole,
        listing=Listing(digest=stored.digest, size=stored.size, chunks=stored.chunks),
    )
    path = snapshots.publish(repository, dataclasses.replace(made, **changes), stage)
    (stage).rmdir()
    return path


def _stored(store: ChunkStore, entry: Entry, content: bytes) -> Member:
    if entry.kind is Kind.FILE:
        stored = store.put(io.BytesIO(content).read)
        return Member(entry=entry, digest=stored.digest, chunks=stored.chunks)
    return Member(entry=entry, digest=hashlib.sha256(entry.target.encode()).hexdigest())


def verdict(path: Path) -> tuple[Verdict, list[str]]:
    """What `verify` says, with the codes of its findings."""
    result: Verification = verify(path)
    return result.verdict, [finding.code for finding in result.findings.listed]


def repository_of(root: Path) -> Repository:
    """An open repository."""
    return open_repository(root)
