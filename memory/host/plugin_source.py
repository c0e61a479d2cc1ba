"""What `plugins.memory` finds and loads providers with; `memory.discovery.Discovery` is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path


class PluginSource(Protocol):
    """Finds and loads providers by name."""

    def load(self, name: str) -> object:
        """A new provider; raises if there is none or it can't be loaded."""

    def directory(self, name: str) -> Path | None:
        """Where its files lie, for one that lies in a directory."""


sources: list[PluginSource] = []  # of the installations, the newest last
