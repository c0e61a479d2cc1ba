"""The `memory:` section of the home that a command works on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.settings import MemorySettings

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation


def settings_of(invocation: Invocation) -> MemorySettings:
    """The settings of the home; what is wrong with them is told on stderr."""
    settings = MemorySettings.load(invocation.home_path())
    for finding in settings.findings:
        invocation.note(f"config.yaml, {finding.key}: {finding.message}")
    return settings
