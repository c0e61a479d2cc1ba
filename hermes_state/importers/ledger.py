"""What this store remembers of earlier imports: sources, and which sessions and messages came from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import insert, select, update

from hermes_state.clock import now_us
from hermes_state.importers.digests import parts_of
from hermes_state.schema import import_sources, imported_messages, imported_sessions, messages, sessions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

_s, _i, _m = import_sources.c, imported_sessions.c, imported_messages.c


class Known(NamedTuple):
    """A session that was brought in before. `session_pk` is None when it was deleted here since."""

    session_pk: int | None
    fingerprint: str

    @property
    def parts(self) -> dict[str, str]:
        """The digests of its parts as they were then."""
        return parts_of(self.fingerprint)


def source_pk(connection: Connection, kind: str, location: str) -> int:
    """The key of a source, made when it is new."""
    where = (_s.kind == kind) & (_s.location == location)
    pk = connection.execute(select(_s.pk).where(where)).scalar()
    if pk is not None:
        return int(pk)
    made = connection.execute(insert(import_sources).values(kind=kind, location=location, last_message_id=0))
    assert made.inserted_primary_key is not None
    return int(made.inserted_primary_key[0])


def finish(connection: Connection, pk: int, *, last_message_id: int, signature: str) -> None:
    """Note that an import of a source came to its end."""
    values = {"last_message_id": last_message_id, "signature": signature, "finished_at": now_us()}
    connection.execute(update(import_sources).where(_s.pk == pk).values(values))


def known_sessions(connection: Connection, pk: int) -> dict[str, Known]:
    """The sessions that were brought in from a source, by foreign id."""
    rows = connection.execute(select(_i.foreign_id, _i.session_pk, _i.fingerprint).where(_i.source_pk == pk))
    return {row.foreign_id: Known(row.session_pk, row.fingerprint) for row in rows}


def known_elsewhere(connection: Connection, pk: int, foreign_ids: Sequence[str]) -> dict[str, Known]:
    """Those of some (few) foreign sessions that were brought in from other sources; the newest word on each."""
    query = (
        select(_i.foreign_id, _i.session_pk, _i.fingerprint)
        .where(_i.foreign_id.in_(foreign_ids), _i.source_pk != pk)
        .order_by(_i.session_pk.is_not(None), _i.imported_at)  # one that is still here before one that was deleted
    )
    return {row.foreign_id: Known(row.session_pk, row.fingerprint) for row in connection.execute(query)}


def sessions_here(connection: Connection, ids: Sequence[str]) -> dict[str, int]:
    """The keys of those of some (few) ids that sessions here have."""
    rows = connection.execute(select(sessions.c.id, sessions.c.pk).where(sessions.c.id.in_(ids)))
    return {row.id: row.pk for row in rows}


class KnownMessage(NamedTuple):
    """A message that was brought in before, and the digest of the foreign one then."""

    id: int
    digest: int


def known_messages(connection: Connection, session_pk: int, pk: int) -> dict[int, KnownMessage]:
    """The messages of a session that came from a source, by foreign id."""
    rows = connection.execute(
        select(_m.foreign_id, _m.message_id, _m.digest).where(_m.session_pk == session_pk, _m.source_pk == pk)
    )
    return {row.foreign_id: KnownMessage(row.message_id, row.digest) for row in rows}


def platform_ids(connection: Connection, session_pk: int, foreign_ids: dict[int, int]) -> dict[str, int]:
    """The platform ids of a session's messages and the foreign message each belongs to; 0 for one of this store alone.

    Args:
        foreign_ids: by the message's id here.
    """
    m = messages.c
    query = select(m.platform_message_id, m.id).where(m.session_pk == session_pk, m.platform_message_id.is_not(None))
    return {row.platform_message_id: foreign_ids.get(row.id, 0) for row in connection.execute(query)}
