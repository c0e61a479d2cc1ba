"""Taking away what killed processes left in a repository."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from hermes_state.errors import StoreBusy
from hermes_state.portability import staging
from hermes_state.portability.repository import locks
from hermes_state.portability.repository.layout import MARK, STAGES

if TYPE_CHECKING:
    from hermes_state.portability.repository.layout import Repository


# What `diff` makes beside the archive it compares with; it needs no lock of the repository while it reads a home.
_PREVIEW = "preview"


def tidy(repository: Repository) -> None:
    """Take away unfinished work: all of it when nobody else is here, else that of processes which are surely gone."""
    staging.clear(repository.root, _PREVIEW)
    try:
        with locks.exclusive(repository, wait_s=0):
            clear(repository)
    except StoreBusy:
        for name in STAGES:
            staging.clear(repository.root, name)


def clear(repository: Repository) -> None:
    """Take away all unfinished work. The caller has the repository for itself."""
    for name in (*STAGES, MARK):
        for left in repository.root.glob(f".{name}.*{staging.SUFFIX}"):
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)
