"""The tables of holographic memory: facts, the entities they are about, their vectors, banks and contradictions.

The full-text index over the facts is derived data and not here. Everything in `fact_vectors`, `fact_banks`,
`fact_slots` and `fact_conflicts` is derived too: it follows from the texts and can be made again.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from hermes_state.schema.naming import metadata

facts = Table(
    "facts",
    metadata,
    Column("pk", Integer, primary_key=True),  # what tools call `fact_id`; never given out twice
    Column("user_id", String, nullable=False),  # whose it is; "": everybody's
    Column("session_id", String, nullable=False),  # the conversation it is kept to; "": all
    Column("digest", LargeBinary, nullable=False),  # of the content without its spacing: the same fact is kept once
    Column("category", String, nullable=False),
    Column("source", String, nullable=False),  # `tool`, `memory`, `user` (mirrored), `extracted`, `imported`, `command`
    Column("trust", Float, nullable=False),  # 0 to 1
    Column("retrieval_count", Integer, nullable=False),
    Column("helpful_count", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),  # of content, category or tags, and of a helpful mark
    Column("superseded_by", Integer, ForeignKey("facts.pk", ondelete="SET NULL")),
    Column("superseded_at", BigInteger),  # set: kept, and no longer recalled
    Column("tags", Text, nullable=False),  # separated by commas
    Column("content", Text, nullable=False),
    UniqueConstraint("digest", "user_id", "session_id"),
)
Index("ix_facts_category_pk", facts.c.category, facts.c.pk)
Index("ix_facts_trust", facts.c.trust)
Index("ix_facts_superseded_by", facts.c.superseded_by)

entities = Table(
    "entities",
    metadata,
    Column("pk", Integer, primary_key=True),
    Column("folded", String, nullable=False, unique=True),  # the form in which two spellings are equal
    Column("name", String, nullable=False),  # as it was first written
    Column("shard", LargeBinary, nullable=False),  # 8 bytes of its hash: entities of one bank lie side by side
)
Index("ix_entities_shard", entities.c.shard)

entity_aliases = Table(
    "entity_aliases",
    metadata,
    Column("folded", String, primary_key=True),
    Column("entity_pk", Integer, ForeignKey("entities.pk", ondelete="CASCADE"), nullable=False),
    Column("name", String, nullable=False),
    sqlite_with_rowid=False,
)
Index("ix_entity_aliases_entity_pk", entity_aliases.c.entity_pk)

fact_entities = Table(
    "fact_entities",
    metadata,
    Column("fact_pk", Integer, ForeignKey("facts.pk", ondelete="CASCADE"), primary_key=True),
    Column("entity_pk", Integer, ForeignKey("entities.pk", ondelete="CASCADE"), primary_key=True),
    sqlite_with_rowid=False,
)
Index("ix_fact_entities_entity_pk_fact_pk", fact_entities.c.entity_pk, fact_entities.c.fact_pk)

fact_vectors = Table(
    "fact_vectors",
    metadata,
    Column("fact_pk", Integer, ForeignKey("facts.pk", ondelete="CASCADE"), primary_key=True),
    Column("dim", Integer, nullable=False),
    Column("parts", Integer, nullable=False),  # bundled in it: the content, and each entity
    Column("phases", LargeBinary, nullable=False),  # quantised, two to a byte
)

fact_banks = Table(
    "fact_banks",
    metadata,
    Column("category", String, primary_key=True),
    Column("shard", String, primary_key=True),  # bits of the entities' hash; a bank that is full is split in two
    Column("links", Integer, nullable=False),
    Column("sums", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

fact_slots = Table(
    "fact_slots",
    metadata,
    Column("slot", String, primary_key=True),  # what a fact says something of; only facts of one slot can disagree
    Column("fact_pk", Integer, ForeignKey("facts.pk", ondelete="CASCADE"), primary_key=True),
    sqlite_with_rowid=False,
)
Index("ix_fact_slots_fact_pk", fact_slots.c.fact_pk)

fact_conflicts = Table(
    "fact_conflicts",
    metadata,
    Column("older_pk", Integer, ForeignKey("facts.pk", ondelete="CASCADE"), primary_key=True),
    Column("newer_pk", Integer, ForeignKey("facts.pk", ondelete="CASCADE"), primary_key=True),
    Column("kind", String, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("reason", Text, nullable=False),
    sqlite_with_rowid=False,
)
Index("ix_fact_conflicts_newer_pk", fact_conflicts.c.newer_pk)

imported_facts = Table(
    "imported_facts",
    metadata,
    Column("origin", String, primary_key=True),  # the foreign database
    Column("foreign_id", Integer, primary_key=True),
    Column("digest", LargeBinary, nullable=False),  # of the content as it was taken over
    Column("fact_pk", Integer, nullable=False),  # may be gone: what was removed here does not come back
    sqlite_with_rowid=False,
)

fact_state = Table(
    "fact_state",
    metadata,
    Column("id", Integer, primary_key=True),  # one row: 1
    Column("id_floor", BigInteger, nullable=False),  # no fact gets a key up to this again
    Column("changes", BigInteger, nullable=False),  # grows with every write; caches compare it
    Column("segmentation", String),  # rules the full-text index was made with; NULL: there is none
    Column("indexed_through", BigInteger, nullable=False),  # where filling that index anew has come to
    Column("dim", Integer, nullable=False),  # of the vectors; 0: none was made yet
    Column("encoding", String),  # rules the vectors were made with; NULL: they are to be made again
    Column("encoded_through", BigInteger, nullable=False),  # where making them again has come to
    Column("banked_through", BigInteger, nullable=False),  # facts up to this are in the banks
    Column("compared_through", BigInteger, nullable=False),  # facts up to this were compared with their like
)
