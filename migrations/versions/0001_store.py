"""The store, first schema: sessions, messages, usage and what a gateway keeps."""

import time
import uuid

from alembic import op
from sqlalchemy import text

revision = "0001"
down_revision = None

TABLES = [
    """
    CREATE TABLE index_zones (
        first_id BIGINT NOT NULL,
        last_id BIGINT NOT NULL,
        min_created_at BIGINT NOT NULL,
        max_created_at BIGINT NOT NULL,
        CONSTRAINT pk_index_zones PRIMARY KEY (first_id)
    )
    """,
    """
    CREATE TABLE leases (
        name VARCHAR NOT NULL,
        owner VARCHAR NOT NULL,
        host VARCHAR NOT NULL,
        pid INTEGER NOT NULL,
        pid_started VARCHAR NOT NULL,
        acquired_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        CONSTRAINT pk_leases PRIMARY KEY (name)
    )
    """,
    """
    CREATE TABLE meta (
        "key" VARCHAR NOT NULL,
        value TEXT,
        CONSTRAINT pk_meta PRIMARY KEY ("key")
    )
    """,
    """
    CREATE TABLE store_state (
        id INTEGER NOT NULL,
        store_id VARCHAR NOT NULL,
        created_at BIGINT NOT NULL,
        id_floor BIGINT NOT NULL,
        counted_through BIGINT NOT NULL,
        indexed_through BIGINT NOT NULL,
        segmentation VARCHAR,
        rebuild_from BIGINT,
        CONSTRAINT pk_store_state PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE system_prompts (
        pk INTEGER NOT NULL,
        sha256 BLOB NOT NULL,
        text TEXT NOT NULL,
        CONSTRAINT pk_system_prompts PRIMARY KEY (pk),
        CONSTRAINT uq_system_prompts_sha256 UNIQUE (sha256)
    )
    """,
    """
    CREATE TABLE sessions (
        pk INTEGER NOT NULL,
        id VARCHAR NOT NULL,
        source VARCHAR NOT NULL,
        title VARCHAR,
        parent_pk INTEGER,
        relation VARCHAR,
        conversation_pk INTEGER NOT NULL,
        is_tip BOOLEAN NOT NULL,
        delegated BOOLEAN NOT NULL,
        sealed BOOLEAN NOT NULL,
        archived BOOLEAN NOT NULL,
        started_at BIGINT NOT NULL,
        ended_at BIGINT,
        end_reason VARCHAR,
        last_active_at BIGINT NOT NULL,
        message_count INTEGER NOT NULL,
        tool_call_count INTEGER NOT NULL,
        rewind_count INTEGER NOT NULL,
        model VARCHAR,
        user_id VARCHAR,
        chat_id VARCHAR,
        chat_type VARCHAR,
        thread_id VARCHAR,
        display_name VARCHAR,
        cwd VARCHAR,
        git_branch VARCHAR,
        git_root VARCHAR,
        profile VARCHAR,
        system_prompt_pk INTEGER,
        model_config TEXT,
        origin TEXT,
        extras TEXT,
        CONSTRAINT pk_sessions PRIMARY KEY (pk),
        CONSTRAINT uq_sessions_id UNIQUE (id),
        CONSTRAINT fk_sessions_parent_pk FOREIGN KEY(parent_pk) REFERENCES sessions (pk),
        CONSTRAINT fk_sessions_system_prompt_pk FOREIGN KEY(system_prompt_pk) REFERENCES system_prompts (pk)
    )
    """,
    """
    CREATE INDEX ix_sessions_chat ON sessions (source, chat_id, thread_id) WHERE chat_id IS NOT NULL
    """,
    """
    CREATE INDEX ix_sessions_conversation_pk ON sessions (conversation_pk)
    """,
    """
    CREATE INDEX ix_sessions_listed ON sessions (is_tip, delegated, archived, last_active_at)
    """,
    """
    CREATE INDEX ix_sessions_parent_pk ON sessions (parent_pk)
    """,
    """
    CREATE UNIQUE INDEX uq_sessions_tip ON sessions (conversation_pk) WHERE is_tip = 1
    """,
    """
    CREATE UNIQUE INDEX uq_sessions_title ON sessions (title) WHERE title IS NOT NULL
    """,
    """
    CREATE TABLE handoffs (
        session_pk INTEGER NOT NULL,
        state VARCHAR NOT NULL,
        platform VARCHAR NOT NULL,
        error TEXT,
        requested_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        CONSTRAINT pk_handoffs PRIMARY KEY (session_pk),
        CONSTRAINT fk_handoffs_session_pk FOREIGN KEY(session_pk) REFERENCES sessions (pk) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE import_sources (
        pk INTEGER NOT NULL,
        kind VARCHAR NOT NULL,
        location VARCHAR NOT NULL,
        last_message_id BIGINT NOT NULL,
        signature VARCHAR,
        finished_at BIGINT,
        CONSTRAINT pk_import_sources PRIMARY KEY (pk)
    )
    """,
    """
    CREATE UNIQUE INDEX uq_import_sources_kind_location ON import_sources (kind, location)
    """,
    """
    CREATE TABLE imported_messages (
        session_pk INTEGER NOT NULL,
        source_pk INTEGER NOT NULL,
        foreign_id BIGINT NOT NULL,
        message_id BIGINT NOT NULL,
        digest BIGINT NOT NULL,
        CONSTRAINT pk_imported_messages PRIMARY KEY (session_pk, source_pk, foreign_id),
        CONSTRAINT fk_imported_messages_session_pk FOREIGN KEY(session_pk) REFERENCES sessions (pk) ON DELETE CASCADE,
        CONSTRAINT fk_imported_messages_source_pk FOREIGN KEY(source_pk) REFERENCES import_sources (pk)
    )
     WITHOUT ROWID
    """,
    """
    CREATE TABLE imported_sessions (
        source_pk INTEGER NOT NULL,
        foreign_id VARCHAR NOT NULL,
        session_pk INTEGER,
        fingerprint VARCHAR NOT NULL,
        imported_at BIGINT NOT NULL,
        CONSTRAINT pk_imported_sessions PRIMARY KEY (source_pk, foreign_id),
        CONSTRAINT fk_imported_sessions_source_pk FOREIGN KEY(source_pk) REFERENCES import_sources (pk),
        CONSTRAINT fk_imported_sessions_session_pk FOREIGN KEY(session_pk) REFERENCES sessions (pk) ON DELETE SET NULL
    )
     WITHOUT ROWID
    """,
    """
    CREATE INDEX ix_imported_sessions_foreign_id ON imported_sessions (foreign_id)
    """,
    """
    CREATE INDEX ix_imported_sessions_session_pk ON imported_sessions (session_pk)
    """,
    """
    CREATE TABLE messages (
        id INTEGER NOT NULL,
        session_pk INTEGER NOT NULL,
        position INTEGER NOT NULL,
        created_at BIGINT NOT NULL,
        state INTEGER NOT NULL,
        role VARCHAR NOT NULL,
        tool_call_count INTEGER,
        rewind_number INTEGER,
        tool_name VARCHAR,
        tool_call_id VARCHAR,
        platform_message_id VARCHAR,
        content_format INTEGER,
        content TEXT,
        tool_calls TEXT,
        details TEXT,
        CONSTRAINT pk_messages PRIMARY KEY (id),
        CONSTRAINT fk_messages_session_pk FOREIGN KEY(session_pk) REFERENCES sessions (pk)
    )
    """,
    """
    CREATE UNIQUE INDEX uq_messages_session_pk_platform_message_id ON messages (session_pk, platform_message_id)
        WHERE platform_message_id IS NOT NULL
    """,
    """
    CREATE UNIQUE INDEX uq_messages_session_pk_position ON messages (session_pk, position)
    """,
    """
    CREATE TABLE routes (
        scope VARCHAR NOT NULL,
        "key" VARCHAR NOT NULL,
        session_pk INTEGER,
        entry TEXT NOT NULL,
        updated_at BIGINT NOT NULL,
        CONSTRAINT pk_routes PRIMARY KEY (scope, "key"),
        CONSTRAINT fk_routes_session_pk FOREIGN KEY(session_pk) REFERENCES sessions (pk) ON DELETE SET NULL
    )
    """,
    """
    CREATE INDEX ix_routes_session_pk ON routes (session_pk)
    """,
    """
    CREATE TABLE session_tags (
        session_pk INTEGER NOT NULL,
        tag VARCHAR NOT NULL,
        CONSTRAINT pk_session_tags PRIMARY KEY (session_pk, tag),
        CONSTRAINT fk_session_tags_session_pk FOREIGN KEY(session_pk) REFERENCES sessions (pk) ON DELETE CASCADE
    )
     WITHOUT ROWID
    """,
    """
    CREATE INDEX ix_session_tags_tag ON session_tags (tag)
    """,
    """
    CREATE TABLE usage (
        session_pk INTEGER NOT NULL,
        model VARCHAR NOT NULL,
        task VARCHAR NOT NULL,
        provider VARCHAR NOT NULL,
        base_url VARCHAR NOT NULL,
        mode VARCHAR NOT NULL,
        api_calls INTEGER NOT NULL,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        cache_read_tokens INTEGER NOT NULL,
        cache_write_tokens INTEGER NOT NULL,
        reasoning_tokens INTEGER NOT NULL,
        estimated_cost_usd FLOAT,
        actual_cost_usd FLOAT,
        cost_status VARCHAR,
        cost_source VARCHAR,
        first_at BIGINT NOT NULL,
        last_at BIGINT NOT NULL,
        CONSTRAINT pk_usage PRIMARY KEY (session_pk, model, task, provider, base_url, mode),
        CONSTRAINT fk_usage_session_pk FOREIGN KEY(session_pk) REFERENCES sessions (pk) ON DELETE CASCADE
    )
    """,
]


def upgrade() -> None:
    for statement in TABLES:
        op.execute(statement)
    state = text(
        "INSERT INTO store_state (id, store_id, created_at, id_floor, counted_through, indexed_through)"
        " VALUES (1, :store_id, :created_at, 0, 0, 0)"
    )
    op.get_bind().execute(state, {"store_id": str(uuid.uuid4()), "created_at": time.time_ns() // 1000})
