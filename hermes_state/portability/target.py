"""The place a home is restored to: what is there, whether it may be replaced, and how."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_state.atomic import short_name
from hermes_state.errors import HomeNotEmpty, InvalidValue
from hermes_state.portability.collect import LeftOut, collect
from hermes_state.portability.databases import reading
from hermes_state.portability.relocate import FILES
from hermes_state.portability.rules import Rules

if TYPE_CHECKING:
    from hermes_state.portability.journal import Journal

# What only an agent's home has; a folder without any of it is not replaced, whatever was asked for.
_MARKS = (
    "config.yaml",
    ".env",
    "state.db",
    "hermes_state.db",
    "SOUL.md",
    "memories",
    "auth.json",
    "profiles",
    "sessions",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """What a home has.

    Attributes:
        present: names at the top that a backup would take.
        left_out: what no backup holds: it belongs to this machine, and stays.
        opened: folders of that kind of which something may be held; what is left out of them is in `left_out`.
    """

    present: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)


def contents(home: Path) -> Contents:
    """What a home has; nothing when there is none."""
    if not home.is_dir():
        return Contents()
    found = collect(home, Rules())
    present = [item.path for item in found.found if "/" not in item.path]
    sidecars = [f"{name}{suffix}" for name in present for suffix in ("-wal", "-shm", "-journal")]
    present += [name for name in sidecars if os.path.lexists(home / name) and name not in present]
    return Contents(present=present, left_out=found.left_out, opened=found.opened)


def present(home: Path) -> list[str]:
    """Names at the top of a home that a backup would take."""
    return contents(home).present


def check(home: Path, *, force: bool) -> None:
    """Whether a home may be restored there.

    Raises:
        HomeNotEmpty: something is there.
        InvalidValue: that is no folder, or one that is no home.
    """
    if not os.path.lexists(home):
        return
    if not home.is_dir():
        raise InvalidValue(f"{home} is no folder")
    names = set(os.listdir(home))  # noqa: PTH208  names only
    if not names:
        return
    if not force:
        raise HomeNotEmpty(str(home), hint="--force replaces it, and keeps what was there beside it")
    if not names & {*_MARKS}:
        raise HomeNotEmpty(
            str(home), hint="it is no agent's home, so it is not replaced; empty it, or choose another --into"
        )
    if home == Path.home().resolve() or home in Path.home().resolve().parents:
        raise InvalidValue(f"{home} holds your own home folder; it is not replaced")


def stage_folder(home: Path) -> Path:
    """Where the new home is built: beside the old, on its file system; in it where it is a mount point of its own."""
    parent = home.parent
    if not home.exists():
        parent.mkdir(parents=True, exist_ok=True)
        return parent
    on_its_own = home.stat().st_dev != parent.stat().st_dev
    if on_its_own or os.path.ismount(home) or not os.access(parent, os.W_OK):
        return home
    return parent


def can_be_whole(home: Path, stage: Path) -> bool:
    """Whether a home can be replaced in one step."""
    return stage.parent == home.parent and not os.path.ismount(home)


def kept_place(home: Path, stage: Path) -> Path:
    """Where what is replaced is kept."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    if stage.parent == home:
        return home / f".{short_name(home.name)}.replaced-{stamp}"
    return home.parent / f"{short_name(home.name)}.replaced-{stamp}"


def is_settings(path: str) -> bool:
    """Whether a path of a home is a settings file, which even a plan looks into."""
    parts = path.split("/")
    return "/".join(parts[2:] if parts[0] == "profiles" else parts) in FILES


def prove(journal: Journal, databases: list[str]) -> None:
    """Look at the restored databases as their programs will.

    Raises:
        StoreUnavailable, StoreDamaged: one is not what was built; what was replaced is still there.
    """
    for name in databases:
        with reading(journal.home / name, immutable=True) as connection:  # nothing is to be made beside it
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
