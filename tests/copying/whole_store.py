"""A store with rows in every table that is content."""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select

from hermes_state import schema

if TYPE_CHECKING:
    from hermes_state.store import SessionDB

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
LONG = "出力 output مخرجات 🚀 " * 400


def fill(db: SessionDB) -> None:
    """Conversations of every kind, a gateway's tables, memories, facts, ledgers."""
    root = db.sessions.create("root", source="cli", title="計画", system_prompt="be kind 🙂", cwd="/srv")
    db.messages.append_many(
        root.id,
        [
            {"role": "user", "content": "请把 redis 升级到 7.2", "platform_message_id": "p1"},
            {"role": "assistant", "content": "\ud800\0", "tool_calls": [{"id": "c", "function": {"name": "x"}}]},
            {"role": "tool", "content": LONG, "tool_call_id": "c", "reasoning": "מה"},
        ],
    )
    db.messages.compact(root.id, [{"role": "user", "content": "summary"}])
    tip = db.lineage.rotate(root.id, [{"role": "user", "content": "more"}]).child
    db.messages.append(tip.id, role="user", content="oops")
    db.messages.rewind(tip.id, last=1)
    db.lineage.delegate(tip.id)
    db.lineage.branch(tip.id)
    db.sessions.tag(tip.id, "ops", "重要")
    db.sessions.archive(tip.id)
    db.usage.record(tip.id, model="glm", input_tokens=3, estimated_cost_usd=0.1)
    db.handoffs.request(tip.id, "telegram")
    db.routes.set("chat", tip.id, entry={"n": 1})
    db.meta.set("seen", "نعم")
    with db.engine.write() as connection:
        for table, rows in _rows(connection).items():
            connection.execute(insert(table), rows)


def _rows(connection: Any) -> dict[Any, list[dict[str, Any]]]:
    session, message = connection.execute(
        select(schema.messages.c.session_pk, schema.messages.c.id).order_by(schema.messages.c.id)
    ).first()
    given = dict.fromkeys(("replaced_by_pk", "raw"))
    memory = {"target": "memory", "created_at": 5, "changed_at": 6, **given}
    fact = {"user_id": "", "session_id": "", "category": "general", "source": "tool", "retrieval_count": 2}
    fact |= {"helpful_count": 1, "created_at": 7, "updated_at": 8, "superseded_at": None, "tags": "a,b"}
    return {
        schema.import_sources: [{"pk": 41, "kind": "hermes", "location": "/x", "last_message_id": 9}],
        schema.imported_sessions: [
            {"source_pk": 41, "foreign_id": "f", "session_pk": session, "fingerprint": "q", "imported_at": 1},
            {"source_pk": 41, "foreign_id": "gone", "session_pk": None, "fingerprint": "q", "imported_at": 1},
        ],
        schema.imported_messages: [
            {"session_pk": session, "source_pk": 41, "foreign_id": 3, "message_id": message, "digest": 77}
        ],
        schema.memories: [
            {**memory, "pk": 51, "id": "m1", "status": "active", "content": "likes 茶", "raw": b"\xff"},
            {**memory, "pk": 50, "id": "m0", "status": "replaced", "content": "likes tea", "replaced_by_pk": 51},
        ],
        schema.memory_tags: [{"memory_pk": 51, "tag": "taste"}],
        schema.memory_events: [
            {
                "memory_pk": 51,
                "batch": "b",
                "action": "add",
                "at": 5,
                "position": 3,
                "after": "likes 茶",
                "origin": '{"by":"x"}',
            }
        ],
        schema.memory_proposals: [{"id": "pr", "requested_at": 4, "operations": "[]"}],
        schema.memory_outbox: [
            {
                "turn_id": "t",
                "provider": "p",
                "kind": "sync_turn",
                "session_id": "root",
                "created_at": 1,
                "attempts": 0,
                "is_set_aside": 0,
                "payload": "{}",
                "claimed_by": "pid",
                "claimed_until": 5,
            }
        ],
        schema.facts: [
            {**fact, "pk": 7, "digest": _digest("new"), "trust": 0.7, "superseded_by": None, "content": "new"},
            {**fact, "pk": 6, "digest": _digest("old"), "trust": 0.1, "superseded_by": 7, "content": "old"},
        ],
        schema.entities: [{"pk": 9, "folded": "redis", "name": "Redis", "shard": b"12345678"}],
        schema.entity_aliases: [{"folded": "rds", "entity_pk": 9, "name": "RDS"}],
        schema.fact_entities: [{"fact_pk": 7, "entity_pk": 9}],
        schema.imported_facts: [{"origin": "o", "foreign_id": 1, "digest": b"d", "fact_pk": 7}],
    }


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def add_conversation(db: SessionDB, name: str, *texts: str) -> None:
    """A session whose messages say these texts."""
    db.sessions.create(name, source="cli", title=f"about {name}")
    db.messages.append_many(name, [{"role": "user", "content": text} for text in texts])


def counts(db: SessionDB) -> dict[str, int]:
    """Rows of every table."""
    with db.engine.read() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in schema.metadata.sorted_tables
        }
