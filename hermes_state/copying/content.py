"""What a store says, as lines: sessions with their messages, memories, facts; the same lines whatever holds them.

A store in SQLite, one on PostgreSQL and the files of a pack give equal lines for equal content: no key of a row, no
counter and nothing else that can be derived is in them. `docs/digest.md` lists every name.
"""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import func, select, tuple_

from hermes_state.copying.digest import NO_MESSAGES, Chained
from hermes_state.copying.learned import Learned
from hermes_state.schema import (
    entities,
    entity_aliases,
    fact_entities,
    facts,
    handoffs,
    messages,
    session_tags,
    sessions,
    system_prompts,
    usage,
)
from hermes_state.transfer.lines import USAGE_KEYS, handoff_line, message_line, moment, session_line, usage_line
from hermes_state.transfer.memories import memory_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from sqlalchemy import Connection, Table

    from hermes_state.transfer.lines import Line

_c, _m, _f = sessions.c, messages.c, facts.c
_parent = sessions.alias("parent")
# Looked up for each session: a server without statistics would join by reading all sessions for each.
_parent_id = select(_parent.c.id).where(_parent.c.pk == _c.parent_pk).scalar_subquery().label("parent_id")
_prompt = select(system_prompts.c.sha256).where(system_prompts.c.pk == _c.system_prompt_pk)
_prompt_sha256 = _prompt.scalar_subquery().label("sha256")
_newer = facts.alias("newer")
# Sessions whose lines are asked for together, and rows fetched at a time.
_SESSIONS, _FETCH = 200, 1000


class Content(Protocol):
    """Something that holds what a store holds."""

    @property
    def not_kept(self) -> str:
        """Why what its messages say was not kept for the next time; "" when it was, or was not to be."""

    def chains(self) -> Iterator[Chained]:
        """Every session."""

    def named(self, ids: Collection[str]) -> Iterator[tuple[Line, Iterator[Line]]]:
        """Those sessions that are in it: line and message lines in order, to be read before the next session."""

    def memories(self) -> Iterator[Line]:
        """Every memory, with its tags and history."""

    def facts(self) -> Iterator[Line]:
        """Every fact and every entity that facts are about."""


