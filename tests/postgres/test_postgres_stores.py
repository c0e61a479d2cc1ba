"""Several stores in one database: nobody sees or touches another's rows, whatever is tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from sqlalchemy.engine import make_url

from hermes_state import SessionDB
from hermes_state.engine.entry_index import Entry
from hermes_state.engine.postgres.address import Address
from hermes_state.errors import InvalidValue, ReadOnlyStore, StoreUnavailable
from hermes_state.memory_index import INDEX
from hermes_state.schema import metadata

if TYPE_CHECKING:
    from collections.abc import Iterator

# Which are made by the foundation and not by `hermes_state.schema`.
_INDEXES = ("message_index", "message_index_zones", "entry_index", "entry_indexes")
# Not forced on the owner, since no index on an expression is used then; other roles are held by the policy.
_NOT_FORCED = {"message_index", "entry_index"}


@pytest.fixture
def raw(db: SessionDB, postgres: str) -> Iterator[psycopg.Connection]:
    """A connection of the same role, as anybody with the password could open it, that has entered no store."""
    with psycopg.connect(Address.of(postgres).conninfo, autocommit=True) as connection:
        yield connection


def number_of(db: SessionDB) -> int:
    with db.engine.read() as connection:
        return int(connection.exec_driver_sql("SELECT hermes_store()").scalar_one())


def test_the_same_names_mean_different_things_in_two_stores(db: SessionDB, other: SessionDB) -> None:
    for store, text in ((db, "ours 升级"), (other, "theirs 升级")):
        store.sessions.create("s", source="cli", title="plan")
        store.messages.append("s", role="user", content=text, platform_message_id="1")
        store.meta.set("key", text)
    assert [m.content for m in db.messages.list("s")] == ["ours 升级"]
    assert [m.content for m in other.messages.list("s")] == ["theirs 升级"]
    assert [hit.snippet for hit in db.search.messages("升级")] == ["ours >>>升级<<<"]
    assert (db.meta.get("key"), other.meta.get("key")) == ("ours 升级", "theirs 升级")
    assert db.store_id != other.store_id
    db.sessions.delete("s")
    assert other.sessions.get("s").title == "plan"
    assert other.search.messages("theirs")


def test_every_table_is_kept_apart(raw: psycopg.Connection) -> None:
    """What the schema declares is there, and each table with a store has the policy forced on its owner, too."""
    rows = raw.execute(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
        " AND relrowsecurity AND (relforcerowsecurity OR relname = ANY(%s))",
        (list(_NOT_FORCED),),
    ).fetchall()
    assert {row[0] for row in rows} == {*metadata.tables, *_INDEXES}


def test_every_key_begins_with_the_store(db: SessionDB, raw: psycopg.Connection) -> None:
    """Primary, unique and foreign keys and all other indexes: so tables can be partitioned or distributed by it."""
    keys = raw.execute(
        "SELECT i.indexrelid::regclass::text, a.attname FROM pg_index AS i JOIN pg_class AS t ON t.oid = i.indrelid"
        " JOIN pg_class AS x ON x.oid = i.indexrelid JOIN pg_am AS m ON m.oid = x.relam AND m.amname = 'btree'"
        " LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]"
        " WHERE t.relnamespace = current_schema()::regnamespace AND t.relname NOT IN ('stores', 'alembic_version')"
    ).fetchall()
    assert len(keys) > len(metadata.tables)
    assert {first for _, first in keys} == {"store"}
    references = raw.execute(
        "SELECT c.conname, ours.attname, theirs.attname FROM pg_constraint AS c"
        " JOIN pg_attribute AS ours ON ours.attrelid = c.conrelid AND ours.attnum = c.conkey[1]"
        " JOIN pg_attribute AS theirs ON theirs.attrelid = c.confrelid AND theirs.attnum = c.confkey[1]"
        " WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace"
    ).fetchall()
    assert len(references) > 10
    assert {(ours, theirs) for _, ours, theirs in references} == {("store", "store")}


def test_a_connection_that_entered_no_store_reads_nothing(db: SessionDB, raw: psycopg.Connection) -> None:
    db.sessions.create("s", source="cli")
    with pytest.raises(psycopg.Error, match=r"hermes_state\.store"):
        raw.execute("SELECT * FROM sessions").fetchall()


def test_rows_of_another_store_are_out_of_reach(db: SessionDB, other: SessionDB, raw: psycopg.Connection) -> None:
    db.sessions.create("s", source="cli")
    db.messages.append("s", role="user", content="secret")
    ours = number_of(db)
    raw.execute("SELECT set_config('hermes_state.store', %s, false)", (str(number_of(other)),))
    assert raw.execute("SELECT count(*) FROM messages WHERE store = %s", (ours,)).fetchone() == (0,)
    assert raw.execute("UPDATE messages SET content = '' WHERE store = %s", (ours,)).rowcount == 0
    assert raw.execute("DELETE FROM sessions WHERE store = %s", (ours,)).rowcount == 0
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        raw.execute('INSERT INTO meta (store, "key", value) VALUES (%s, %s, %s)', (ours, "a", "b"))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        raw.execute("UPDATE store_state SET store = %s", (ours,))
    assert [m.content for m in db.messages.list("s")] == ["secret"]


def test_the_lists_of_the_index_are_apart_too(db: SessionDB, other: SessionDB, raw: psycopg.Connection) -> None:
    """A word's entries hold one store's messages, so a search costs what its own store costs."""
    for store in (db, other):
        store.messages.append(store.sessions.create(source="cli").id, role="user", content="needle")
        store.search.messages("needle")
    vector = "tsvector_to_array(hermes_vector(store, zone, word_tokens, gram_tokens))"
    tokens = []
    for store in (db, other):
        number = number_of(store)
        raw.execute("SELECT set_config('hermes_state.store', %s, false)", (str(number),))
        tokens += raw.execute(f"SELECT {vector} FROM message_index WHERE store = %s", (number,)).fetchone() or ()
        found = raw.execute(
            "SELECT hermes_matches(%s, true, NULL, NULL, 0, 99999999, 9, false)", ("'\x01:needl'",)
        ).fetchall()
        assert len(found) == 1
    assert tokens == [[f"{number_of(store)}.0:needl"] for store in (db, other)]


def test_functions_of_the_index_see_one_store(db: SessionDB, other: SessionDB, raw: psycopg.Connection) -> None:
    """They run with their owner's rights, whom no policy binds: asked for another store's words, they find nothing."""
    for store in (db, other):
        store.messages.append(store.sessions.create(source="cli").id, role="user", content="secret")
        assert store.search.messages("secret")
        with store.engine.write() as connection:
            INDEX.create(connection)
            INDEX.insert(connection, [Entry.of(7, "secret")])
    ours, theirs = number_of(db), number_of(other)
    raw.execute("SELECT set_config('hermes_state.store', %s, false)", (str(theirs),))
    for number, found in ((theirs, 1), (ours, 0)):
        given = (f"'{number}.0:secret'", ["w secret "], [f"'{number}.0:secret'"])
        asked = "SELECT hermes_matches(%s, true, %s, %s, 0, 99999999, 9, false)"
        assert len(raw.execute(asked, given).fetchall()) == found
        asked = "SELECT hermes_entries('memory_index', %s::tsquery)"
        assert len(raw.execute(asked, (f"'{number}w:secret'",)).fetchall()) == found


def test_the_index_can_be_built_again_by_whoever_knows_no_schema(db: SessionDB, raw: psycopg.Connection) -> None:
    """As `pg_restore` does, and every server since 17: with an empty search path."""
    db.messages.append(db.sessions.create(source="cli").id, role="user", content="a needle 针眼")
    assert db.search.messages("针眼")
    schema = raw.execute("SELECT current_schema()").fetchone()
    assert schema is not None
    raw.execute("SET search_path = ''")
    for name in ("ix_message_index_lexemes", "ix_message_index_huge", "pk_message_index"):
        raw.execute(f"REINDEX INDEX {schema[0]}.{name}")  # type: ignore[call-overload]
    assert db.search.messages("针眼")


def test_a_superuser_is_refused(db: SessionDB, postgres: str) -> None:
    given = make_url(postgres)
    if given.host != "127.0.0.1":
        pytest.skip("the server is somebody's own")
    with pytest.raises(StoreUnavailable, match="superuser") as refused:
        SessionDB.open(given.set(username="postgres").render_as_string(hide_password=False))
    assert "ordinary role" in refused.value.hint


def test_a_store_is_not_made_by_who_only_reads(postgres: str) -> None:
    with pytest.raises(ReadOnlyStore, match="nobody-made-it"):
        SessionDB.open(f"{postgres}?store=nobody-made-it", read_only=True)


@pytest.mark.parametrize("name", ["", "%20", "a%0Ab", "x" * 201])
def test_a_name_that_is_none_is_refused(postgres: str, name: str) -> None:
    with pytest.raises(InvalidValue, match="store"):
        SessionDB.open(f"{postgres}?store={name}")


@pytest.mark.parametrize("name", ["équipe α", "团队-一", "פרויקט", "o'brien; DROP TABLE stores", '"quoted"'])
def test_a_store_may_have_any_printable_name(postgres: str, name: str) -> None:
    url = make_url(postgres).update_query_dict({"store": name})
    for _ in range(2):
        with SessionDB.open(url.render_as_string(hide_password=False)) as store:
            store.sessions.create("s", source="cli")
            assert store.sessions.count() == 1


def test_a_password_is_never_shown(postgres: str) -> None:
    address = Address.of("postgresql+psycopg://me:hunter2-x@127.0.0.1:1/db?store=a&password=hunter2-x")
    assert "hunter2-x" in address.conninfo
    assert "hunter2-x" not in f"{address!r} {address.shown}"
    with pytest.raises(StoreUnavailable) as refused:
        SessionDB.open("postgresql+psycopg://me:hunter2-x@127.0.0.1:1/db?connect_timeout=1")
    assert "hunter2-x" not in str(refused.value)


def test_other_drivers_are_refused_by_name() -> None:
    with pytest.raises(InvalidValue, match="asyncpg"):
        Address.of("postgresql+asyncpg://me@host/db")


def test_an_index_built_anew_is_one_stores(db: SessionDB, other: SessionDB) -> None:
    """The index's rows bind no owner by policy, so each statement must name its store itself."""
    for store in (db, other):
        store.messages.append(store.sessions.create(source="cli").id, role="user", content="needle 针")
        assert len(store.search.messages("needle")) == 1
    db.search.rebuild()
    db.sessions.delete(db.sessions.list()[0].id)
    with other.engine.read() as connection:
        assert (
            connection.exec_driver_sql("SELECT count(*) FROM message_index WHERE store = hermes_store()").scalar() == 1
        )
    assert [len(store.search.messages("针")) for store in (db, other)] == [0, 1]
