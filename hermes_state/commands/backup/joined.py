"""What a merge or an unpacking did, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_state.commands.plain import one_line
from hermes_state.commands.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_state.commands.invocation import Invocation
    from hermes_state.portability.joining import Joined

# What is shown of each list; --json has more.
_SHOWN = 10


def shape(result: Joined, *, dry_run: bool) -> dict[str, Any]:
    """As JSON."""
    return {
        "home": str(result.home),
        "archive": str(result.archive),
        "dry_run": dry_run,
        "sessions_added": result.sessions,
        "sessions_extended": result.extended,
        "sessions_beside": [list(pair) for pair in result.beside],
        "messages_added": result.messages,
        "memories_added": result.entries,
        "files_added": result.files,
        "equal": result.equal,
        "differences": [{"path": item.path, "what": item.what} for item in result.differences],
        "retitled": [list(pair) for pair in result.retitled],
        "notices": list(result.notices),
    }


def tell(invocation: Invocation, result: Joined, *, dry_run: bool) -> None:
    """In words."""
    invocation.say(
        f"{one_line(str(result.home))}: {count(result.sessions, 'session')} with {count(result.messages, 'message')}, "
        f"{count(result.entries, 'memory', 'memories')} and {count(len(result.files), 'file')} "
        f"{'would be added' if dry_run else 'added'}; {result.equal:,} kept as equal, "
        f"{count(len(result.differences), 'difference')}"
    )
    for line in _lines(result):
        invocation.say(line)
    for notice in result.notices:
        invocation.note(f"note: {one_line(notice)}")
    if dry_run:
        invocation.note("nothing was changed")


def _lines(result: Joined) -> Iterator[str]:
    yield from _some(f"  added: {one_line(path)}" for path in result.files)
    yield from _some(f"  went on: session {one_line(session_id)}" for session_id in result.extended)
    yield from _some(
        f"  left as it is here: {one_line(item.path)}: {one_line(item.what)}" for item in result.differences
    )
    yield from _some(f"  {one_line(old)} is titled {one_line(new)} here" for old, new in result.retitled)


def _some(lines: Iterator[str]) -> Iterator[str]:
    found = list(lines)
    yield from found[:_SHOWN]
    if len(found) > _SHOWN:
        yield f"  … and {len(found) - _SHOWN:,} more"
