"""A conversation: the chain of session segments that compression made of it, and which segment is its tip.

Every segment carries the pk of the first one (`conversation_pk`), and one segment is marked `is_tip`: the one to
resume and to show in lists. Branches, delegates and sessions after a reset are conversations of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select, update

from hermes_state.activity import fold
from hermes_state.clock import now_us
from hermes_state.records import Relation
from hermes_state.schema import sessions

if TYPE_CHECKING:
    from sqlalchemy import Connection

COMPRESSION_END = "compression"
# End reasons of a parent that tell what a child without a stated relation is.
_RELATION_AFTER = {COMPRESSION_END: Relation.COMPRESSION, "branched": Relation.BRANCH}
_DELEGATE_SOURCES = frozenset(("subagent", "delegate"))


def infer_relation(parent_end_reason: str | None, child_source: str) -> Relation:
    """What a child is when its creator did not say: told by how its parent ended, else a fresh start after it."""
    if child_source in _DELEGATE_SOURCES:
        return Relation.DELEGATE
    return _RELATION_AFTER.get(parent_end_reason or "", Relation.RESET)


def retip(connection: Connection, conversation_pk: int) -> int | None:
    """Mark the segment to resume and return its pk; None when no segment is left.

    Of the last segments of the chain it is the live one, then the one active last, then the one started last.
    """
    fold(connection)  # "active last" needs counters that are up to date
    c = sessions.c
    segments = connection.execute(
        select(c.pk, c.parent_pk, c.ended_at, c.last_active_at, c.started_at, c.is_tip).where(
            c.conversation_pk == conversation_pk
        )
    ).fetchall()
    if not segments:
        return None
    parents = {row.parent_pk for row in segments}
    leaves = [row for row in segments if row.pk not in parents] or segments
    tip = max(leaves, key=lambda row: (row.ended_at is None, row.last_active_at, row.started_at, row.pk))
    if [row.pk for row in segments if row.is_tip] != [tip.pk]:
        # In two steps: a conversation never has two tips, not even between two rows of one statement.
        connection.execute(update(sessions).where(c.conversation_pk == conversation_pk, c.is_tip).values(is_tip=False))
        connection.execute(update(sessions).where(c.pk == tip.pk).values(is_tip=True))
    return int(tip.pk)


def seal(connection: Connection, session_pk: int) -> None:
    """End a session by compression (an earlier reason stays): appends go to its child from now on."""
    c = sessions.c
    connection.execute(
        update(sessions)
        .where(c.pk == session_pk)
        .values(
            sealed=True,
            ended_at=func.coalesce(c.ended_at, now_us()),
            end_reason=func.coalesce(c.end_reason, COMPRESSION_END),
        )
    )


def segments_of(connection: Connection, session_pk: int) -> list[int]:
    """The segments of a session's conversation, each after the one it continues, whatever the clock said."""
    c = sessions.c
    conversation = select(c.conversation_pk).where(c.pk == session_pk).scalar_subquery()
    rows = connection.execute(select(c.pk, c.parent_pk).where(c.conversation_pk == conversation).order_by(c.pk))
    parents: dict[int | None, int | None] = {row.pk: row.parent_pk for row in rows}

    def depth(pk: int) -> int:
        chain: dict[int | None, None] = {}
        above: int | None = pk
        while above in parents and above not in chain:
            chain[above] = None
            above = parents[above]
        return len(chain)

    return sorted((pk for pk in parents if pk is not None), key=lambda pk: (depth(pk), pk))


def move_conversation(connection: Connection, root_pk: int, *, to: int | None = None) -> None:
    """Move `root_pk` and the compression segments below it to another conversation.

    Args:
        to: the conversation they become a part of; None: one of their own, as when the parent goes away.
    """
    c = sessions.c
    below = select(c.pk).where(c.pk == root_pk).cte("below", recursive=True)
    child = sessions.alias("child")
    below = below.union(  # UNION, not UNION ALL: a cycle in damaged data ends here
        select(child.c.pk).where(child.c.parent_pk == below.c.pk, child.c.relation == Relation.COMPRESSION)
    )
    target = root_pk if to is None else to
    moved = update(sessions).where(c.pk.in_(select(below.c.pk)))
    connection.execute(moved.values(conversation_pk=target, is_tip=False))
    retip(connection, target)
