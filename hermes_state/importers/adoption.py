"""Whether a session that has the same id here is the same session, and which of its messages are which.

The id alone proves nothing: a home that was copied goes on in two places, and somebody's test session has the id that
everybody's has. What both hold decides.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from hermes_state.importers.hermes_messages import essence_of
from hermes_state.schema import messages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from hermes_state.importers.hermes_messages import ForeignMessage


class Own(NamedTuple):
    """A message of the session here."""

    id: int
    essence: int


class Match(NamedTuple):
    """Which foreign messages are here already.

    Attributes:
        same: foreign messages and the id of each here, without their columns' values.
        is_same_session: whether the two are one session, of which one side may have gone on.
    """

    same: list[tuple[ForeignMessage, int]]
    is_same_session: bool


def own_messages(connection: Connection, session_pk: int) -> list[Own]:
    """The messages of a session here, in whatever state, in order."""
    m = messages.c
    query = (
        select(m.id, m.role, m.tool_call_id, m.content_format, m.content, m.tool_calls)
        .where(m.session_pk == session_pk)
        .order_by(m.position)
        .execution_options(yield_per=500)
    )
    return [Own(row.id, essence_of(row._asdict().get)) for row in connection.execute(query)]


def match(own: Sequence[Own], theirs: Iterable[ForeignMessage]) -> Match:
    """Lay two transcripts side by side.

    They are one session when everything there is found here in the same order, or when they begin alike and only one
    of them, or each behind what both have, goes on. Two that differ from the first message on are two sessions, unless
    one of them is empty.
    """
    places: dict[int, list[int]] = {}
    for n, message_here in enumerate(own):
        places.setdefault(message_here.essence, []).append(n)
    same: list[tuple[ForeignMessage, int]] = []
    at = 0
    passed_over = unmatched = 0
    for message in theirs:
        here = places.get(message.essence, ())
        nth = bisect_left(here, at)
        if nth == len(here):
            unmatched += 1
            continue
        if unmatched:
            return Match([], False)  # theirs has something in the middle that ours has not
        passed_over += here[nth] - at
        at = here[nth] + 1
        same.append((message._replace(columns={}), own[here[nth]].id))
    everything_found = unmatched == 0
    one_goes_on = bool(same) and passed_over == 0
    return Match(same, everything_found or one_goes_on or not own)
