"""Interrupted restores: finding them, and going on to the end or taking away what never began."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from hermes_state.errors import HomeInUse
from hermes_state.portability import swap
from hermes_state.portability.interrupted import LOCK, stages_of
from hermes_state.portability.journal import Journal, State
from hermes_state.portability.placing import place_external

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovered:
    """An interrupted restore that was dealt with.

    Attributes:
        archive: what was being restored.
        is_new: whether the home is the restored one; else it is the one from before.
        kept: where the replaced home is.
    """

    archive: str
    is_new: bool
    kept: Path | None = None


@contextmanager
def locked(stage: Path) -> Iterator[None]:
    """Hold a stage.

    Raises:
        HomeInUse: its process lives and is at work.
    """
    lock = FileLock(stage / LOCK, timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout:
        raise HomeInUse(f"another restore is at work in {stage}", hint="wait until it is done") from None
    try:
        yield
    finally:
        lock.release()


def recover(home: Path) -> list[Recovered]:
    """Deal with every interrupted restore into a home: afterwards it is wholly the old one or wholly the new.

    Raises:
        HomeInUse: one is not interrupted but at work.
        FormatError: another version of this program left it.
        OSError: as the system says; run it again when that is mended.
    """
    found = []
    for stage in stages_of(home):
        with locked(stage):
            found.append(_recover(stage))
    return found


def _recover(stage: Path) -> Recovered:
    if not (stage / "journal.json").exists():
        swap.throw_away(stage)
        return Recovered(archive="", is_new=False)
    journal = Journal.read(stage)
    match journal.state:
        case State.BUILDING:
            swap.throw_away(stage)
            return Recovered(archive=journal.archive, is_new=False)
        case State.UNDOING:
            swap.take_back(journal)
            swap.throw_away(stage)
            return Recovered(archive=journal.archive, is_new=False)
        case State.SWAPPING:
            swap.go_on(journal)
    return Recovered(archive=journal.archive, is_new=True, kept=finish(journal))


def finish(journal: Journal) -> Path | None:
    """What is left to do when everything is in place. Returns where the replaced home is kept."""
    swap.carry_over(journal)
    place_external(journal)
    return swap.tidy(journal)
