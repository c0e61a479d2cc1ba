"""Where the current home is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memory.host.home_scope import current_home, reset_home, set_home

if TYPE_CHECKING:
    import os
    from contextvars import Token

__all__ = [
    "display_hermes_home",
    "get_hermes_home",
    "hermes_home_key",
    "reset_hermes_home_override",
    "set_hermes_home_override",
]


def get_hermes_home() -> Path:
    """The home of this context."""
    return current_home()


def display_hermes_home() -> str:
    """The home as a person reads it: `~` for the user's directory."""
    home, user = current_home(), Path.home()
    return f"~/{home.relative_to(user)}" if home.is_relative_to(user) else str(home)


def hermes_home_key() -> str:
    """A text that is the same for the same home, whatever links lead to it."""
    return str(current_home().resolve())


def set_hermes_home_override(home: str | os.PathLike[str]) -> Token[Path | None]:
    """Make another home the current one of this context."""
    return set_home(home)


def reset_hermes_home_override(token: Token[Path | None]) -> None:
    """Undo that."""
    reset_home(token)
