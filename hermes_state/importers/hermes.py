"""Import of a Hermes state.db."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.importers.progress import Progress, no_progress

if TYPE_CHECKING:
    import os

    from hermes_state.importers.report import ImportReport
    from hermes_state.store import SessionDB


def import_hermes(
    db: SessionDB,
    path: str | os.PathLike[str] | None = None,
    *,
    profile: str | None = None,
    include_deleted: bool = False,
    progress: Progress = no_progress,
) -> ImportReport:
    """Bring in everything a Hermes state.db holds; a second run brings in what changed since.

    The foreign home is only read, also while the agent runs. Killed at any point, the next run goes on.

    Args:
        path: a home or a state.db; None: `$HERMES_HOME`, else `~/.hermes`.
        profile: of the home's profiles, this one's.
        include_deleted: also sessions that were imported before and deleted here since.

    Raises:
        StoreUnavailable: there is no state.db, or it can't be read.
        FormatError: it is a database, but not a Hermes state.db.
        StoreDamaged: it is not sound; what came in before the damage stays.
    """
    raise NotImplementedError
