"""Deleting and pruning: what goes, what stays, and how what stays goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, update

from hermes_state import index
from hermes_state.activity import counted_columns, fold, raise_id_floor
from hermes_state.clock import from_us_or_none
from hermes_state.conversation import move_conversation
from hermes_state.errors import StoreDamaged
from hermes_state.listing import SessionFilter, conditions
from hermes_state.records import Deletion, Relation
from hermes_state.resolve import resolve
from hermes_state.schema import memory_outbox, messages, sessions, system_prompts
from hermes_state.session_rows import in_chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlalchemy import ColumnElement, Connection, CursorResult

    from hermes_state.engine import Engine

# Messages taken out of the index and the table at a time; bounds memory, not the transaction.
_CHUNK = 500


def delete(engine: Engine, ref: str, *, dry_run: bool) -> Deletion:
    """Delete a session, the earlier segments it stands for, and the delegates of all of them; see `Sessions.delete`.

    A list shows the tip, so deleting what it shows deletes the whole conversation. Deleting an earlier segment leaves
    the later ones, which go on as the conversation. Branches stay, without their parent.
    """

    def named(connection: Connection) -> list[int]:
        return _with_earlier(connection, [resolve(connection, ref)])

    if dry_run:
        with engine.read() as connection:
            return remove(connection, named(connection), dry_run=True)
    return _removing(engine, named)


def _removing(engine: Engine, doomed: Callable[[Connection], Sequence[int]]) -> Deletion:
    """Delete sessions in one transaction. A damaged index hinders no deletion: it is emptied, to be built anew."""
    try:
        with engine.write() as connection:
            return remove(connection, doomed(connection))
    except StoreDamaged as error:
        index.MessageIndex(engine).report_damage(error)
    with engine.write() as connection:
        return remove(connection, doomed(connection))


def _with_earlier(connection: Connection, session_pks: Iterable[int]) -> list[int]:
    """The sessions and every earlier segment of their conversations, which without them would come back as new ones."""
    chain: dict[int, None] = {}
    for session_pk in session_pks:
        parent: int | None = session_pk
        while parent is not None and parent not in chain:
            chain[parent] = None
            c = sessions.c
            row = connection.execute(select(c.parent_pk, c.relation).where(c.pk == parent)).one()
            parent = row.parent_pk if row.relation == Relation.COMPRESSION else None
    return list(chain)


def prune(engine: Engine, wanted: SessionFilter, *, include_open: bool, dry_run: bool) -> Deletion:
    """Delete every session that passes the filter, segment by segment; a tip takes its earlier segments with it.

    In short transactions, so that others write in between; each looks again at what it is about to delete.
    """
    with engine.read() as connection:
        rows = _passing(connection, wanted).fetchall()
        kept = {} if include_open else {row.id: "open" for row in rows if row.ended_at is None}
        going = [row for row in rows if row.id not in kept]
        if dry_run:
            return remove(connection, _going(connection, going), kept=kept, dry_run=True)
    done = Deletion(kept=kept)
    for batch in _batches(going):

        def still(connection: Connection, batch: list[int] = batch) -> list[int]:
            rows = _passing(connection, wanted, sessions.c.pk.in_(batch)).fetchall()
            return _going(connection, [row for row in rows if include_open or row.ended_at is not None])

        done = _together(done, _removing(engine, still))
    return done


def _going(connection: Connection, rows: Sequence[Any]) -> list[int]:
    """The keys of segments to delete: a list shows a conversation by its tip, which stands for what came before."""
    tips = [row.pk for row in rows if row.is_tip]
    return list(dict.fromkeys([*(row.pk for row in rows), *_with_earlier(connection, tips)]))


def _passing(connection: Connection, wanted: SessionFilter, *more: ColumnElement[bool]) -> CursorResult[Any]:
    """The segments that a filter takes; delegates only when it asks for them."""
    counted = counted_columns(connection)
    c = sessions.c
    every = conditions(replace(wanted, every_segment=True), counted)
    if not wanted.include_delegates and not wanted.every_segment:
        every.append(c.delegated.is_(False))
    query = select(c.pk, c.id, c.is_tip, c.ended_at, counted.message_count.label("size"))
    if counted.tail is not None:
        query = query.outerjoin(counted.tail, counted.tail.c.session_pk == c.pk)
    return connection.execute(query.where(*every, *more))


def _batches(rows: Sequence[Any]) -> Iterable[list[int]]:
    """The sessions' keys in groups of some `_CHUNK` messages."""
    batch: list[int] = []
    size = 0
    for row in rows:
        batch.append(row.pk)
        size += row.size + 1
        if size >= _CHUNK:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _together(one: Deletion, other: Deletion) -> Deletion:
    starts = [at for at in (one.oldest_at, other.oldest_at) if at is not None]
    ends = [at for at in (one.newest_at, other.newest_at) if at is not None]
    return replace(
        one,
        deleted=one.deleted + other.deleted,
        messages=one.messages + other.messages,
        oldest_at=min(starts, default=None),
        newest_at=max(ends, default=None),
    )


