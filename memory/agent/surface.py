"""What a person sees of the agent: the seam to a terminal, a chat platform, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Shown: TypeAlias = Callable[[str], object]


def _unseen(_text: str) -> None:
    """Nobody looks."""


def _unseen_tool(_name: str, _arguments: str) -> None:
    """Nobody looks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Surface:
    """Functions the agent calls; each must be quick.

    Attributes:
        text: a piece of the answer, as it comes, without memory fences.
        recall: the line that says what was recalled: `🧠 Holographic — recalled 3 memories`.
        notice: anything else worth a line: a memory was saved, a compression failed. May come from another thread.
        tool: the name and the arguments (JSON) of a tool that is about to run.
    """

    text: Shown = _unseen
    recall: Shown = _unseen
    notice: Shown = _unseen
    tool: Callable[[str, str], object] = _unseen_tool
