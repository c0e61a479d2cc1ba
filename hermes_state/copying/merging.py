"""Conversations and memories into a store that has its own, through the lines of an export: see `transfer.merging`."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, cast

from hermes_state.transfer import merging
from hermes_state.transfer.dump import dump_lines
from hermes_state.transfer.lines import to_line
from hermes_state.transfer.memories import header, memory_lines
from hermes_state.transfer.memories import merge_memories as merge_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from sqlalchemy import Connection

    from hermes_state.copying.report import CopyReport
    from hermes_state.engine import Engine
    from hermes_state.transfer.progress import Progress


def merge_conversations(source: Connection, target: Engine, report: CopyReport, progress: Progress) -> dict[str, int]:
    """Bring in the sessions that the target lacks, and what was said later in those it has; rows added by table.

    A session that went another way in the target comes in beside it, and is told as a conflict.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n") as lines:
        dump_lines(source, lines)
        lines.flush()
        merged = merging.merge(target, cast("BinaryIO", lines.buffer), progress=progress)
    for session_id, what in merged.differences:
        report.clash(f"session {session_id}", what)
    for session_id, other in merged.beside:
        report.clash(f"session {session_id}", f"it went another way in the target; it came in as {other}")
    for session_id, title in merged.retitled:
        report.clash(f"session {session_id}", f"another session has its title; it came in as {title!r}")
    for problem in merged.problems:
        report.clash(f"session {problem.session_id or '?'}", problem.what)
    report.beside += merged.beside
    return {"sessions": merged.sessions_added, "messages": merged.messages_added}


def merge_memories(source: Connection, target: Engine, report: CopyReport) -> dict[str, int]:
    """Bring in the memories that the target lacks, by their words; rows added by table."""
    merged = merge_lines(target, _memories(source))
    for memory_id, what in merged.differences:
        report.clash(f"memory {memory_id}", what)
    for _, what in merged.problems:
        report.clash("memory", what)
    return {"memories": merged.added}


def _memories(source: Connection) -> Iterator[bytes]:
    count = 0
    yield to_line(header()).encode()
    for line in memory_lines(source):
        count += 1
        yield to_line(line).encode()
    yield to_line({"type": "end", "memories": count}).encode()
