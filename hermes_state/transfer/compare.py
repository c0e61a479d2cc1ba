"""Whether a session of an export is the one that is here, line by line."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from hermes_state.titles import split_number
from hermes_state.transfer.dump import session_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from hermes_state.transfer.lines import Line


def difference(connection: Connection, session_pk: int, line: Line, messages: Iterator[Line]) -> str | None:
    """What the first difference is, in words; None when there is none.

    A title that only has another number is the same title: it got the number because another session had it.

    Args:
        line: the session's line in the file.
        messages: the lines of its messages.
    """
    own = session_lines(connection, session_pk)
    here = next(own)
    changed = [name for name in sorted({*here, *line} - {"messages"}) if here.get(name) != line.get(name)]
    if changed == ["title"] and _same_title(here.get("title"), line.get("title")):
        changed = []
    if changed:
        return f"session {line['id']} is here with another {', '.join(changed)}"
    for ours, theirs in zip_longest(own, messages):
        if ours is None or theirs is None:
            more = "fewer" if ours is None else "more"
            return f"session {line['id']} has {more} messages here"
        if ours != theirs:
            names = ", ".join(name for name in sorted({*ours, *theirs}) if ours.get(name) != theirs.get(name))
            return f"message {theirs.get('position')} of session {line['id']} is here with another {names}"
    return None


def _same_title(ours: str | None, theirs: str | None) -> bool:
    return bool(ours and theirs) and split_number(ours or "")[0] in (theirs, split_number(theirs or "")[0])
