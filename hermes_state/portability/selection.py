"""What of an archive is to be restored: all of it, or some parts by name or path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.errors import InvalidValue
from hermes_state.portability.patterns import PROFILE

if TYPE_CHECKING:
    from collections.abc import Iterable

# Parts by name: what of a home, and of each profile, belongs to them.
PARTS: dict[str, tuple[str, ...]] = {
    "sessions": ("hermes_state.db", "state.db", "sessions", "session-exports"),
    "memory": ("memories", "memory_store.db", "hindsight", "byterover", "honcho.json", "mem0.json", "pending"),
    "config": (
        *("config.yaml", ".env", "auth.json", ".anthropic_oauth.json", "mcp-tokens", "mcp.json", "SOUL.md", "cron"),
        *("channel_directory.json", "channel_aliases.json", "pairing", "platforms", "slack_tokens.json", "whatsapp"),
        *("hooks", "skins", "active_profile", "backup-rules"),
    ),
    "skills": ("skills", "skill-bundles", "optional-skills"),
}


class Selection:
    """Which paths of a home are wanted.

    Args:
        only: names of `PARTS`, or paths in the home; empty: everything.

    Raises:
        InvalidValue: one is empty or leads out.
    """

    def __init__(self, only: Iterable[str] = ()) -> None:
        self.only = tuple(only)
        self._paths = frozenset(_path(text) for text in self.only if text not in PARTS)
        self._parts = frozenset(name for text in self.only if text in PARTS for name in PARTS[text])

    @property
    def is_all(self) -> bool:
        """Whether nothing was chosen, so that everything is wanted."""
        return not self.only

    def takes(self, path: str) -> bool:
        """Whether a path, relative to the home, is wanted itself."""
        return self.is_all or self.root_of(path) is not None

    def root_of(self, path: str) -> str | None:
        """The chosen path that a path is, or lies in; None: it is not wanted."""
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            prefix = "/".join(parts[:depth])
            if prefix in self._paths:
                return prefix
        profile = PROFILE.match(path)
        start = profile.end() if profile else 0
        name = path[start:].partition("/")[0]
        return path[:start] + name if name in self._parts else None

    def leads_to(self, folder: str) -> bool:
        """Whether something in a folder could be wanted."""
        if self.is_all or folder == "profiles" or PROFILE.fullmatch(f"{folder}/"):
            return True
        return any(path.startswith(f"{folder}/") for path in self._paths)


def _path(text: str) -> str:
    path = text.strip("/")
    if not path or {"", ".", ".."} & {*path.split("/")}:
        names = ", ".join(PARTS)
        raise InvalidValue(f"{text!r} is no part of a home", hint=f"parts are {names}, or paths in the home")
    return path
