"""What was learned of each session for the digest of the store, and what forgets it when a message is changed."""

from alembic import op

revision = "0005"
down_revision = "0004"

SQLITE = [
    """
    CREATE TABLE session_digests (
        session_pk INTEGER NOT NULL,
        stamp BIGINT NOT NULL,
        messages INTEGER NOT NULL,
        position INTEGER NOT NULL,
        chain BLOB NOT NULL,
        CONSTRAINT pk_session_digests PRIMARY KEY (session_pk),
        CONSTRAINT fk_session_digests_session_pk FOREIGN KEY(session_pk) REFERENCES sessions (pk) ON DELETE CASCADE
    )
    """,
    """
    CREATE TRIGGER messages_updated AFTER UPDATE ON messages BEGIN
        DELETE FROM session_digests WHERE session_pk = OLD.session_pk;
    END
    """,
    """
    CREATE TRIGGER messages_deleted AFTER DELETE ON messages BEGIN
        DELETE FROM session_digests WHERE session_pk = OLD.session_pk;
    END
    """,
]
# The function takes the lock that the program's own changes hold, so that a change by somebody else can't be under way
# while the program notes which sessions it is about to read. A transaction that sees the database as it was when it
# began would not see such a note; it writes one of its own, and where there is one already, it fails and is to be tried
# again. The function runs as the owner: a role that was given no rights on the new table changes messages as before.
# One look-up for each session, whatever the statistics say.
POSTGRESQL = [
    """
    CREATE TABLE session_digests (
        store integer NOT NULL DEFAULT hermes_store(),
        session_pk bigint NOT NULL,
        stamp bigint NOT NULL,
        messages integer NOT NULL,
        position integer NOT NULL,
        chain bytea NOT NULL,
        CONSTRAINT pk_session_digests PRIMARY KEY (store, session_pk),
        CONSTRAINT fk_session_digests_session_pk
            FOREIGN KEY (store, session_pk) REFERENCES sessions (store, pk) ON DELETE CASCADE
    )
    """,
    "ALTER TABLE session_digests ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE session_digests FORCE ROW LEVEL SECURITY",
    """
    CREATE POLICY one_store ON session_digests USING (store = hermes_store()) WITH CHECK (store = hermes_store())
    """,
    """
    CREATE FUNCTION hermes_forget_digests() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
    DECLARE
        number integer;
        session bigint;
    BEGIN
        FOR number, session IN SELECT DISTINCT c.store, c.session_pk FROM changed AS c LOOP
            PERFORM pg_advisory_xact_lock_shared(1212502605, number);
            IF current_setting('transaction_isolation') = 'read committed' THEN
                DELETE FROM session_digests AS d WHERE d.store = number AND d.session_pk = session;
            ELSE
                INSERT INTO session_digests (store, session_pk, stamp, messages, position, chain)
                VALUES (number, session, (random() * 2 ^ 62)::bigint, 0, -1, decode(repeat('00', 32), 'hex'))
                ON CONFLICT ON CONSTRAINT pk_session_digests DO UPDATE
                SET stamp = EXCLUDED.stamp, messages = 0, position = -1, chain = EXCLUDED.chain;
            END IF;
        END LOOP;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER messages_updated AFTER UPDATE ON messages
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION hermes_forget_digests()
    """,
    """
    CREATE TRIGGER messages_deleted AFTER DELETE ON messages
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION hermes_forget_digests()
    """,
]


def upgrade() -> None:
    connection = op.get_bind()
    for statement in SQLITE if connection.dialect.name == "sqlite" else POSTGRESQL:
        connection.exec_driver_sql(statement)
