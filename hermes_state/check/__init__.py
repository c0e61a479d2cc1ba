"""`db check`: the store proves itself.

Read-only, and nothing is trusted: counters, tips and index are derived anew from the messages and compared. Every
finding is collected, bounded per kind, and what is damaged in one place does not hide what is wrong in another.
Each kind is looked at in one snapshot of its own, long ones in pieces, so that nobody is kept from writing and the WAL
can be reset in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.check import indexed, lineage, storage, transcripts
from hermes_state.check.report import SHOWN, Collector, Finding, Interrupted, Kind, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hermes_state.engine import Engine

Step = tuple[str, "Callable[[Collector], None]"]
# What is looked at, in this order: what lies deeper comes first.
_STEPS: tuple[Step, ...] = (
    ("pages", storage.pages),
    ("schema", storage.schema),
    ("references", storage.references),
    ("marks", storage.marks),
    ("sessions", lineage.sessions_are_valid),
    ("lineage", lineage.conversations),
    ("counters", transcripts.counters),
    ("messages", transcripts.columns),
    ("content", transcripts.content),
    ("index", indexed.index),
    ("memories", indexed.memories),
)


def check(
    engine: Engine,
    *,
    full: bool = False,
    shown: int = SHOWN,
    progress: Callable[[str], object] | None = None,
    also: Sequence[Step] = (),
) -> Report:
    """Look at everything; never writes, never raises for what it finds.

    Args:
        full: SQLite's whole `integrity_check` instead of the quick one, and every message's content and index entry
            instead of a sample.
        shown: findings kept of each kind; all are counted.
        progress: called with the name of each step before it.
        also: steps of layers above, looked at last.

    Returns:
        What was found; of a store with an older schema, only pages are looked at. When it was stopped by Ctrl-C, what
        was found until then, with `interrupted` set.
    """
    collector = Collector(engine, full=full, shown=shown)
    try:
        for name, step in (*_STEPS, *also):
            if progress is not None:
                progress(name)
            collector.run(name, step, unreadable=Kind.INDEX if name in ("index", "memories") else Kind.DAMAGED)
            if collector.is_outdated:
                break
    except (KeyboardInterrupt, Interrupted):
        collector.interrupted = True
    return collector.report()


__all__ = ["SHOWN", "Collector", "Finding", "Kind", "Report", "Step", "check"]