class StoreContent:
    """The content of an open store.

    Args:
        connection: inside `engine.read()`, so that everything is as it was at one moment.
        learned: what is known of its sessions; None: what earlier digests kept, and nothing is kept of this one.
    """

    def __init__(self, connection: Connection, learned: Learned | None = None) -> None:
        self._connection = connection
        self._learned = learned or Learned(connection)

    @property
    def not_kept(self) -> str:
        """Why what was read could not be kept."""
        return self._learned.not_kept

    def chains(self) -> Iterator[Chained]:
        """In order of their keys; of messages, what is not known is read."""
        after = 0
        query = select(_c.pk).order_by(_c.pk).limit(_SESSIONS)
        while pks := list(self._connection.execute(query.where(_c.pk > after)).scalars()):
            yield from self._chained(pks)
            after = pks[-1]
        self._learned.keep()

    def _chained(self, pks: Sequence[int]) -> Iterator[Chained]:
        known = self._learned.of(pks)
        for pk, line, new in self._with_messages(pks, {pk: chain.position for pk, chain in known.items()}):
            start, total = known.get(pk, NO_MESSAGES), line["messages"]
            chain = start.extended(new) if start.messages != total else start
            read = chain.messages - start.messages
            if chain.messages != total:  # one was added among those that are known
                chain = NO_MESSAGES.extended(messages_behind(self._connection, pk, NO_MESSAGES.position))
                read = chain.messages
            if read:
                self._learned.note(pk, chain)
            yield Chained(line, chain, read)

    def named(self, ids: Collection[str]) -> Iterator[tuple[Line, Iterator[Line]]]:
        """Those sessions that are here, one after another."""
        for session_id in ids:
            pk = self._connection.execute(select(_c.pk).where(_c.id == session_id)).scalar()
            if pk is not None:
                yield from ((line, its) for _, line, its in self._with_messages([int(pk)], {}))

    def _with_messages(
        self, pks: Sequence[int], known: Mapping[int, int]
    ) -> Iterator[tuple[int, Line, Iterator[Line]]]:
        """Sessions that follow one another, with the messages behind the position that is known of each."""
        if any(position > NO_MESSAGES.position for position in known.values()):
            for key, line in self._session_lines(pks):
                yield key, line, messages_behind(self._connection, key, known.get(key, NO_MESSAGES.position))
            return
        rows = groupby(self._all_messages(pks), attrgetter("session_pk"))
        pk, found = next(rows, (None, iter(())))
        for key, line in self._session_lines(pks):
            is_its = pk == key
            yield key, line, map(message_line, found) if is_its else iter(())
            if is_its:
                pk, found = next(rows, (None, iter(())))

    def _all_messages(self, pks: Sequence[int]) -> Iterator[Any]:
        """In pages: a cursor of a server that is left open here would be closed whenever the generator goes, in the
        middle of other work on the connection.
        """
        place = tuple_(_m.session_pk, _m.position)
        query = select(messages).where(_m.session_pk <= pks[-1]).order_by(_m.session_pk, _m.position).limit(_FETCH)
        after = (pks[0], NO_MESSAGES.position)
        while rows := self._connection.execute(query.where(place > after)).fetchall():
            yield from rows
            after = (rows[-1].session_pk, rows[-1].position)

    def _session_lines(self, pks: Sequence[int]) -> list[tuple[int, Line]]:
        """Of sessions that follow one another."""
        query = select(sessions, _parent_id, _prompt_sha256).where(_c.pk.between(pks[0], pks[-1])).order_by(_c.pk)
        rows = self._connection.execute(query).fetchall()
        tags = self._by_session(session_tags, pks, "tag")
        used = self._by_session(usage, pks, *USAGE_KEYS)
        handed = self._by_session(handoffs, pks)
        of_them = _m.session_pk.between(pks[0], pks[-1])
        many = select(_m.session_pk, func.count()).where(of_them).group_by(_m.session_pk)
        counts = {row[0]: row[1] for row in self._connection.execute(many)}
        return [
            (
                row.pk,
                session_line(
                    row,
                    prompt=None if row.sha256 is None else row.sha256.hex(),
                    tags=[tag.tag for tag in tags.get(row.pk, ())],
                    usage=[usage_line(one) for one in used.get(row.pk, ())],
                    handoff=next((handoff_line(one) for one in handed.get(row.pk, ())), None),
                    messages=counts.get(row.pk, 0),
                ),
            )
            for row in rows
        ]

    def _by_session(self, table: Table, pks: Sequence[int], *order: str) -> dict[int, list[Any]]:
        key = table.c.session_pk
        query = select(table).where(key.between(pks[0], pks[-1])).order_by(key, *(table.c[name] for name in order))
        return {pk: list(rows) for pk, rows in groupby(self._connection.execute(query), attrgetter("session_pk"))}

    def memories(self) -> Iterator[Line]:
        """In order of time."""
        return memory_lines(self._connection)

    def facts(self) -> Iterator[Line]:
        """In order of their keys."""
        yield from self._facts()
        yield from self._entities()

    def _facts(self) -> Iterator[Line]:
        query = select(facts, _newer.c.content.label("newer")).outerjoin(_newer, _newer.c.pk == _f.superseded_by)
        after = 0
        while rows := self._connection.execute(query.where(_f.pk > after).order_by(_f.pk).limit(_FETCH)).fetchall():
            about = self._about([row.pk for row in rows])
            yield from (_fact_line(row, about.get(row.pk, [])) for row in rows)
            after = rows[-1].pk

    def _about(self, pks: Sequence[int]) -> dict[int, list[str]]:
        link = fact_entities.c
        query = select(link.fact_pk, entities.c.folded).join(entities, entities.c.pk == link.entity_pk)
        rows = self._connection.execute(query.where(link.fact_pk.between(pks[0], pks[-1])).order_by(link.fact_pk))
        return {pk: sorted(row.folded for row in found) for pk, found in groupby(rows, attrgetter("fact_pk"))}

    def _entities(self) -> Iterator[Line]:
        e = entities.c
        page = query = select(e.pk, e.folded, e.name).order_by(e.folded).limit(_FETCH)
        while rows := self._connection.execute(page).fetchall():
            aliases = self._aliases([row.pk for row in rows])
            for row in rows:
                line = {"type": "entity", "folded": row.folded, "name": row.name}
                yield line | ({"aliases": aliases[row.pk]} if row.pk in aliases else {})
            page = query.where(e.folded > rows[-1].folded)

    def _aliases(self, pks: Sequence[int]) -> dict[int, list[list[str]]]:
        a = entity_aliases.c
        query = select(a.entity_pk, a.folded, a.name).where(a.entity_pk.in_(pks)).order_by(a.entity_pk, a.folded)
        rows = self._connection.execute(query)
        return {pk: [[row.folded, row.name] for row in found] for pk, found in groupby(rows, attrgetter("entity_pk"))}


def messages_behind(connection: Connection, session_pk: int, position: int) -> Iterator[Line]:
    """The lines of a session's messages behind a position, in order; read in pages as they are asked for."""
    query = select(messages).where(_m.session_pk == session_pk).order_by(_m.position).limit(_FETCH)
    while rows := connection.execute(query.where(_m.position > position)).fetchall():
        yield from map(message_line, rows)
        position = rows[-1].position


def _fact_line(row: Any, about: list[str]) -> Line:
    values: Line = {
        "type": "fact",
        "content": row.content,
        "user_id": row.user_id or None,
        "session_id": row.session_id or None,
        "category": row.category,
        "source": row.source,
        "trust": float(row.trust),
        "retrieval_count": row.retrieval_count or None,
        "helpful_count": row.helpful_count or None,
        "created_at": moment(row.created_at),
        "updated_at": moment(row.updated_at),
        "superseded_by": row.newer,
        "superseded_at": None if row.superseded_at is None else moment(row.superseded_at),
        "tags": row.tags or None,
        "entities": about or None,
    }
    return {name: value for name, value in values.items() if value is not None}
