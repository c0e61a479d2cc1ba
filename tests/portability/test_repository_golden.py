"""Repositories of every format version there has been stay readable: `golden/` is kept for ever."""

from __future__ import annotations

import random
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest
from repositories import assert_sound

from hermes_state.portability.extract import extract
from hermes_state.portability.repository.backup import back_up
from hermes_state.portability.repository.index import Index
from hermes_state.portability.repository.layout import VERSION
from hermes_state.portability.repository.snapshots import VERSION as SNAPSHOT_VERSION
from hermes_state.portability.verify import Verdict, verify

GOLDEN = Path(__file__).parent / "golden"
# The digests that name the content of each one's two snapshots, by their ids, as they were when it was made.
SNAPSHOTS = {
    1: {
        "68c6bb2d9bb88ec7": "1e8cece3cc9875632bf364f58553b69f3dba6050787b7826f070bceb4939d5a8",
        "fe4b21c10b4f8a64": "63f797fa2302d82048857cf1f5252fa8e5d75f1c98b17a4ff42455a389c1159f",
    },
    2: {
        "74c9664f94f063e5": "d2d0ac7959b9ecd504fe904c05a4e7b5081ae99f3ae501ef0616ef4e9387ed51",
        "6bc713a0a800e79e": "9c3902e0949e30ec3aab817d211d3585652342e772d4f6a8f5bd29c9d40a59f6",
    },
}


@pytest.fixture(params=SNAPSHOTS)
def version(request: pytest.FixtureRequest) -> int:
    """A version there has been."""
    return int(request.param)


@pytest.fixture
def root(tmp_path: Path, version: int) -> Path:
    """A copy of its repository."""
    with tarfile.open(GOLDEN / f"repository-{version}.tar") as tar:
        tar.extractall(tmp_path, filter="data")
    return tmp_path / "repository"


def test_there_is_one_for_every_version() -> None:
    """A new version comes with its golden repository."""
    assert {*SNAPSHOTS} == {*range(1, max(VERSION, SNAPSHOT_VERSION) + 1)}


def test_a_repository_of_that_version_reads_the_same(root: Path, version: int, tmp_path: Path) -> None:
    """With its differences, which are stored in it."""
    assert_sound(root)
    for snapshot, whole in SNAPSHOTS[version].items():
        assert verify(root / snapshot, expect=whole).verdict is Verdict.SOUND
    with Index.of(root / "packs") as index:
        assert any(place.stored.bases for place in index.places.values())
    log = random.Random(1).randbytes(20_000).hex().encode()
    for snapshot, expected in zip(SNAPSHOTS[version], (log, log[:9000] + b"more\n" + log[9000:]), strict=True):
        extract(root / snapshot, "log.txt", tmp_path / snapshot)
        assert (tmp_path / snapshot).read_bytes() == expected


def test_a_store_in_it_comes_back(tmp_path: Path) -> None:
    """Since version 2 a store is kept by its pages, and of the second snapshot only what changed was read."""
    with tarfile.open(GOLDEN / "repository-2.tar") as tar:
        tar.extractall(tmp_path, filter="data")
    for snapshot, last, changed in zip(SNAPSHOTS[2], (300, 320), ("", " later"), strict=True):
        extract(tmp_path / "repository" / snapshot, "state.db", tmp_path / snapshot)
        with closing(sqlite3.connect(tmp_path / snapshot)) as db:
            found = db.execute("SELECT id, content FROM messages ORDER BY id").fetchall()
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert len(found) == found[-1][0] == last
        assert found[249] == (250, f"upgrade redis to 7.249 升级数据库{changed}")


def test_a_repository_of_that_version_is_added_to(root: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/config.yaml").write_text("model: {}\n")
    back_up(tmp_path / "home", root)
    assert_sound(root)
