"""Putting a new home in the place of an old one, so that a crash at any point can be made good by going on.

Each unit is exchanged in one system call where the system has one; else the old is moved away and the new put in. What
has been done is seen from the inodes, never from a note that could be one step behind.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_state.atomic import sync_dir
from hermes_state.portability import filling
from hermes_state.portability.exchange import exchange, sync_tree
from hermes_state.portability.journal import State
from hermes_state.portability.steps import reached

if TYPE_CHECKING:
    from hermes_state.portability.journal import Journal, Unit


def start(journal: Journal) -> None:
    """From here on a crash is made good by going on. Everything of the stage is flushed before it is written."""
    journal.old.mkdir(mode=0o700, exist_ok=True)
    sync_tree(journal.stage)
    journal.state = State.SWAPPING
    reached("before-commit")
    journal.write()
    reached("committed")


def go_on(journal: Journal) -> None:
    """Put every unit in place that is not yet."""
    for path in journal.fills:
        if path not in journal.filled:
            filling.fill(journal.new / path, journal.home / path, journal.old / path)
            reached(f"filled {path}")
            journal.filled.append(path)
            journal.write()
    for unit in journal.units:
        _put(journal, unit)
        reached(f"put {unit.path}")
    _sync(journal)
    journal.state = State.SWAPPED
    journal.write()
    reached("swapped")


def take_back(journal: Journal) -> None:
    """Put every unit back as it was."""
    journal.state = State.UNDOING
    journal.write()
    for path in journal.filled:
        filling.fill(journal.old / path, journal.home / path, None)
    for unit in reversed(journal.units):
        _put_back(journal, unit)
        reached(f"back {unit.path}")
    _sync(journal)
    journal.state = State.BUILDING
    journal.write()


def carry_over(journal: Journal) -> list[str]:
    """Move what no backup holds from the old home to the new one, where that has a place for it; returns what was."""
    moved = []
    for path in journal.carry:
        source, target = journal.old / path, journal.home / path
        if str(target.parent.relative_to(journal.home)) in journal.carry_folders:
            _make_folders(journal, target.parent)
        # A link on the way could lead anywhere.
        if os.path.lexists(source) and not os.path.lexists(target) and _is_plain_folder(target.parent, journal.home):
            source.rename(target)
            moved.append(path)
            reached(f"carried {path}")
    return moved


def _make_folders(journal: Journal, folder: Path) -> None:
    """Folders that no backup holds, but whose content is looked at piece by piece."""
    if folder == journal.home or os.path.lexists(folder):
        return
    if str(folder.relative_to(journal.home)) in journal.carry_folders:
        _make_folders(journal, folder.parent)
        if _is_plain_folder(folder.parent, journal.home):
            folder.mkdir(mode=0o700)


def _is_plain_folder(folder: Path, home: Path) -> bool:
    while folder != home:
        if folder.is_symlink() or not folder.is_dir():
            return False
        folder = folder.parent
    return True


def _inode(path: Path) -> int | None:
    try:
        return path.lstat().st_ino
    except FileNotFoundError:
        return None


def _at(base: Path, path: str) -> Path:
    return base / path if path else base


def _put(journal: Journal, unit: Unit) -> None:
    home, new = _at(journal.home, unit.path), _at(journal.new, unit.path)
    old = _free(_at(journal.old, unit.path))
    here = _inode(home)
    if here != unit.new:
        if here is not None and unit.new is not None and exchange(new, home):
            reached(f"exchanged {unit.path}")
        else:
            if here is not None:
                _move(home, old)
                reached(f"moved away {unit.path}")
            if unit.new is not None:
                _move(new, home)
    if unit.new is not None and os.path.lexists(new):  # after an exchange the old is there
        _move(new, old)


def _free(place: Path) -> Path:
    """A place for what is moved away, which is taken only when somebody made something new after a crash."""
    while os.path.lexists(place) and not _is_empty_folder(place):
        place = place.with_name(f"{place.name}-later")
    return place


def _is_empty_folder(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink() and not any(place.iterdir())


def _put_back(journal: Journal, unit: Unit) -> None:
    home, new, old = (_at(base, unit.path) for base in (journal.home, journal.new, journal.old))
    here = _inode(home)
    if here == unit.old:
        return
    if unit.old is None:
        _move(home, new)
        return
    source = old if _inode(old) == unit.old else new
    if here is not None and exchange(source, home):
        if source != new:
            _move(source, new)
        return
    if here is not None:
        _move(home, new)
    _move(source, home)


def _move(source: Path, target: Path) -> None:
    """Rename, over an empty folder of ours at most."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if target.is_dir() and not target.is_symlink():
        target.rmdir()
    source.rename(target)


def _sync(journal: Journal) -> None:
    for folder in {_at(journal.home, unit.path).parent for unit in journal.units}:
        if folder.is_dir():
            sync_dir(folder)
    sync_dir(journal.stage)


def tidy(journal: Journal) -> Path | None:
    """Keep or delete what was replaced, and delete the stage. Returns where it is kept."""
    kept = None
    for old in sorted(journal.stage.glob("old*")):
        if journal.keep and not _is_empty_folder(old):
            place = _free(Path(f"{journal.keep}{old.name.removeprefix('old')}"))
            old.rename(place)
            sync_dir(place.parent)
            kept = kept or place
            reached("kept")
    throw_away(journal.stage)
    return kept


def throw_away(stage: Path) -> None:
    """Delete a stage: what makes it one goes last, so that a crash leaves one that is found again."""
    for child in sorted(stage.iterdir(), key=lambda child: child.name in ("journal.json", "lock")):
        if child.is_dir() and not child.is_symlink():
            _remove_tree(child)
        else:
            child.unlink()
    stage.rmdir()


def _remove_tree(folder: Path) -> None:
    """Delete a tree, with folders in it that may not be written to."""
    for path, folders, _ in os.walk(folder):
        for name in [".", *folders]:
            inner = os.path.join(path, name)  # noqa: PTH118  bytes of names stay as they are
            if not os.path.islink(inner):  # noqa: PTH114
                os.chmod(inner, 0o700)  # noqa: PTH101
    shutil.rmtree(folder)
