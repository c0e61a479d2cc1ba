"""The tables, as SQLAlchemy Core sees them. Alembic revisions carry their own frozen DDL; a test keeps both equal."""

from __future__ import annotations

from hermes_state.schema.conversations import (
    TRIGGERS,
    handoffs,
    import_sources,
    imported_messages,
    imported_sessions,
    index_zones,
    leases,
    messages,
    meta,
    routes,
    session_digests,
    session_tags,
    sessions,
    store_state,
    system_prompts,
    usage,
)
from hermes_state.schema.facts import (
    entities,
    entity_aliases,
    fact_banks,
    fact_conflicts,
    fact_entities,
    fact_slots,
    fact_state,
    fact_vectors,
    facts,
    imported_facts,
)
from hermes_state.schema.memories import memories, memory_events, memory_proposals, memory_tags
from hermes_state.schema.naming import metadata
from hermes_state.schema.outbox import memory_outbox

__all__ = [
    "TRIGGERS",
    "entities",
    "entity_aliases",
    "fact_banks",
    "fact_conflicts",
    "fact_entities",
    "fact_slots",
    "fact_state",
    "fact_vectors",
    "facts",
    "handoffs",
    "import_sources",
    "imported_facts",
    "imported_messages",
    "imported_sessions",
    "index_zones",
    "leases",
    "memories",
    "memory_events",
    "memory_outbox",
    "memory_proposals",
    "memory_tags",
    "messages",
    "meta",
    "metadata",
    "routes",
    "session_digests",
    "session_tags",
    "sessions",
    "store_state",
    "system_prompts",
    "usage",
]
