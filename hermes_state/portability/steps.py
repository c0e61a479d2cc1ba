"""The points of a restore at which a crash must do no harm. Tests hold on to them; nothing else does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def _nothing(name: str) -> None:
    """What happens at a step in life."""


on_step: Callable[[str], None] = _nothing


def reached(name: str) -> None:
    """The work got so far; what comes next can be cut off."""
    on_step(name)
