"""Which row of the target a row of the source is. Keys are the store's own; what names a row is the same in both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select, tuple_

from hermes_state.schema import entities, facts, import_sources, memories, messages, sessions, system_prompts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import Column, Connection

# Values bound to one statement, well below SQLite's limit.
_CHUNK = 300
# Pairs that are remembered, so that memory does not grow with the store.
_REMEMBERED = 50_000


class Named(NamedTuple):
    """Rows that others refer to by key: the key's column, and the columns that name a row in any store."""

    key: Column[Any]
    names: tuple[Column[Any], ...]


PROMPTS = Named(system_prompts.c.pk, (system_prompts.c.sha256,))
SESSIONS = Named(sessions.c.pk, (sessions.c.id,))
SOURCES = Named(import_sources.c.pk, (import_sources.c.kind, import_sources.c.location))
MEMORIES = Named(memories.c.pk, (memories.c.id,))
FACTS = Named(facts.c.pk, (facts.c.digest, facts.c.user_id, facts.c.session_id))
ENTITIES = Named(entities.c.pk, (entities.c.folded,))
# The first of the names is a key itself, of `SESSIONS`.
MESSAGES = Named(messages.c.id, (messages.c.session_pk, messages.c.position))


class Keys:
    """Keys of the source to keys of the target.

    Args:
        source: the snapshot that is copied.
    """

    def __init__(self, source: Connection) -> None:
        self._source = source
        self._known: dict[tuple[str, int], int] = {}

    def begin(self) -> None:
        """Before the keys of a batch are learned: forget the others when there are many."""
        if len(self._known) > _REMEMBERED:
            self._known.clear()

    def learn(self, target: Connection, named: Named, keys: Iterable[int | None]) -> None:
        """Look up what is not known yet; what is not in the target stays unknown."""
        table = named.key.table.name
        wanted = sorted({key for key in keys if key is not None and (table, key) not in self._known})
        for some in chunks(wanted):
            names = {key: tuple(rest) for key, *rest in _rows(self._source, named, named.key.in_(some))}
            if named is MESSAGES:
                names = self._in_sessions(target, names)
            found = find(target, named, names.values())
            self._known |= {(table, key): found[name] for key, name in names.items() if name in found}

    def _in_sessions(self, target: Connection, names: dict[int, tuple[Any, ...]]) -> dict[int, tuple[Any, ...]]:
        self.learn(target, SESSIONS, [session for session, _ in names.values()])
        placed = ((key, self.of(SESSIONS, session), position) for key, (session, position) in names.items())
        return {key: (session, position) for key, session, position in placed if session is not None}

    def of(self, named: Named, key: int | None) -> int | None:
        """The row's key in the target; None where it has none, or none was learned."""
        return None if key is None else self._known.get((named.key.table.name, key))


def find(connection: Connection, named: Named, names: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, ...], int]:
    """The keys of the rows with these names that are here."""
    found: dict[tuple[Any, ...], int] = {}
    for some in chunks(list(names)):
        is_named = tuple_(*named.names).in_(some) if len(named.names) > 1 else named.names[0].in_([n[0] for n in some])
        found |= {tuple(rest): key for key, *rest in _rows(connection, named, is_named)}
    return found


def _rows(connection: Connection, named: Named, where: Any) -> Iterator[Any]:
    return iter(connection.execute(select(named.key, *named.names).where(where)).fetchall())


def chunks(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Pieces that fit one statement."""
    return (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))
