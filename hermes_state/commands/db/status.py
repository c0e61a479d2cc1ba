"""`db status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.table import BOLD, DIM, paint
from hermes_state.commands.wording import count, listed, local, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_state.commands.invocation import Invocation
    from hermes_state.maintenance import Status

_LABEL = 9  # cells of the longest label and a space


@command("status", examples=("hermes-state db status", "hermes-state db status --json | jq .sizes"))
def status(invocation: Invocation) -> None:
    """Show sizes, schema, SQLite, counts and the index.

    Reads only, and also works on a store that a newer version made.
    """
    from hermes_state.maintenance import status as status_of

    with invocation.open_engine(read_only=True) as engine:
        found = status_of(engine)
    if invocation.json:
        invocation.document(shapes.record(found))
        return
    invocation.say(paint(one_line(str(found.path)), BOLD))
    for label, text in _lines(found):
        invocation.say(f"  {paint(f'{label:<{_LABEL}}', DIM)}{text}")


def _lines(found: Status) -> Iterator[tuple[str, str]]:
    if found.pages is None:
        yield "size", f"{size(found.sizes.main)}, the whole database"
        yield "server", found.database
    else:
        free = found.pages.free * found.pages.size
        inside = f", {size(free)} of it free" if free else ""
        yield "size", f"{size(found.sizes.main)}{inside}; write-ahead log {size(found.sizes.wal)}"
        yield "SQLite", f"{str(found.sqlite).removeprefix('SQLite ')}, journal mode {found.journal_mode}"
    yield "schema", _schema(found)
    if found.counts is not None:
        yield "content", _content(found)
    if found.index is not None:
        yield "index", _index(found)
    if found.copies:
        held = size(sum(copy.bytes for copy in found.copies))
        yield "copies", f"{count(len(found.copies), 'older copy', 'older copies')}, {held}; `db purge` removes them"
    if found.open_elsewhere:
        yield "open by", one_line(listed(found.open_elsewhere))


def _schema(found: Status) -> str:
    if found.schema == found.head:
        made = f"; made {local(found.created_at)}" if found.created_at else ""
        return f"{found.schema}, current{made}"
    return f"{found.schema or 'none'}; this version of hermes-state works with {found.head}"


def _content(found: Status) -> str:
    counts = found.counts
    assert counts is not None
    conversations = count(counts.conversations, "conversation")
    return f"{conversations} in {count(counts.sessions, 'session')}, {count(counts.messages, 'message')}"


def _index(found: Status) -> str:
    index = found.index
    assert index is not None
    if not index.is_available:
        return "none: this SQLite has no FTS5, searches read every message"
    held = f", about {size(index.bytes)}" if index.bytes else ""
    if index.is_rebuilding:
        return f"being built anew{held}"
    if index.is_current:
        return f"current{held}"
    return f"{count(index.pending, 'message')} wait for the next search{held}"
