"""What the pages promise to whoever runs the server: the rights of a role that owns nothing, and partitioned tables."""

from __future__ import annotations

import re
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from sqlalchemy.engine import make_url

from hermes_state import SessionDB
from hermes_state.engine import fts
from hermes_state.engine.entry_index import Entry, EntryIndex
from hermes_state.engine.postgres.address import Address
from hermes_state.engine.postgres.server import examine
from hermes_state.errors import SchemaTooNew
from hermes_state.schema import messages
from hermes_state.text import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """A database of its own, whose server may be changed by a superuser."""
    given = make_url(postgres)
    if given.host != "127.0.0.1":
        pytest.skip("the server is somebody's own")
    name = f"test_{uuid.uuid4().hex}"
    with as_superuser(postgres) as connection:
        connection.execute(f"CREATE DATABASE {name} OWNER {given.username}")
    yield given.set(database=name).render_as_string(hide_password=False)
    with as_superuser(postgres) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def as_superuser(url: str) -> psycopg.Connection:
    user = make_url(url).set(username="postgres").render_as_string(hide_password=False)
    return psycopg.connect(Address.of(user).conninfo, autocommit=True)


def statements(page: str, containing: str) -> str:
    """A block of SQL of a page."""
    blocks = re.findall(r"^```sql\n(.*?)^```", (DOCS / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if containing in block)


@pytest.fixture
def agent(database: str) -> Iterator[str]:
    """The URL for a role that was made as the page says."""
    SessionDB.open(database).close()
    name = f"agent_{uuid.uuid4().hex[:12]}"
    with as_superuser(database) as connection:
        connection.execute(statements("postgres.md", "hermes_agent").replace("hermes_agent", name))
        yield make_url(database).set(username=name).render_as_string(hide_password=False)
        connection.execute(f"DROP OWNED BY {name}")
        connection.execute(f"DROP ROLE {name}")


def test_an_agents_role_does_all_of_an_agents_work(agent: str) -> None:
    with SessionDB.open(f"{agent}?store=one") as one, SessionDB.open(f"{agent}?store=two") as two:
        for db, text in ((one, "the disk was full 磁盘"), (two, "the other store")):
            db.sessions.create("s", source="cli", title="a title")
            db.messages.append("s", role="user", content=text)
            db.messages.append_many("s", [{"role": "assistant", "content": "so it is"}])
        assert [hit.snippet for hit in one.search.messages("磁盘")] == ["the disk was full >>>磁盘<<<"]
        assert len(one.search.messages('"so it is"')) == 1
        assert len(one.search.messages("disk source:cli", sort="newest")) == 1
        assert one.lineage.rotate("s", [{"role": "user", "content": "summary"}]).child.id
        two.sessions.delete("s")
        assert one.sessions.count() == 1


def test_an_agents_role_changes_no_table_and_sees_one_store(agent: str) -> None:
    with SessionDB.open(f"{agent}?store=one") as one, SessionDB.open(f"{agent}?store=two") as two:
        for db in (one, two):
            db.messages.append(db.sessions.create(source="cli").id, role="user", content="secret")
            assert db.search.messages("secret")
        with psycopg.connect(Address.of(agent).conninfo, autocommit=True) as connection:
            for forbidden in (
                "ALTER TABLE message_index DISABLE ROW LEVEL SECURITY",
                "DROP POLICY one_store ON messages",
                "DROP TABLE messages",
                "CREATE OR REPLACE FUNCTION hermes_store() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
                "TRUNCATE messages",
                "CREATE TABLE mine (x integer)",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(forbidden)  # type: ignore[call-overload]
            with one.engine.read() as reading:
                number = reading.exec_driver_sql("SELECT hermes_store()").scalar_one()
            connection.execute("SELECT set_config('hermes_state.store', %s, false)", (str(number),))
            for table in ("messages", "message_index", "sessions"):
                stores = connection.execute(f"SELECT DISTINCT store FROM {table}").fetchall()
                assert stores == [(number,)], table
            asked = "SELECT hermes_matches(%s, true, NULL, NULL, 0, 999999, 99, false)"
            assert len(connection.execute(asked, ("'\x01:secret'",)).fetchall()) == 1


@pytest.mark.parametrize("role", ["owner", "agent"])
def test_searches_go_through_the_indexes(database: str, agent: str, role: str) -> None:
    """In spite of row-level security, and for whoever asks."""
    with SessionDB.open(database if role == "owner" else agent) as db:
        db.messages.append(db.sessions.create(source="cli").id, role="user", content="a needle 针眼")
        assert db.search.messages("needle")
        facts, node = EntryIndex("some_facts", messages.c.id), parse("needle").node
        assert node is not None
        with db.engine.write() as connection:
            facts.create(connection)
            facts.insert(connection, [Entry.of(7, "a needle in a haystack"), Entry.of(8, "hay")])
        with db.engine.read() as connection:
            assert fts.tokens_in(connection).matches(connection, node, limit=9)
            assert facts.matches(connection, node, limit=9) == [7]
            assert facts.frequencies(connection, ["hay", "needl"]) == {"hay": 1, "needl": 1}
            for index in ("ix_message_index_lexemes", "ix_entry_index_tokens"):
                scans = f"SELECT pg_stat_get_xact_numscans('{index}'::regclass)"
                assert connection.exec_driver_sql(scans).scalar_one() > 0, index


def test_a_role_that_may_only_read_searches(database: str) -> None:
    with SessionDB.open(database) as db:
        db.messages.append(db.sessions.create(source="cli").id, role="user", content="a needle")
        assert db.search.messages("needle")
    name = f"reader_{uuid.uuid4().hex[:12]}"
    with as_superuser(database) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}")
        reader = make_url(database).set(username=name).render_as_string(hide_password=False)
        with SessionDB.open(reader, read_only=True) as db:
            assert len(db.search.messages("needle")) == 1
            assert len(db.sessions.list()) == 1
        connection.execute(f"DROP OWNED BY {name}")
        connection.execute(f"DROP ROLE {name}")


def test_doctor_says_what_is_wrong_with_a_server(database: str) -> None:
    def wrong() -> set[str]:
        with db.engine.read() as connection:
            return {each.name for each in examine(connection) if not each.is_right} - {"durable"}  # fsync is off

    with SessionDB.open(database) as db:
        assert wrong() == set()
        with as_superuser(database) as connection:
            connection.execute("ALTER TABLE messages SET (autovacuum_enabled = off)")
            connection.execute("ALTER TABLE message_index SET (autovacuum_enabled = off)")
            connection.execute("ALTER TABLE messages NO FORCE ROW LEVEL SECURITY")
        db.sessions.create("s", source="cli")
        db.messages.append_many("s", [{"role": "user", "content": f"{n} {'word ' * 200}"} for n in range(1_500)])
        assert wrong() == {"stores_apart", "upkeep"}
        db.maintenance.optimize()
        assert wrong() == {"stores_apart"}


def test_partitions_made_as_the_page_says_change_nothing(database: str) -> None:
    stores = [f"{database}?store=s{n}" for n in range(6)]
    for n, url in enumerate(stores):
        with SessionDB.open(url) as db:
            db.sessions.create("s", source="cli")
            db.messages.append_many("s", [{"role": "user", "content": f"message {k} of {n}"} for k in range(20)])
            assert len(db.search.messages("message")) == 20
    owner = make_url(database).username
    with as_superuser(database) as connection:
        connection.execute(statements("scale.md", "PARTITION BY").replace("OWNER TO hermes", f"OWNER TO {owner}"))
        used = connection.execute("SELECT count(DISTINCT tableoid) FROM messages").fetchone()
    assert used is not None
    assert used[0] > 1
    for n, url in enumerate(stores):
        with SessionDB.open(url) as db:
            db.messages.append("s", role="user", content=f"升级 message 20 of {n}", platform_message_id="p")
            db.messages.append("s", role="user", content=f"message 21 of {n}")
            assert [m.position for m in db.messages.list("s")] == list(range(22))
            db.messages.append_many("s", [{"role": "user", "content": f"many of {n}"}] * 2)
            assert len(db.search.messages(f'"of {n}"', limit=50)) == 24
            assert [hit.position for hit in db.search.messages("升级")] == [20]
            db.messages.compact("s", [{"role": "user", "content": "a summary"}], keep_last=2)
            assert db.messages.append("s", role="user", content="more").position == 27
            db.sessions.delete("s")
            assert not db.search.messages("message")


def test_a_newer_schema_is_refused_by_name_and_left(database: str) -> None:
    with SessionDB.open(database) as db:
        db.sessions.create("s", source="cli")
    with as_superuser(database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        with pytest.raises(SchemaTooNew, match="9999"):
            SessionDB.open(database)
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("9999",)]
        assert connection.execute("SELECT id FROM sessions").fetchall() == [("s",)]


def test_a_store_that_is_forgotten_as_the_page_says_leaves_nothing(database: str) -> None:
    for name in ("team-a", "team-b"):
        with SessionDB.open(f"{database}?store={name}") as db:
            db.messages.append(db.sessions.create("s", source="cli").id, role="user", content=f"a needle of {name}")
            assert len(db.search.messages("needle")) == 1
    with as_superuser(database) as connection:
        connection.execute(statements("scale.md", "forgotten"))
        tables = connection.execute(
            "SELECT table_name FROM information_schema.columns WHERE column_name = 'store' AND table_schema = 'public'"
        ).fetchall()
        numbers = {row[0] for (table,) in tables for row in connection.execute(f"SELECT DISTINCT store FROM {table}")}
        assert len(tables) > 20
        assert len(numbers) == 1
    with SessionDB.open(f"{database}?store=team-b") as db:
        assert [hit.snippet for hit in db.search.messages("needle")] == ["a >>>needle<<< of team-b"]
    with SessionDB.open(f"{database}?store=team-a") as db:
        assert db.sessions.list() == []
