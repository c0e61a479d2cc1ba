"""The tables of curated memory: every entry ever written, its tags and history, and writes that wait for approval.

The full-text index over the entries is derived data and not here.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, String, Table, Text

from hermes_state.schema.naming import metadata

memories = Table(
    "memories",
    metadata,
    Column("pk", Integer, primary_key=True),
    Column("id", String, nullable=False, unique=True),  # short and stable: what a list shows and a command takes
    Column("target", String, nullable=False),  # `memory` or `user`: which file
    Column("status", String, nullable=False),  # `active`: in the file; `archived`: left it; `removed`; `replaced`
    Column("replaced_by_pk", Integer, ForeignKey("memories.pk")),
    Column("created_at", BigInteger, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    Column("content", Text, nullable=False),
    Column("raw", LargeBinary),  # the bytes as they lie in the file, where they are no UTF-8
)
Index("ix_memories_target_status", memories.c.target, memories.c.status)
Index("ix_memories_replaced_by_pk", memories.c.replaced_by_pk)

memory_tags = Table(
    "memory_tags",
    metadata,
    Column("memory_pk", Integer, ForeignKey("memories.pk", ondelete="CASCADE"), primary_key=True),
    Column("tag", String, primary_key=True),
    sqlite_with_rowid=False,
)
Index("ix_memory_tags_tag", memory_tags.c.tag)

memory_events = Table(
    "memory_events",
    metadata,
    Column("pk", Integer, primary_key=True),
    Column("memory_pk", Integer, ForeignKey("memories.pk", ondelete="CASCADE"), nullable=False),
    Column("batch", String, nullable=False),  # changes made together are undone together
    Column("action", String, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("position", Integer),  # the entry's place in the file
    Column("undoes", String),  # the batch that this one took back
    Column("before", Text),
    Column("after", Text),
    Column("origin", Text),  # JSON: who wrote it, in which session, by which call
)
Index("ix_memory_events_memory_pk", memory_events.c.memory_pk)
Index("ix_memory_events_batch", memory_events.c.batch)

memory_proposals = Table(
    "memory_proposals",
    metadata,
    Column("id", String, primary_key=True),
    Column("requested_at", BigInteger, nullable=False),
    Column("decided_at", BigInteger),
    Column("decision", String),  # `approved`, `rejected`; NULL: it waits
    Column("operations", Text, nullable=False),  # JSON
    Column("origin", Text),  # JSON
)
