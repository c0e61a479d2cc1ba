"""The journal of one restore: what is to be put where, so that whoever finds it can finish the work or take it back.

A stage is a folder beside the home (or in it, where the home is a mount point):

    .NAME.XXXX.restore/
        lock           held while the process lives
        journal.json   where it stands; written anew as a whole
        new/           the new home, or those parts of it that are to be put in
        old/           what was replaced, at the same paths
        external/      new files for the user's home folder

Before `swapping` nothing in the home was touched, and the stage can be thrown away. From then on everything needed is
on the disk, and going on to the end always works: nothing is left to do but renames.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from hermes_state.atomic import whole_file
from hermes_state.errors import FormatError

NAME = "journal.json"
VERSION = 1


class State(StrEnum):
    """Where a restore stands."""

    BUILDING = "building"  # nothing outside of the stage was touched
    SWAPPING = "swapping"  # some units may be in place; go on
    UNDOING = "undoing"  # some may have been taken back; go on taking back
    SWAPPED = "swapped"  # all are in place; what is left is carrying over and tidying up


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """Something that is put in place by one exchange.

    Attributes:
        path: relative to the home; "": the home itself.
        new: the inode of what comes; None: nothing comes, the old only goes.
        old: the inode of what goes; None: nothing was there.
    """

    path: str
    new: int | None
    old: int | None


@dataclass(kw_only=True, slots=True)
class Journal:
    """What a restore does.

    Attributes:
        stage, home: where.
        archive: what is restored, for people.
        units: in the order they are put in place.
        fills: databases that processes have open: filled in place instead of replaced.
        filled: those of them that are done.
        carry: paths that a backup leaves out: they move over from the old home where the new one has nothing there.
        carry_folders: folders that are made for them where they are missing.
        keep: where what was replaced goes; "": it is deleted.
    """

    stage: Path
    home: Path
    archive: str = ""
    state: State = State.BUILDING
    units: list[Unit] = field(default_factory=list)
    fills: list[str] = field(default_factory=list)
    filled: list[str] = field(default_factory=list)
    carry: list[str] = field(default_factory=list)
    carry_folders: list[str] = field(default_factory=list)
    keep: str = ""

    @property
    def new(self) -> Path:
        """The new home."""
        return self.stage / "new"

    @property
    def old(self) -> Path:
        """What was replaced."""
        return self.stage / "old"

    @property
    def external(self) -> Path:
        """New files for the user's home folder."""
        return self.stage / "external"

    def write(self) -> None:
        """Put it on the disk, flushed."""
        value = {**asdict(self), "version": VERSION, "stage": "", "home": str(self.home)}
        with whole_file(self.stage / NAME) as file:
            json.dump(value, file)

    @classmethod
    def read(cls, stage: Path) -> Self:
        """The journal of a stage.

        Raises:
            FormatError: it is none that this version can go on with.
            FileNotFoundError: there is none: the restore did not get so far.
        """
        try:
            return cls._of(stage, json.loads((stage / NAME).read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FormatError(
                f"{stage / NAME} can't be read: {error}", hint="the version of hermes-state that wrote it can finish it"
            ) from error

    @classmethod
    def _of(cls, stage: Path, value: dict[str, Any]) -> Self:
        if value.pop("version") != VERSION:
            raise ValueError("another version wrote it")
        units = [Unit(**unit) for unit in value.pop("units")]
        value |= {"stage": stage, "home": Path(value["home"]), "state": State(value["state"]), "units": units}
        return cls(**value)
