"""Where an agent's home is, and where its store lies."""

from __future__ import annotations

import os
from pathlib import Path

# Beside the peer's `state.db`, never instead of it.
STORE_NAME = "hermes_state.db"


def resolve_home(home: str | os.PathLike[str] | None = None) -> Path:
    """The agent home: the one given, else `$HERMES_HOME`, else `~/.hermes`. Read once; later changes of the environment
    do not move an open store."""
    chosen = home or os.environ.get("HERMES_HOME") or "~/.hermes"
    return Path(chosen).expanduser().absolute()


def store_path(home: Path) -> Path:
    """The store of a home."""
    return home / STORE_NAME
