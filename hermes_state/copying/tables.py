"""The tables around the conversations: what tells a row of each from the others, and what it refers to.

Every table of the schema is either here, or copied with the conversations, or derived, or of one machine; a test holds
the lists together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_state import schema
from hermes_state.copying.keys import ENTITIES, FACTS, MEMORIES, MESSAGES, PROMPTS, SESSIONS, SOURCES
from hermes_state.copying.mark import MARK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Table

    from hermes_state.copying.keys import Named


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """A table that is copied row by row.

    Attributes:
        table: which one.
        key: the columns that tell a row from others, the same in both stores once references are followed.
        references: columns that hold another row's key. A row whose key must be there, and is not, can't be copied.
        later: a reference to another row of this table: set when all rows are there.
        number: the column that each store fills by itself.
        is_number_kept: in an empty target it stays as it is.
        reset: columns that describe a process of one machine, and what they are set to.
        left_out: keys that stay behind.
    """

    table: Table
    key: tuple[str, ...]
    references: Mapping[str, Named] = field(default_factory=dict)
    later: tuple[str, Named] | None = None
    number: str | None = None
    is_number_kept: bool = False
    reset: Mapping[str, object] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


_SESSION = {"session_pk": SESSIONS}
_USAGE = ("session_pk", "model", "task", "provider", "base_url", "mode")

PROMPT_TABLE = Kept(table=schema.system_prompts, key=("sha256",), number="pk")
# What a session line of an export has in it.
OF_SESSIONS = (
    Kept(table=schema.session_tags, key=("session_pk", "tag"), references=_SESSION),
    Kept(table=schema.usage, key=_USAGE, references=_SESSION),
    Kept(table=schema.handoffs, key=("session_pk",), references=_SESSION),
)
AROUND = (
    Kept(table=schema.meta, key=("key",), left_out=(MARK, "memory_index.segmentation")),
    Kept(table=schema.routes, key=("scope", "key"), references=_SESSION),
    Kept(table=schema.import_sources, key=("kind", "location"), number="pk"),
    Kept(
        table=schema.imported_sessions,
        key=("source_pk", "foreign_id"),
        references={"source_pk": SOURCES, "session_pk": SESSIONS},
    ),
    Kept(
        table=schema.imported_messages,
        key=("session_pk", "source_pk", "foreign_id"),
        references={"source_pk": SOURCES, "session_pk": SESSIONS, "message_id": MESSAGES},
    ),
    Kept(
        table=schema.memory_outbox,
        key=("turn_id",),
        number="pk",
        reset={"claimed_by": None, "claimed_until": None},
    ),
    Kept(table=schema.memory_proposals, key=("id",)),
)
OF_MEMORIES = (
    Kept(table=schema.memories, key=("id",), later=("replaced_by_pk", MEMORIES), number="pk"),
    Kept(table=schema.memory_tags, key=("memory_pk", "tag"), references={"memory_pk": MEMORIES}),
    Kept(
        table=schema.memory_events,
        key=("memory_pk", "batch", "action", "at"),
        references={"memory_pk": MEMORIES},
        number="pk",
    ),
)
OF_FACTS = (
    Kept(
        table=schema.facts,
        key=("digest", "user_id", "session_id"),
        later=("superseded_by", FACTS),
        number="pk",
        is_number_kept=True,
    ),
    Kept(table=schema.entities, key=("folded",), number="pk"),
    Kept(table=schema.entity_aliases, key=("folded",), references={"entity_pk": ENTITIES}),
    Kept(
        table=schema.fact_entities,
        key=("fact_pk", "entity_pk"),
        references={"fact_pk": FACTS, "entity_pk": ENTITIES},
    ),
    Kept(table=schema.imported_facts, key=("origin", "foreign_id"), references={"fact_pk": FACTS}),
)
KEPT = (PROMPT_TABLE, *OF_SESSIONS, *AROUND, *OF_MEMORIES, *OF_FACTS)
CONVERSATIONS = (schema.sessions, schema.messages)
# Follow from the others, or are about the processes of one machine.
NOT_COPIED = (
    schema.store_state,
    schema.fact_state,
    schema.index_zones,
    schema.session_digests,
    schema.leases,
    schema.fact_vectors,
    schema.fact_banks,
    schema.fact_slots,
    schema.fact_conflicts,
)
# References of `sessions`.
SESSION_REFERENCES = {"parent_pk": SESSIONS, "conversation_pk": SESSIONS, "system_prompt_pk": PROMPTS}
