"""Putting what belongs to a home and lies outside of it into the user's home folder: file by file, each whole."""

from __future__ import annotations

import filecmp
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_state.atomic import sync_dir, sync_file
from hermes_state.portability.steps import reached

if TYPE_CHECKING:
    from hermes_state.portability.journal import Journal

OLD = "old-external"


def place_external(journal: Journal) -> list[str]:
    """Put every external file of a stage in its place; what it replaces is kept in the stage.

    Returns:
        Those that can't be put there, because a link or something else stands where their folder should be.
    """
    base = Path.home()
    not_placed = []
    for folder, _, names in os.walk(journal.external):
        for name in names:
            source = Path(folder, name)
            path = str(source.relative_to(journal.external))
            if not _place(source, base, path, journal.stage / OLD / path):
                not_placed.append(path)
            reached(f"placed {path}")
    return not_placed


def _place(source: Path, base: Path, path: str, saved: Path) -> bool:
    target = base / path
    if not _folders(base, path.rpartition("/")[0]) or target.is_dir() or target.is_symlink():
        return False
    if target.exists():
        if filecmp.cmp(source, target, shallow=False):
            return True
        if not saved.exists():
            saved.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copy2(target, saved)
    partial = target.with_name(f".{target.name}.restored.partial")
    shutil.copy2(source, partial)
    sync_file(partial)
    partial.replace(target)
    sync_dir(target.parent)
    return True


def _folders(base: Path, path: str) -> bool:
    """Make the folders of a path where they are missing; false when one of them is a link or no folder."""
    for part in path.split("/") if path else ():
        base = base / part
        if base.is_symlink() or (base.exists() and not base.is_dir()):
            return False
        base.mkdir(mode=0o700, exist_ok=True)
    return True
