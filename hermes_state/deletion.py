"""Deleting and pruning: what goes, what stays, and how what stays goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, func, select, update

from hermes_state import index
from hermes_state.activity import counted_columns, fold, raise_id_floor
from hermes_state.clock import from_us_or_none
from hermes_state.conversation import move_conversation, retip
from hermes_state.listing import SessionFilter, conditions
from hermes_state.records import Deletion, Relation
from hermes_state.schema import messages, sessions, system_prompts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

# Messages taken out of the index and the table at a time; bounds memory, not the transaction.
_CHUNK = 500


def delete_conversation(connection: Connection, session_pk: int, *, dry_run: bool) -> Deletion:
    """Delete a session, the earlier segments it stands for, and the delegates of all of them.

    A list shows the tip, so deleting what it shows deletes the whole conversation. Deleting an earlier segment leaves
    the later ones, which go on as the conversation. Branches stay, without their parent.
    """
    chain: list[int] = []
    parent: int | None = session_pk
    while parent is not None and parent not in chain:
        chain.append(parent)
        row = connection.execute(select(sessions.c.parent_pk, sessions.c.relation).where(sessions.c.pk == parent)).one()
        parent = row.parent_pk if row.relation == Relation.COMPRESSION else None
    return remove(connection, chain, dry_run=dry_run)


def prune(connection: Connection, wanted: SessionFilter, *, include_open: bool, dry_run: bool) -> Deletion:
    """Delete every session that passes the filter, segment by segment; open ones are left unless asked for."""
    fold(connection)
    counted = counted_columns(connection)
    rows = connection.execute(
        select(sessions.c.pk, sessions.c.id, sessions.c.ended_at).where(*conditions(wanted, counted))
    ).fetchall()
    kept = {} if include_open else {row.id: "open" for row in rows if row.ended_at is None}
    return remove(connection, [row.pk for row in rows if row.id not in kept], kept=kept, dry_run=dry_run)


def remove(
    connection: Connection, session_pks: Sequence[int], *, kept: dict[str, str] | None = None, dry_run: bool = False
) -> Deletion:
    """Delete sessions with their messages and delegates, and mend the conversations they were part of."""
    fold(connection)
    doomed = _with_delegates(connection, session_pks)
    c = sessions.c
    rows = [
        row
        for some in _chunks(doomed)
        for row in connection.execute(select(c.pk, c.id, c.started_at).where(c.pk.in_(some)))
    ]
    count = sum(
        connection.execute(select(func.count()).where(messages.c.session_pk.in_(some))).scalar_one()
        for some in _chunks(doomed)
    )
    starts = [row.started_at for row in rows]
    if not dry_run and doomed:
        raise_id_floor(connection)
        _delete_rows(connection, doomed)
    return Deletion(
        deleted=tuple(row.id for row in rows),
        messages=count,
        kept=kept or {},
        oldest_at=from_us_or_none(min(starts, default=None)),
        newest_at=from_us_or_none(max(starts, default=None)),
        dry_run=dry_run,
    )


def _with_delegates(connection: Connection, session_pks: Iterable[int]) -> list[int]:
    """The sessions and all delegates below them, with what those delegated or were compressed into."""
    doomed = dict.fromkeys(session_pks)
    frontier = list(doomed)
    c = sessions.c
    while frontier:
        children = [
            pk
            for some in _chunks(frontier)
            for pk, relation, delegated in connection.execute(
                select(c.pk, c.relation, c.delegated).where(c.parent_pk.in_(some))
            )
            if relation == Relation.DELEGATE or (relation == Relation.COMPRESSION and delegated)
        ]
        frontier = [pk for pk in children if pk not in doomed]
        doomed.update(dict.fromkeys(frontier))
    return list(doomed)


def _delete_rows(connection: Connection, doomed: Sequence[int]) -> None:
    c = sessions.c
    gone = set(doomed)
    conversations: set[int] = set()
    orphans: list[tuple[int, str | None]] = []
    for some in _chunks(doomed):
        conversations.update(connection.execute(select(c.conversation_pk).where(c.pk.in_(some))).scalars())
        orphans += [
            (pk, relation)
            for pk, relation in connection.execute(select(c.pk, c.relation).where(c.parent_pk.in_(some)))
            if pk not in gone
        ]
    for pk, _ in orphans:
        connection.execute(update(sessions).where(c.pk == pk).values(parent_pk=None, relation=None))
    for pk in doomed:
        delete_messages_of(connection, pk)
    for some in _chunks(doomed):
        connection.execute(update(sessions).where(c.pk.in_(some)).values(parent_pk=None))
        connection.execute(delete(sessions).where(c.pk.in_(some)))
    for pk, relation in orphans:
        if relation == Relation.COMPRESSION:
            move_conversation(connection, pk)
    for conversation in conversations - gone:
        retip(connection, conversation)
    for conversation in conversations & gone:
        _adopt_leftovers(connection, conversation)
    _drop_unused_prompts(connection)


def _adopt_leftovers(connection: Connection, conversation_pk: int) -> None:
    """Segments that still name a deleted first segment go on under the earliest one left."""
    c = sessions.c
    first = connection.execute(
        select(c.pk).where(c.conversation_pk == conversation_pk).order_by(c.started_at, c.pk).limit(1)
    ).scalar()
    if first is not None:
        connection.execute(update(sessions).where(c.conversation_pk == conversation_pk).values(conversation_pk=first))
        retip(connection, first)


def delete_messages_of(connection: Connection, session_pk: int) -> None:
    """Delete every message of a session and its traces in the index."""
    m = messages.c
    batch = (
        select(m.id, m.content, m.content_format, m.tool_calls)
        .where(m.session_pk == session_pk)
        .order_by(m.id)
        .limit(_CHUNK)
    )
    while rows := connection.execute(batch).fetchall():
        index.forget(connection, rows)
        connection.execute(delete(messages).where(m.id.in_([row.id for row in rows])))


def _drop_unused_prompts(connection: Connection) -> None:
    used = select(sessions.c.system_prompt_pk).where(sessions.c.system_prompt_pk.is_not(None))
    connection.execute(delete(system_prompts).where(system_prompts.c.pk.not_in(used)))


def _chunks(pks: Sequence[int]) -> Iterable[Sequence[int]]:
    return (pks[start : start + _CHUNK] for start in range(0, len(pks), _CHUNK))
