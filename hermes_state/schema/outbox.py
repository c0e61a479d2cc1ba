"""What is still to be told to a memory provider: kept until it was told, so a killed process loses no turn."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, String, Table, Text, UniqueConstraint

from hermes_state.schema.naming import metadata

memory_outbox = Table(
    "memory_outbox",
    metadata,
    Column("pk", Integer, primary_key=True),
    Column("turn_id", String, nullable=False),  # the same each time it is told: what a provider can know it by
    Column("provider", String, nullable=False),
    Column("kind", String, nullable=False),  # which hook: `sync_turn`, `on_session_end`, `on_memory_write`, …
    Column("session_id", String, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),  # counted before it is told, so that one that kills the process ends
    Column("is_set_aside", Integer, nullable=False),  # 1: tried often enough; waits for a person
    Column("claimed_by", String),  # the process that is to tell it
    Column("claimed_until", BigInteger),
    Column("last_error", Text),
    Column("payload", Text, nullable=False),  # JSON
    UniqueConstraint("turn_id", name="uq_memory_outbox_turn_id"),
)
Index("ix_memory_outbox_provider_pk", memory_outbox.c.provider, memory_outbox.c.pk)
