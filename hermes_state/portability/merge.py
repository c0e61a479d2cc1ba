"""Merging an archive into a home that has content of its own.

Merging again adds nothing, and it does not matter which of two homes is merged into which: both then have the same
sessions and memories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.errors import InvalidValue
from hermes_state.portability.interrupted import refuse_interrupted
from hermes_state.portability.joining import Joined, Joining
from hermes_state.portability.recover import recover
from hermes_state.portability.restore import Asked, Restoring, full_disk_told
from hermes_state.portability.swap import throw_away

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hermes_state.portability.crypt import Keys
    from hermes_state.portability.format import Limits
    from hermes_state.portability.progress import Step


def merge(
    archive: Path,
    home: Path,
    asked: Asked | None = None,
    *,
    keys: Keys | None = None,
    limits: Limits | None = None,
    progress: Callable[[Step], None] | None = None,
    dry_run: bool = False,
) -> Joined:
    """Bring what an archive has, and a home has not, into the home. Its agent may go on working.

    A crash leaves some of it merged; to merge again brings in the rest.

    Args:
        dry_run: only say what would be done; it takes as much room beside the home as the real thing.

    Raises:
        InvalidValue: there is no home to merge into.
        HomeInUse: a dry run, while a restore into the home is at work or was cut off.
        As `restore`, for the archive.
    """
    work = Restoring(archive, home, asked or Asked(), keys, limits, progress)
    if not work.home.is_dir():
        raise InvalidValue(f"there is no home at {work.home} to merge into", hint="restore it there instead")
    _tidy(work.home, dry_run=dry_run)
    with work.stage() as journal, full_disk_told(work.home):
        journal.write()
        source = work.build(journal, indexes=False).source
        result = Joined(home=work.home, archive=source.path, notices=list(source.notices))
        Joining(journal.new, work.home, result, dry_run=dry_run).run()
        throw_away(journal.stage)
    return result


def _tidy(home: Path, *, dry_run: bool) -> None:
    if dry_run:
        refuse_interrupted(home)
    else:
        recover(home)
