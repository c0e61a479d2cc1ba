"""Restores into a home that were cut off, or are at work: whether there are any. `recover` deals with them."""

from __future__ import annotations

import os
from pathlib import Path

from hermes_state.atomic import short_name
from hermes_state.errors import HomeInUse

# How the name of a stage ends, and the file in it that its process holds.
SUFFIX = ".restore"
LOCK = "lock"


def stages_of(home: Path) -> list[Path]:
    """The stages of restores into a home, running or interrupted."""
    real = Path(os.path.realpath(home))
    return [
        path
        for folder in (real.parent, real)
        if folder.is_dir()
        for path in sorted(folder.iterdir())
        if path.name.startswith(f".{short_name(real.name)}.") and path.name.endswith(SUFFIX) and _is_stage(path)
    ]


def _is_stage(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and ((path / LOCK).exists() or not any(path.iterdir()))


def refuse_interrupted(home: Path) -> None:
    """Refuse to read or write a home that may be of two minds.

    Raises:
        HomeInUse: a restore was cut off while parts of it were being put in place, or is at work.
    """
    if is_interrupted(home):
        raise HomeInUse(
            f"a restore into {home} is at work or was cut off, so it may be of two minds",
            hint="wait for it, or finish it: hermes-state restore --recover",
        )


def is_interrupted(home: Path) -> bool:
    """Whether a restore was cut off while parts of the home were being put in place."""
    return any(_touched_it(stage) for stage in stages_of(home))


def _touched_it(stage: Path) -> bool:
    if not (stage / "journal.json").exists():
        return False
    from hermes_state.portability.journal import Journal, State  # hardly ever needed, and it takes a while

    return Journal.read(stage).state is not State.BUILDING
