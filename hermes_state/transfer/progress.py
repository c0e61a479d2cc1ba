"""How far an import or export is, for whoever shows it."""

from __future__ import annotations

from collections.abc import Callable

# Called with (sessions done, sessions in all) after every session or batch; in all is 0 when it can't be known.
Progress = Callable[[int, int], None]


def no_progress(done: int, total: int) -> None:
    """Show nothing."""
