"""Walking a home: nothing is followed, nothing is lost, nothing is hurt."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hermes_state.portability.collect import Collection, Found, collect
from hermes_state.portability.format import Kind
from hermes_state.portability.ownership import holders, own_files
from hermes_state.portability.rules import Rules

if TYPE_CHECKING:
    from pathlib import Path


def by_path(collection: Collection) -> dict[str, Found]:
    return {found.path: found for found in collection.found}


def test_links_are_links(tmp_path: Path) -> None:
    """Links out, in, dangling and in a circle are stored as they are; nothing behind them is read."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text("canary")
    home = tmp_path / "home"
    (home / "skills").mkdir(parents=True)
    links = {
        "skills/link": "../../outside/secret.txt",
        "memories": str(tmp_path / "outside"),
        "a": ".",
        "gone": "nowhere",
    }
    for name, target in links.items():
        (home / name).symlink_to(target)
    found = by_path(collect(home, Rules()))
    assert {path: item.target for path, item in found.items() if item.kind is Kind.LINK} == links
    assert set(found) == {*links, "skills"}


def test_the_home_may_be_a_link(tmp_path: Path) -> None:
    """A home that is a link to a folder is that folder."""
    (tmp_path / "home2").mkdir()
    (tmp_path / "home2/config.yaml").touch()
    (tmp_path / "home").symlink_to("home2")
    assert set(by_path(collect(tmp_path / "home", Rules()))) == {"config.yaml"}


def test_databases_are_told_by_their_header(tmp_path: Path) -> None:
    """A database is one whatever its name; a file called `.db` that is none is an ordinary file."""
    for name in ("state", "x.sqlite3"):
        db = sqlite3.connect(tmp_path / name)
        db.execute("CREATE TABLE t (x)")
        db.close()
    (tmp_path / "bolt.db").write_bytes(os.urandom(4096))
    (tmp_path / "empty.db").touch()
    (tmp_path / "thumbs.db").write_bytes(b"\xd0\xcf\x11\xe0" * 300)
    found = by_path(collect(tmp_path, Rules()))
    assert {path for path, item in found.items() if item.is_database} == {"state", "x.sqlite3"}
    assert set(found) == {"state", "x.sqlite3", "bolt.db", "empty.db", "thumbs.db"}


def test_sidecars_go_with_their_database_only(tmp_path: Path) -> None:
    """The WAL of a database is in its copy; a file that is merely called like one is an ordinary file."""
    db = sqlite3.connect(tmp_path / "a.db")
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("CREATE TABLE t (x)")
    (tmp_path / "b.db").write_text("no database")
    (tmp_path / "b.db-wal").write_text("content")
    (tmp_path / "notes-wal").write_text("content")
    assert (tmp_path / "a.db-wal").exists()
    assert set(by_path(collect(tmp_path, Rules()))) == {"a.db", "b.db", "b.db-wal", "notes-wal"}
    db.close()


def test_a_database_that_is_open_here_keeps_its_locks(tmp_path: Path) -> None:
    """Looking for databases opens none that this process writes to: closing it would drop SQLite's locks."""
    db = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    db.execute("CREATE TABLE t (x)")
    db.execute("BEGIN IMMEDIATE")
    db.execute("INSERT INTO t VALUES (1)")
    assert by_path(collect(tmp_path, Rules()))["a.db"].is_database
    script = (
        "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1], timeout=0)\n"
        "try:\n    db.execute('BEGIN IMMEDIATE')\nexcept sqlite3.OperationalError:\n    print('locked')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "a.db")], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "locked"
    db.execute("COMMIT")
    db.close()


@pytest.mark.parametrize("name", [b"\xff\xfe", "升级".encode(), b"a\nb", b"x" * 255, b"-rf", b"a\\b"])
def test_names(tmp_path: Path, name: bytes) -> None:
    """Any name a file system takes is found with all its bytes."""
    raw = os.path.join(os.fsencode(tmp_path), name)  # noqa: PTH118
    os.close(os.open(raw, os.O_CREAT | os.O_WRONLY))
    assert [os.fsencode(path) for path in by_path(collect(tmp_path, Rules()))] == [name]


def test_modes_and_times(tmp_path: Path) -> None:
    """Odd modes and times before 1970 and after 2100 are reported as they are; empty folders are there."""
    for name, mode, when in (("old", 0o4755, -86400 * 10**9 - 1), ("new", 0o600, 5_000_000_000 * 10**9 + 7)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, ns=(when, when))
        (tmp_path / name).chmod(mode)
    (tmp_path / "empty").mkdir(mode=0o700)
    found = by_path(collect(tmp_path, Rules()))
    assert (found["old"].mode, found["old"].mtime_ns) == (0o4755, -86400 * 10**9 - 1)
    assert (found["new"].mode, found["new"].mtime_ns) == (0o600, 5_000_000_000 * 10**9 + 7)
    assert found["empty"].kind is Kind.DIR


def test_deep_trees(tmp_path: Path) -> None:
    """A home deeper than Python's stack, or than a path may be long, is no crash."""
    descriptor = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=descriptor)
        inner = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    assert len(collect(tmp_path, Rules()).found) >= 1000
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def test_what_can_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that can't be listed is named with the reason, and the rest is found."""
    (tmp_path / "locked").mkdir()
    (tmp_path / "fine").touch()
    real = os.scandir

    def scandir(path: str) -> object:
        if path.endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = collect(tmp_path, Rules())
    assert [(item.path, item.reason) for item in found.unreadable] == [("locked", "Permission denied")]
    assert set(by_path(found)) == {"fine", "locked"}


def test_skip_and_only(tmp_path: Path) -> None:
    """The archive being written is not even mentioned; `only` looks at some names of the top."""
    for name in ("out.tar.zst", "config.yaml", "state"):
        (tmp_path / name).touch()
    found = collect(tmp_path, Rules(), skip=[tmp_path / "out.tar.zst"])
    assert (set(by_path(found)), found.left_out) == ({"config.yaml", "state"}, [])
    assert set(by_path(collect(tmp_path, Rules(), only=["state"]))) == {"state"}


def test_who_holds_a_folder(tmp_path: Path) -> None:
    """A process with a file of the folder open is named, this one too."""
    assert holders(tmp_path) == []
    with (tmp_path / "state.db").open("w") as file:
        status = os.fstat(file.fileno())
        assert (status.st_dev, status.st_ino) in own_files()
        [holder] = holders(tmp_path)
        assert (holder.pid, holder.path) == (os.getpid(), str(tmp_path / "state.db"))
        assert f"process {os.getpid()}" in str(holder)
