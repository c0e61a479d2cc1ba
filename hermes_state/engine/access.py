"""How a database file is opened: for writing, for reading, or as one that can't change."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import quote

from hermes_state.errors import HandleUnusable

if TYPE_CHECKING:
    from pathlib import Path


def uri_of(path: Path, *, read_only: bool) -> str:
    """The URI that SQLite opens, whatever characters the path has."""
    quoted = quote(str(path.absolute()))
    if not read_only:
        return f"file:{quoted}?mode=rw"
    return f"file:{quoted}?mode=ro" + ("&immutable=1" if is_frozen(path) else "")


def is_frozen(path: Path) -> bool:
    """Whether nothing can be written beside a closed database, so that SQLite can't even make its lock file to read it.

    Read-only media, or a folder of somebody else who does not have it open now.
    """
    if os.access(path.parent, os.W_OK):
        return False
    return not any(path.with_name(f"{path.name}{suffix}").exists() for suffix in ("-wal", "-shm"))


def make_sure_it_still_is(path: Path) -> None:
    """Refuse to read on when the owner of a file that was opened as frozen has begun to write to it.

    Raises:
        HandleUnusable: it is in use now; opened anew it is read as any other.
    """
    if not is_frozen(path):
        raise HandleUnusable(f"{path} was opened while nobody used it, and is used now", hint="open a new SessionDB")
