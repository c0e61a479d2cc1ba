"""A folder of backups: how they are called, which is the latest, and which of them stay."""

from __future__ import annotations

import os
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hermes_state.atomic import sync_dir
from hermes_state.errors import InvalidValue
from hermes_state.portability.format import SUFFIX, SUFFIX_ENCRYPTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

_STAMP = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"hermes-backup-(?P<label>.+)-(?P<stamp>\d{8}T\d{6}Z)(?:-(?P<number>\d+))?\.tar\.zst(?:\.age)?")
_UNFIT = re.compile(r"[^\w.-]+")
# Periods by what their dates have in common.
_PERIODS: dict[str, Callable[[datetime], object]] = {
    "daily": lambda when: when.date(),
    "weekly": lambda when: when.isocalendar()[:2],
    "monthly": lambda when: (when.year, when.month),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Keep:
    """Which backups stay: those that any of the numbers asks for; all when none is given.

    Attributes:
        last: the newest so many.
        daily, weekly, monthly: the newest of each of the last so many days, weeks, months that have one.
    """

    last: int = 0
    daily: int = 0
    weekly: int = 0
    monthly: int = 0

    def __post_init__(self) -> None:
        if min(self.last, self.daily, self.weekly, self.monthly) < 0:
            raise InvalidValue("a number of backups to keep can't be negative")

    @property
    def is_everything(self) -> bool:
        """Whether nothing is ever deleted."""
        return not (self.last or self.daily or self.weekly or self.monthly)


@dataclass(frozen=True, kw_only=True, slots=True)
class Backup:
    """A backup in a folder, as its name says."""

    path: Path
    made_at: datetime
    number: int = 1


def label_of(home: Path) -> str:
    """What backups of a home are called by: the name of its folder, without what a file name should not have."""
    return _UNFIT.sub("-", home.name).strip(".-") or "home"


def new_path(folder: Path, label: str, *, encrypted: bool, now: datetime | None = None) -> Path:
    """A name that nothing in the folder has."""
    stamp = (now or datetime.now(UTC)).astimezone(UTC).strftime(_STAMP)
    suffix = SUFFIX_ENCRYPTED if encrypted else SUFFIX
    path = folder / f"hermes-backup-{label}-{stamp}{suffix}"
    number = 1
    while os.path.lexists(path):
        number += 1
        path = folder / f"hermes-backup-{label}-{stamp}-{number}{suffix}"
    return path


def backups_in(folder: Path, label: str) -> list[Backup]:
    """The backups of a label, the newest first."""
    found = []
    for path in folder.iterdir():
        named = _NAME.fullmatch(path.name)
        if named and named["label"] == label and path.is_file() and not path.is_symlink():
            made_at = datetime.strptime(named["stamp"], _STAMP).replace(tzinfo=UTC)
            found.append(Backup(path=path, made_at=made_at, number=int(named["number"] or 1)))
    return sorted(found, key=lambda backup: (backup.made_at, backup.number), reverse=True)


def superfluous(backups: Iterable[Backup], keep: Keep) -> list[Backup]:
    """Those that no number asks for. The newest always stays.

    Args:
        backups: the newest first.
    """
    backups = list(backups)
    if keep.is_everything or not backups:
        return []
    kept = {backup.path for backup in backups[: max(1, keep.last)]}
    for name, period_of in _PERIODS.items():
        seen: set[object] = set()
        for backup in backups:
            period = period_of(backup.made_at)
            if len(seen) < getattr(keep, name) and period not in seen:
                seen.add(period)
                kept.add(backup.path)
    return [backup for backup in backups if backup.path not in kept]


def prune(folder: Path, label: str, keep: Keep) -> list[Path]:
    """Delete the backups of a label that need not stay; returns them."""
    gone = [backup.path for backup in superfluous(backups_in(folder, label), keep)]
    for path in gone:
        path.unlink(missing_ok=True)  # two runs may prune at once
    if gone:
        sync_dir(folder)
    return gone


def point_latest(path: Path, label: str) -> Path:
    """Make `hermes-backup-LABEL-latest.tar.zst` a link to a backup, in one step."""
    suffix = SUFFIX_ENCRYPTED if path.name.endswith(SUFFIX_ENCRYPTED) else SUFFIX
    link = path.with_name(f"hermes-backup-{label}-latest{suffix}")
    fresh = path.with_name(f".{link.name}.{secrets.token_hex(4)}.partial")
    fresh.symlink_to(path.name)
    fresh.replace(link)
    return link
