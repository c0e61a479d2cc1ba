"""A folder of backups: names that never collide, a link to the latest, and which of them stay."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_state.errors import InvalidValue
from hermes_state.portability.retention import (
    Backup,
    Keep,
    backups_in,
    label_of,
    new_path,
    point_latest,
    prune,
    superfluous,
)

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 29, 22, 0, tzinfo=UTC)


def fill(folder: Path, label: str, hours: list[int]) -> None:
    for ago in hours:
        new_path(folder, label, encrypted=False, now=NOW - timedelta(hours=ago)).touch()


def ages(folder: Path, label: str) -> list[int]:
    return [int((NOW - backup.made_at).total_seconds() // 3600) for backup in backups_in(folder, label)]


def test_names_in_one_second(tmp_path: Path) -> None:
    """Two backups of one second have two names, and the second is the newer one."""
    first = new_path(tmp_path, "h", encrypted=False, now=NOW)
    first.touch()
    second = new_path(tmp_path, "h", encrypted=False, now=NOW)
    second.touch()
    assert second.name == "hermes-backup-h-20261129T220000Z-2.tar.zst"
    assert [backup.path for backup in backups_in(tmp_path, "h")] == [second, first]


def test_the_newest_stay(tmp_path: Path) -> None:
    """`last` keeps so many, and nothing of another label or name is touched."""
    fill(tmp_path, "h", [0, 1, 2, 3])
    fill(tmp_path, "h-2", [50])
    (tmp_path / "thesis.tar.zst").touch()
    (tmp_path / "hermes-backup-h-20200101T000000Z.tar.zst.txt").touch()
    prune(tmp_path, "h", Keep(last=2))
    assert ages(tmp_path, "h") == [0, 1]
    assert ages(tmp_path, "h-2") == [50]
    assert (tmp_path / "thesis.tar.zst").exists()
    assert len(list(tmp_path.iterdir())) == 5


def test_days_weeks_and_months(tmp_path: Path) -> None:
    """Of each of the last days, weeks and months that have any, the newest stays."""
    fill(tmp_path, "h", [0, 1, 25, 26, 24 * 8, 24 * 9, 24 * 40, 24 * 100])
    prune(tmp_path, "h", Keep(daily=2, weekly=2, monthly=3))
    assert ages(tmp_path, "h") == [0, 25, 24 * 8, 24 * 40, 24 * 100]


def test_nothing_asked_nothing_deleted(tmp_path: Path) -> None:
    """Without numbers every backup stays."""
    fill(tmp_path, "h", [0, 1000])
    assert prune(tmp_path, "h", Keep()) == []


@given(
    st.lists(st.integers(0, 20_000), max_size=40),
    st.builds(Keep, **{name: st.integers(0, 5) for name in ("last", "daily", "weekly", "monthly")}),
)
def test_the_newest_always_stays(hours: list[int], keep: Keep) -> None:
    """Whatever is asked for, the newest stays, and at most as many as all numbers together, or one."""
    from pathlib import Path

    backups = [
        Backup(path=Path(f"{number}-{ago}"), made_at=NOW - timedelta(hours=ago))
        for number, ago in enumerate(sorted(hours))
    ]
    gone = superfluous(backups, keep)
    if backups:
        assert backups[0] not in gone
    if not keep.is_everything:
        assert len(backups) - len(gone) <= max(1, keep.last) + keep.daily + keep.weekly + keep.monthly
        assert superfluous([backup for backup in backups if backup not in gone], keep) == []


def test_negative_numbers() -> None:
    """A number below zero is refused."""
    with pytest.raises(InvalidValue):
        Keep(daily=-1)


def test_latest(tmp_path: Path) -> None:
    """The link names the latest, also after it was there before, and counts as no backup."""
    fill(tmp_path, "h", [1, 0])
    for backup in reversed(backups_in(tmp_path, "h")):
        link = point_latest(backup.path, "h")
    assert link.readlink().name == "hermes-backup-h-20261129T220000Z.tar.zst"
    assert len(backups_in(tmp_path, "h")) == 2


def test_labels(tmp_path: Path) -> None:
    """A label holds nothing that a path would read otherwise."""
    assert label_of(tmp_path / ".hermes") == "hermes"
    assert label_of(tmp_path / "a b..") == "a-b"
    assert label_of(tmp_path / "...") == "home"