def remove(
    connection: Connection, session_pks: Sequence[int], *, kept: dict[str, str] | None = None, dry_run: bool = False
) -> Deletion:
    """Delete sessions with their messages and delegates, and mend the conversations they were part of."""
    doomed = _with_delegates(connection, session_pks)
    c = sessions.c
    rows = [
        row
        for some in in_chunks(doomed)
        for row in connection.execute(select(c.pk, c.id, c.started_at).where(c.pk.in_(some)))
    ]
    count = sum(
        connection.execute(select(func.count()).where(messages.c.session_pk.in_(some))).scalar_one()
        for some in in_chunks(doomed)
    )
    starts = [row.started_at for row in rows]
    if not dry_run and doomed:
        fold(connection)
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
            for some in in_chunks(frontier)
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
    conversations: set[int] = set()
    for some in in_chunks(doomed):
        conversations.update(connection.execute(select(c.conversation_pk).where(c.pk.in_(some))).scalars())
    _let_go(connection, doomed)
    for pk in doomed:
        delete_messages_of(connection, pk)
    for some in in_chunks(doomed):
        _forget_untold(connection, some)
        connection.execute(update(sessions).where(c.pk.in_(some)).values(parent_pk=None))
        connection.execute(sessions.delete().where(c.pk.in_(some)))
    for conversation in sorted(conversations):
        _regroup(connection, conversation)
    _drop_unused_prompts(connection)


def _forget_untold(connection: Connection, doomed: Sequence[int]) -> None:
    """What memory providers were still to be told of these sessions; a change of memory outlives the session."""
    ids = select(sessions.c.id).where(sessions.c.pk.in_(doomed))
    of_them = memory_outbox.c.session_id.in_(ids) & (memory_outbox.c.kind != "on_memory_write")
    connection.execute(memory_outbox.delete().where(of_them))


def _let_go(connection: Connection, doomed: Sequence[int]) -> None:
    """Children that stay lose their parent, but a later segment goes on from the nearest earlier one that stays."""
    c = sessions.c
    gone = set(doomed)
    for some in in_chunks(doomed):
        children = connection.execute(select(c.pk, c.parent_pk, c.relation).where(c.parent_pk.in_(some))).fetchall()
        for child in children:
            if child.pk in gone:
                continue
            parent = _earlier(connection, child.parent_pk, gone) if child.relation == Relation.COMPRESSION else None
            relation = None if parent is None else child.relation
            connection.execute(update(sessions).where(c.pk == child.pk).values(parent_pk=parent, relation=relation))


def _earlier(connection: Connection, segment_pk: int, gone: set[int]) -> int | None:
    """The nearest segment before a deleted one that stays."""
    c = sessions.c
    pk: int | None = segment_pk
    seen: set[int] = set()
    while pk is not None and pk in gone and pk not in seen:
        seen.add(pk)
        row = connection.execute(select(c.parent_pk, c.relation).where(c.pk == pk)).one()
        pk = row.parent_pk if row.relation == Relation.COMPRESSION else None
    return None if pk in gone else pk


def _regroup(connection: Connection, conversation_pk: int) -> None:
    """What is left of a conversation: one conversation for each segment that now stands first."""
    c = sessions.c
    left = connection.execute(
        select(c.pk, c.parent_pk, c.relation).where(c.conversation_pk == conversation_pk).order_by(c.pk)
    ).fetchall()
    firsts = [row.pk for row in left if row.parent_pk is None or row.relation != Relation.COMPRESSION]
    for first in firsts:
        move_conversation(connection, first)


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
        connection.execute(messages.delete().where(m.id.in_([row.id for row in rows])))


def _drop_unused_prompts(connection: Connection) -> None:
    used = select(sessions.c.system_prompt_pk).where(sessions.c.system_prompt_pk.is_not(None))
    connection.execute(system_prompts.delete().where(system_prompts.c.pk.not_in(used)))
