"""What is still to be told to a memory provider: kept until it was told, so a killed process loses no turn."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, String, Table, Text

from hermes_state.schema.naming import metadata

memory_outbox = Table(
    "memory_outbox",
    metadata,
    Column("pk", Integer, primary_key=True),
    Column("provider", String, nullable=False),
    Column("kind", String, nullable=False),  # which hook: `sync_turn`, `on_session_end`, `on_session_switch`, …
    Column("session_id", String, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("claimed_by", String),  # the process that is telling it
    Column("claimed_until", BigInteger),
    Column("last_error", Text),
    Column("payload", Text, nullable=False),  # JSON
)
Index("ix_memory_outbox_provider_pk", memory_outbox.c.provider, memory_outbox.c.pk)
