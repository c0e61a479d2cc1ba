"""Secrets of the current home."""

from __future__ import annotations

from memory.config import variables_of
from memory.host.home_scope import current_home

__all__ = ["get_secret"]


def get_secret(name: str, default: str | None = None) -> str | None:
    """A variable of the process, else of the home's `.env`; an empty one counts as unset."""
    return variables_of(current_home()).get(name) or default
