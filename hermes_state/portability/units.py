"""Which parts of a new home are put in place as wholes: the home itself where that can be, else as few as can be."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hermes_state.portability.databases import SIDECARS
from hermes_state.portability.journal import Journal, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from hermes_state.portability.selection import Selection


def _inode(path: Path) -> int | None:
    try:
        return path.lstat().st_ino
    except FileNotFoundError:
        return None


def whole(journal: Journal) -> list[Unit]:
    """The home as one unit."""
    return [Unit(path="", new=_inode(journal.new), old=_inode(journal.home))]


class Parts:
    """Units below the home.

    Args:
        held: paths in the home that processes have open.
        goes: paths at the top of the home that go because the new home has nothing there.
    """

    def __init__(self, journal: Journal, selection: Selection, held: Iterable[str], goes: Iterable[str]) -> None:
        self.journal, self.selection = journal, selection
        self.held = frozenset(held)
        self.goes = tuple(goes)
        self.units: list[Unit] = []
        self.fills: list[str] = []
        self.left_open: list[str] = []

    def find(self, databases: frozenset[str]) -> None:
        """Find the units, the databases to fill and the open files that stay as they are.

        Args:
            databases: paths of the new home that are databases.
        """
        for name in sorted(child.name for child in self.journal.new.iterdir()):
            self._find(name, databases)
        for path in self.goes:
            if path not in self.held and not self._holds(path):
                self._add(path, None)

    def _find(self, path: str, databases: frozenset[str]) -> None:
        new, home = self.journal.new / path, self.journal.home / path
        if path in self.held:
            (self.fills if path in databases else self.left_open).append(path)
        elif self._holds(path) or not self._is_unit(path, new, home):
            for name in sorted(child.name for child in new.iterdir()):
                self._find(f"{path}/{name}", databases)
        else:
            # A WAL that stays behind would be taken for the new database's: it goes first.
            for suffix in SIDECARS if path in databases else ():
                if os.path.lexists(f"{home}{suffix}"):
                    self._add(f"{path}{suffix}", None)
            self._add(path, _inode(new))

    def _is_unit(self, path: str, new: Path, home: Path) -> bool:
        """Whether a path is put in place as a whole, or only what is in it."""
        both_folders = new.is_dir() and not new.is_symlink() and home.is_dir() and not home.is_symlink()
        return not both_folders or self.selection.is_all or self.selection.root_of(path) == path

    def _holds(self, path: str) -> bool:
        return any(held.startswith(f"{path}/") for held in self.held)

    def _add(self, path: str, new: int | None) -> None:
        if not any(unit.path == path for unit in self.units):
            self.units.append(Unit(path=path, new=new, old=_inode(self.journal.home / path)))
