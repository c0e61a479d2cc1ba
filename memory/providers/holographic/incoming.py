"""Facts on their way into a store: made clean, and told from those that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from hermes_state.codec import clean
from hermes_state.errors import InvalidValue
from hermes_state.schema import facts
from memory.providers.holographic.analysis import joined_tags
from memory.providers.holographic.records import NewFact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from memory.providers.holographic.analysis import Analysis

_f = facts.c


def content_of(content: str) -> str:
    """The text of a fact without what no text may hold, and without space around it.

    Raises:
        InvalidValue: nothing is left.
    """
    text = (clean(content) or "").strip()
    if not text:
        raise InvalidValue("a fact needs content", hint="say it in a sentence")
    return text


def cleaned(fact: NewFact) -> NewFact:
    """A fact as it is stored.

    Raises:
        InvalidValue: its content is blank.
    """
    return NewFact(
        content=content_of(fact.content),
        category=(clean(fact.category) or "").strip() or "general",
        tags=clean(joined_tags(fact.tags)) or "",
        trust=fact.trust,
        source=fact.source,
        user_id=clean(fact.user_id) or "",
        session_id=clean(fact.session_id) or "",
        retrieval_count=fact.retrieval_count,
        helpful_count=fact.helpful_count,
        created_at=fact.created_at,
        updated_at=fact.updated_at,
    )


def known_ids(
    connection: Connection, batch: Sequence[NewFact], analysed: Sequence[Analysis]
) -> dict[tuple[bytes, str, str], int]:
    """Which of these contents are stored, by content and owner."""
    query = select(_f.digest, _f.user_id, _f.session_id, _f.pk).where(_f.digest.in_([each.digest for each in analysed]))
    owners = {(fact.user_id, fact.session_id) for fact in batch}
    return {
        (bytes(row.digest), row.user_id, row.session_id): row.pk
        for row in connection.execute(query)
        if (row.user_id, row.session_id) in owners
    }
