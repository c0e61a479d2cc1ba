"""Conversations and memories into a store that has its own, through the lines of an export: see `transfer.merging`."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, cast

from sqlalchemy import bindparam, select, update

from hermes_state.copying.keys import MEMORIES, find
from hermes_state.schema import memories, memory_events
from hermes_state.transfer import merging
from hermes_state.transfer.dump import dump_lines
from hermes_state.transfer.lines import to_line
from hermes_state.transfer.memories import header, memory_lines
from hermes_state.transfer.memories import merge_memories as merge_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import BinaryIO

    from sqlalchemy import Connection

    from hermes_state.copying.report import CopyReport
    from hermes_state.engine import Engine
    from hermes_state.transfer.progress import Progress

_e = memory_events.c
_PLACE_EVENT = (
    update(memory_events)
    .where(
        _e.memory_pk == bindparam("of_pk"),
        _e.batch == bindparam("of_batch"),
        _e.action == bindparam("of_action"),
        _e.at == bindparam("of_at"),
    )
    .values(position=bindparam("new_position"), undoes=bindparam("new_undoes"))
)


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
    with target.read() as connection:
        known = frozenset(connection.execute(select(memories.c.id)).scalars())
    merged = merge_lines(target, _memories(source))
    with target.write() as connection:
        _complete(source, connection, known)
    for memory_id, what in merged.differences:
        report.clash(f"memory {memory_id}", what)
    for _, what in merged.problems:
        report.clash("memory", what)
    return {"memories": merged.added}


def _complete(source: Connection, target: Connection, known: Collection[str]) -> None:
    """Give new memories what their lines don't have: raw bytes, places in the file, what an event took back."""
    m, e = memories.c, _e
    added = dict(find(target, MEMORIES, [(i,) for i in _ids(source) if i not in known]))
    raw = [
        {"of_pk": added[(row.id,)], "new_raw": row.raw}
        for row in source.execute(select(m.id, m.raw).where(m.raw.is_not(None)))
        if (row.id,) in added
    ]
    if raw:
        target.execute(update(memories).where(m.pk == bindparam("of_pk")).values(raw=bindparam("new_raw")), raw)
    query = select(m.id, e.batch, e.action, e.at, e.position, e.undoes).join(memories, m.pk == e.memory_pk)
    events = [
        {"of_pk": added[(row.id,)], "of_batch": row.batch, "of_action": row.action, "of_at": row.at}
        | {"new_position": row.position, "new_undoes": row.undoes}
        for row in source.execute(query.where(e.position.is_not(None) | e.undoes.is_not(None)))
        if (row.id,) in added
    ]
    if events:
        target.execute(_PLACE_EVENT, events)


def _ids(source: Connection) -> list[str]:
    return list(source.execute(select(memories.c.id)).scalars())


def _memories(source: Connection) -> Iterator[bytes]:
    count = 0
    yield to_line(header()).encode()
    for line in memory_lines(source):
        count += 1
        yield to_line(line).encode()
    yield to_line({"type": "end", "memories": count}).encode()
