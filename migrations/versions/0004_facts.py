"""Facts of holographic memory: entities, vectors, banks, contradictions."""

from alembic import op

revision = "0004"
down_revision = "0003"

TABLES = [
    """
    CREATE TABLE facts (
        pk INTEGER NOT NULL,
        user_id VARCHAR NOT NULL,
        session_id VARCHAR NOT NULL,
        digest BLOB NOT NULL,
        category VARCHAR NOT NULL,
        source VARCHAR NOT NULL,
        trust FLOAT NOT NULL,
        retrieval_count INTEGER NOT NULL,
        helpful_count INTEGER NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        superseded_by INTEGER,
        superseded_at BIGINT,
        tags TEXT NOT NULL,
        content TEXT NOT NULL,
        CONSTRAINT pk_facts PRIMARY KEY (pk),
        CONSTRAINT uq_facts_digest_user_id_session_id UNIQUE (digest, user_id, session_id),
        CONSTRAINT fk_facts_superseded_by FOREIGN KEY(superseded_by) REFERENCES facts (pk) ON DELETE SET NULL
    )
    """,
    """
    CREATE INDEX ix_facts_category_pk ON facts (category, pk)
    """,
    """
    CREATE INDEX ix_facts_superseded_by ON facts (superseded_by)
    """,
    """
    CREATE INDEX ix_facts_trust ON facts (trust)
    """,
    """
    CREATE TABLE entities (
        pk INTEGER NOT NULL,
        folded VARCHAR NOT NULL,
        name VARCHAR NOT NULL,
        shard BLOB NOT NULL,
        CONSTRAINT pk_entities PRIMARY KEY (pk),
        CONSTRAINT uq_entities_folded UNIQUE (folded)
    )
    """,
    """
    CREATE INDEX ix_entities_shard ON entities (shard)
    """,
    """
    CREATE TABLE entity_aliases (
        folded VARCHAR NOT NULL,
        entity_pk INTEGER NOT NULL,
        name VARCHAR NOT NULL,
        CONSTRAINT pk_entity_aliases PRIMARY KEY (folded),
        CONSTRAINT fk_entity_aliases_entity_pk FOREIGN KEY(entity_pk) REFERENCES entities (pk) ON DELETE CASCADE
    )
     WITHOUT ROWID
    """,
    """
    CREATE INDEX ix_entity_aliases_entity_pk ON entity_aliases (entity_pk)
    """,
    """
    CREATE TABLE fact_entities (
        fact_pk INTEGER NOT NULL,
        entity_pk INTEGER NOT NULL,
        CONSTRAINT pk_fact_entities PRIMARY KEY (fact_pk, entity_pk),
        CONSTRAINT fk_fact_entities_fact_pk FOREIGN KEY(fact_pk) REFERENCES facts (pk) ON DELETE CASCADE,
        CONSTRAINT fk_fact_entities_entity_pk FOREIGN KEY(entity_pk) REFERENCES entities (pk) ON DELETE CASCADE
    )
     WITHOUT ROWID
    """,
    """
    CREATE INDEX ix_fact_entities_entity_pk_fact_pk ON fact_entities (entity_pk, fact_pk)
    """,
    """
    CREATE TABLE fact_vectors (
        fact_pk INTEGER NOT NULL,
        dim INTEGER NOT NULL,
        parts INTEGER NOT NULL,
        phases BLOB NOT NULL,
        CONSTRAINT pk_fact_vectors PRIMARY KEY (fact_pk),
        CONSTRAINT fk_fact_vectors_fact_pk FOREIGN KEY(fact_pk) REFERENCES facts (pk) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE fact_banks (
        category VARCHAR NOT NULL,
        shard VARCHAR NOT NULL,
        links INTEGER NOT NULL,
        sums BLOB NOT NULL,
        CONSTRAINT pk_fact_banks PRIMARY KEY (category, shard)
    )
     WITHOUT ROWID
    """,
    """
    CREATE TABLE fact_slots (
        slot VARCHAR NOT NULL,
        fact_pk INTEGER NOT NULL,
        CONSTRAINT pk_fact_slots PRIMARY KEY (slot, fact_pk),
        CONSTRAINT fk_fact_slots_fact_pk FOREIGN KEY(fact_pk) REFERENCES facts (pk) ON DELETE CASCADE
    )
     WITHOUT ROWID
    """,
    """
    CREATE INDEX ix_fact_slots_fact_pk ON fact_slots (fact_pk)
    """,
    """
    CREATE TABLE fact_conflicts (
        older_pk INTEGER NOT NULL,
        newer_pk INTEGER NOT NULL,
        kind VARCHAR NOT NULL,
        confidence FLOAT NOT NULL,
        reason TEXT NOT NULL,
        CONSTRAINT pk_fact_conflicts PRIMARY KEY (older_pk, newer_pk),
        CONSTRAINT fk_fact_conflicts_older_pk FOREIGN KEY(older_pk) REFERENCES facts (pk) ON DELETE CASCADE,
        CONSTRAINT fk_fact_conflicts_newer_pk FOREIGN KEY(newer_pk) REFERENCES facts (pk) ON DELETE CASCADE
    )
     WITHOUT ROWID
    """,
    """
    CREATE INDEX ix_fact_conflicts_newer_pk ON fact_conflicts (newer_pk)
    """,
    """
    CREATE TABLE imported_facts (
        origin VARCHAR NOT NULL,
        foreign_id INTEGER NOT NULL,
        digest BLOB NOT NULL,
        fact_pk INTEGER NOT NULL,
        CONSTRAINT pk_imported_facts PRIMARY KEY (origin, foreign_id)
    )
     WITHOUT ROWID
    """,
    """
    CREATE TABLE fact_state (
        id INTEGER NOT NULL,
        id_floor BIGINT NOT NULL,
        changes BIGINT NOT NULL,
        segmentation VARCHAR,
        indexed_through BIGINT NOT NULL,
        dim INTEGER NOT NULL,
        encoding VARCHAR,
        encoded_through BIGINT NOT NULL,
        banked_through BIGINT NOT NULL,
        compared_through BIGINT NOT NULL,
        CONSTRAINT pk_fact_state PRIMARY KEY (id)
    )
    """,
    """
    INSERT INTO fact_state
        (id, id_floor, changes, indexed_through, dim, encoded_through, banked_through, compared_through)
    VALUES (1, 0, 0, 0, 0, 0, 0, 0)
    """,
]


def upgrade() -> None:
    for statement in TABLES:
        op.execute(statement)
