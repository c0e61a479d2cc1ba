"""What a digest costs: the first one, one when nothing changed, and one when some sessions went on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sqlalchemy import select

from hermes_state import SessionDB
from hermes_state.copying.digest import digests
from hermes_state.portability.stored import content_of
from hermes_state.schema import sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Of a hundred sessions that can take a message, one gets it.
_EVERY = 100


def measured(place: str, server_s: Callable[[], float]) -> Iterator[tuple[str, dict[str, float]]]:
    """Each kind of digest of a store that had none yet.

    Args:
        server_s: CPU seconds of its server so far.
    """
    yield "first", _digest(place, server_s)
    yield "nothing changed", _digest(place, server_s)
    touched = _go_on(place)
    yield "1 % of sessions went on", _digest(place, server_s) | {"sessions_touched": touched}
    yield "anew", _digest(place, server_s, anew=True)


def _digest(place: str, server_s: Callable[[], float], *, anew: bool = False) -> dict[str, float]:
    server, cpu, wall = server_s(), time.process_time(), time.perf_counter()
    with content_of(place, anew=anew) as content:
        found = digests(content)
        if content.not_kept:
            raise RuntimeError(content.not_kept)
    taken = {"cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall, "server_s": server_s() - server}
    return {**taken, "messages_read": found.read}


def _go_on(place: str) -> int:
    with SessionDB.open(place, synchronous="NORMAL") as db:
        with db.engine.read() as connection:
            query = select(sessions.c.id).where(~sessions.c.sealed).order_by(sessions.c.pk)
            ids = connection.execute(query).scalars().all()[::_EVERY]
        for session_id in ids:
            db.messages.append(session_id, role="user", content="and one more thing")
    return len(ids)
