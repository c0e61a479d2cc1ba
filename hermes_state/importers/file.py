"""Import of a session export, told apart by its first line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.transfer.progress import Progress, no_progress

if TYPE_CHECKING:
    import os

    from hermes_state.importers.report import ImportReport
    from hermes_state.store import SessionDB
    from hermes_state.transfer import LoadReport


def import_file(
    db: SessionDB, path: str | os.PathLike[str], *, progress: Progress = no_progress
) -> ImportReport | LoadReport:
    """Bring in a JSON Lines export: this store's own (`LoadReport`) or Hermes's (`ImportReport`).

    Raises:
        FormatError: it is neither; nothing was changed.
        StoreUnavailable: it can't be read.
    """
    raise NotImplementedError
