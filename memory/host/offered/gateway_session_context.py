"""What a gateway knows of the session at hand."""

from __future__ import annotations

import os

__all__ = ["get_session_env"]


def get_session_env(name: str, default: str = "") -> str:
    """A `HERMES_SESSION_…` value. There is no gateway here: the process's environment tells, or nothing does."""
    return os.environ.get(name, default)
