"""Curated memory: entries, tags, history, writes that wait for approval."""

from alembic import op

revision = "0002"
down_revision = "0001"

TABLES = [
    """
    CREATE TABLE memories (
        pk INTEGER NOT NULL,
        id VARCHAR NOT NULL,
        target VARCHAR NOT NULL,
        status VARCHAR NOT NULL,
        replaced_by_pk INTEGER,
        created_at BIGINT NOT NULL,
        changed_at BIGINT NOT NULL,
        content TEXT NOT NULL,
        raw BLOB,
        CONSTRAINT pk_memories PRIMARY KEY (pk),
        CONSTRAINT uq_memories_id UNIQUE (id),
        CONSTRAINT fk_memories_replaced_by_pk FOREIGN KEY(replaced_by_pk) REFERENCES memories (pk)
    )
    """,
    """
    CREATE INDEX ix_memories_replaced_by_pk ON memories (replaced_by_pk)
    """,
    """
    CREATE INDEX ix_memories_target_status ON memories (target, status)
    """,
    """
    CREATE TABLE memory_tags (
        memory_pk INTEGER NOT NULL,
        tag VARCHAR NOT NULL,
        CONSTRAINT pk_memory_tags PRIMARY KEY (memory_pk, tag),
        CONSTRAINT fk_memory_tags_memory_pk FOREIGN KEY(memory_pk) REFERENCES memories (pk) ON DELETE CASCADE
    )
     WITHOUT ROWID
    """,
    """
    CREATE INDEX ix_memory_tags_tag ON memory_tags (tag)
    """,
    """
    CREATE TABLE memory_events (
        pk INTEGER NOT NULL,
        memory_pk INTEGER NOT NULL,
        batch VARCHAR NOT NULL,
        action VARCHAR NOT NULL,
        at BIGINT NOT NULL,
        position INTEGER,
        undoes VARCHAR,
        "before" TEXT,
        "after" TEXT,
        origin TEXT,
        CONSTRAINT pk_memory_events PRIMARY KEY (pk),
        CONSTRAINT fk_memory_events_memory_pk FOREIGN KEY(memory_pk) REFERENCES memories (pk) ON DELETE CASCADE
    )
    """,
    """
    CREATE INDEX ix_memory_events_batch ON memory_events (batch)
    """,
    """
    CREATE INDEX ix_memory_events_memory_pk ON memory_events (memory_pk)
    """,
    """
    CREATE TABLE memory_proposals (
        id VARCHAR NOT NULL,
        requested_at BIGINT NOT NULL,
        decided_at BIGINT,
        decision VARCHAR,
        operations TEXT NOT NULL,
        origin TEXT,
        CONSTRAINT pk_memory_proposals PRIMARY KEY (id)
    )
    """,
]


def upgrade() -> None:
    for statement in TABLES:
        op.execute(statement)
