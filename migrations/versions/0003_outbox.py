"""What memory providers are still to be told."""

from alembic import op

revision = "0003"
down_revision = "0002"

TABLES = [
    """
    CREATE TABLE memory_outbox (
        pk INTEGER NOT NULL,
        turn_id VARCHAR NOT NULL,
        provider VARCHAR NOT NULL,
        kind VARCHAR NOT NULL,
        session_id VARCHAR NOT NULL,
        created_at BIGINT NOT NULL,
        attempts INTEGER NOT NULL,
        is_set_aside INTEGER NOT NULL,
        claimed_by VARCHAR,
        claimed_until BIGINT,
        last_error TEXT,
        payload TEXT NOT NULL,
        CONSTRAINT pk_memory_outbox PRIMARY KEY (pk),
        CONSTRAINT uq_memory_outbox_turn_id UNIQUE (turn_id)
    )
    """,
    """
    CREATE INDEX ix_memory_outbox_provider_pk ON memory_outbox (provider, pk)
    """,
]


def upgrade() -> None:
    for statement in TABLES:
        op.execute(statement)
