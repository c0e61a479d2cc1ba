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
        same: numbers of foreign messages, in order, and the id of each here.
        theirs: the foreign messages, without their columns.
        is_same_session: whether the two are one session, of which one side may hold more.
        is_in_order: whether what is new goes behind everything that is here.
    """

    same: dict[int, int]
    theirs: list[ForeignMessage]
    is_same_session: bool
    is_in_order: bool = True

    @property
    def pairs(self) -> list[tuple[ForeignMessage, int]]:
        """The foreign messages that are here, and the id of each here."""
        return [(self.theirs[n], message_id) for n, message_id in self.same.items()]


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


def match(own: Sequence[Own], foreign: Iterable[ForeignMessage]) -> Match:
    """Lay two transcripts side by side.

    They are one session when one of them has everything that the other has, in the same order (an export without the
    archived messages, a copy that did not go on), or when they begin alike (each side went on). Two that differ from
    the first message on are two sessions, unless one of them is empty.
    """
    theirs: list[ForeignMessage] = []
    said: list[int] = []
    for message in foreign:
        said.append(message.essence)
        theirs.append(message._replace(columns={}))
    here = [message.essence for message in own]
    found = _places(said, here)
    if len(found) == len(said):
        return Match({n: own[at].id for n, at in enumerate(found)}, theirs, True)
    found = _places(here, said)
    if len(found) == len(here):
        is_start = found == list(range(len(found)))
        return Match({at: own[n].id for n, at in enumerate(found)}, theirs, True, is_start)
    alike = next(n for n, (ours, other) in enumerate(zip([*here, None], [*said, None], strict=False)) if ours != other)
    return Match({n: own[n].id for n in range(alike)}, theirs, alike > 0)


def _places(wanted: Sequence[int], among: Sequence[int]) -> list[int]:
    """Where each of `wanted` stands in `among`, in order, as far as they are there."""
    places: dict[int, list[int]] = {}
    for n, essence in enumerate(among):
        places.setdefault(essence, []).append(n)
    found: list[int] = []
    for essence in wanted:
        here = places.get(essence, ())
        nth = bisect_left(here, found[-1] + 1 if found else 0)
        if nth == len(here):
            break
        found.append(here[nth])
    return found
