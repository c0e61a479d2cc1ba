"""Which home the host's modules speak of: plug-ins ask for it instead of being told."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING

from hermes_state.home import resolve_home

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

_override: ContextVar[Path | None] = ContextVar("hermes_home", default=None)
_installed: list[Path] = []  # the homes of the installations, the newest last


def current_home() -> Path:
    """The home of this context; else that of the newest installation; else `$HERMES_HOME` or `~/.hermes`."""
    return _override.get() or (_installed[-1] if _installed else resolve_home())


@contextmanager
def home_scope(home: str | os.PathLike[str]) -> Iterator[None]:
    """Make `home` the current one for what runs in this context, threads of `spawn_context_thread` included."""
    token = set_home(home)
    try:
        yield
    finally:
        reset_home(token)


def set_home(home: str | os.PathLike[str]) -> Token[Path | None]:
    """Make `home` the current one of this context, until `reset_home` gets the token."""
    return _override.set(resolve_home(home))


def reset_home(token: Token[Path | None]) -> None:
    """Undo `set_home`."""
    _override.reset(token)


def enter(home: Path) -> None:
    """An installation for that home begins."""
    _installed.append(home)


def leave(home: Path) -> None:
    """An installation for that home ends."""
    _installed.remove(home)
