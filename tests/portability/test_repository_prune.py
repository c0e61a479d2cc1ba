"""Pruning keeps what it must and frees the rest; several who work at once do no harm."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from repositories import all_snapshots, assert_sound, checked, contents, repository_of, small_home

from hermes_state.portability.repository import packs, pruning, snapshots
from hermes_state.portability.repository.backup import back_up
from hermes_state.portability.repository.pruning import prune, unneeded
from hermes_state.portability.repository.snapshots import Listing, Snapshot
from hermes_state.portability.retention import Keep

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

START = datetime(2026, 1, 1, tzinfo=UTC)


def snapshot(hours: int, home: str = "/home/ann", *, partial: bool = False, number: int = 0) -> Snapshot:
    return Snapshot(
        created_at=START + timedelta(hours=hours),
        home=home,
        host="laptop",
        user="ann",
        members=1,
        content_bytes=1,
        added_bytes=1,
        partial=partial,
        whole="0" * 64,
        listing=Listing(digest="0" * 64, size=0, chunks=()),
        id=f"{home}-{hours}-{number}",
    )


SNAPSHOTS = st.lists(
    st.builds(snapshot, st.integers(0, 3000), st.sampled_from(["/a", "/b"]), partial=st.booleans()),
    max_size=30,
    unique_by=lambda one: one.id,
).map(lambda found: sorted(found, key=lambda one: (one.created_at, one.id)))

_FEW = st.integers(0, 4)
KEEPS = st.builds(Keep, last=_FEW, daily=_FEW, weekly=_FEW, monthly=_FEW)


@given(SNAPSHOTS, KEEPS)
def test_what_is_forgotten(found: list[Snapshot], keep: Keep) -> None:
    """Of each home its newest whole snapshot stays, and what any number asks for; nothing does without a number."""
    gone = unneeded(found, keep)
    assert all(one in found for one in gone)
    if keep.is_everything:
        assert gone == []
    for home in ("/a", "/b"):
        whole = [one for one in found if one.home == home and not one.partial]
        stays = [one for one in whole if one not in gone]
        assert stays[-1:] == whole[-1:]
        assert len(stays) >= min(keep.last, len(whole))
        days = {one.created_at.date() for one in whole}
        assert len({one.created_at.date() for one in stays}) >= min(keep.daily, len(days))
        assert not any(one in gone for one in found if one.home == home and one.partial and not whole)


@settings(max_examples=6)
@given(st.data())
def test_what_stays_is_whole_and_the_rest_is_freed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever was changed between the backups, and whichever of them are forgotten."""
    folder = tmp_path_factory.mktemp("prune")
    home, root, rnd = small_home(folder / "home"), folder / "repo", random.Random(data.draw(st.integers(0, 99)))
    for _ in range(4):
        (home / f"{rnd.randrange(3)}.bin").write_bytes(rnd.randbytes(rnd.randrange(1, 300_000)))
        back_up(home, root)
    before = {one.id: contents(root / one.id) for one in all_snapshots(root)}
    gone = data.draw(st.sets(st.sampled_from(sorted(before)), max_size=3))
    repository = repository_of(root)
    snapshots.forget(repository, [path for path in snapshots.files(repository) if snapshots.id_in(path) in gone])
    told = prune(repository, Keep(), dry_run=True)
    assert {one.id for one in told.kept} == before.keys() - gone
    sizes = sum(path.stat().st_size for path in packs.packs_in(repository.packs))
    prune(repository, Keep())
    after = sum(path.stat().st_size for path in packs.packs_in(repository.packs))
    assert sizes - after >= told.freed_bytes * 0.9 - 2000
    assert {one.id: contents(root / one.id) for one in all_snapshots(root)} == {
        name: found for name, found in before.items() if name not in gone
    }
    assert_sound(root)
    assert checked(root).unneeded_bytes <= after * (1 - pruning._WORTH_KEEPING) + 1


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    home, root = small_home(tmp_path / "home"), tmp_path / "repo"
    for text in ("one", "two"):
        (home / "config.yaml").write_text(text)
        back_up(home, root)
    before = sorted(path.relative_to(root) for path in root.rglob("*"))
    result = prune(repository_of(root), Keep(last=1), dry_run=True)
    assert len(result.forgotten) == len(result.kept) == 1
    assert sorted(path.relative_to(root) for path in root.rglob("*")) == before


def test_small_packs_are_put_together(tmp_path: Path) -> None:
    """Each daily backup makes one."""
    home, root = small_home(tmp_path / "home"), tmp_path / "repo"
    for number in range(9):
        (home / "config.yaml").write_text(f"{number}")
        back_up(home, root)
    before = {one.id: contents(root / one.id) for one in all_snapshots(root)}
    prune(repository_of(root), Keep())
    assert len(list(packs.packs_in(root / "packs"))) == 1
    assert {one.id: contents(root / one.id) for one in all_snapshots(root)} == before


def test_differences_keep_what_they_differ_from(tmp_path: Path) -> None:
    """The first snapshot goes; what the others were stored as a difference to stays."""
    home, root = small_home(tmp_path / "home"), tmp_path / "repo"
    content = bytearray(random.Random(5).randbytes(900_000))
    for number in range(4):
        content[200_000 * number] ^= 1
        (home / "log.bin").write_bytes(content)
        saved = back_up(home, root)
    assert saved.backup.written.size < 20_000
    prune(repository_of(root), Keep(last=1))
    assert contents(root / "latest")["home/log.bin"][3] == 900_000
    assert_sound(root)


_WORKER = """
import sys
from pathlib import Path
from hermes_state.portability.repository import backup, layout, pruning
from hermes_state.portability.retention import Keep
do, root, home = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
for number in range(3):
    if do == "backup":
        (home / "config.yaml").write_text(f"{number}")
        backup.back_up(home, root)
    elif layout.is_repository(root):
        pruning.prune(layout.open_repository(root), Keep(last=2))
"""


def test_two_homes_and_one_who_prunes_at_once(tmp_path: Path) -> None:
    """Into a repository that is not there yet."""
    homes = [small_home(tmp_path / name, seed) for seed, name in enumerate(("家", "בית"))]
    root = tmp_path / "repo"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _WORKER, do, root, home], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
        )
        for do, home in (("backup", homes[0]), ("backup", homes[1]), ("backup", homes[1]), ("prune", homes[0]))
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"ready\n"
    for worker in workers:
        worker.communicate(b"go\n")
    assert [worker.returncode for worker in workers] == [0, 0, 0, 0]
    assert_sound(root)
    assert {one.home for one in all_snapshots(root)} == {str(home) for home in homes}
    assert {path.name for path in root.iterdir()} == {"lock", "packs", "repository.json", "snapshots"}
