"""The peer's facts, taken over again and again, without a trace in its folder."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from hermes_state.errors import FormatError, StoreUnavailable
from memory.providers.holographic.importing import import_facts, is_peer_store, peer_store

if TYPE_CHECKING:
    from pathlib import Path

    from memory.providers.holographic.store import FactStore

# The documented schema of the peer's database.
SCHEMA = """
CREATE TABLE facts (
    fact_id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL UNIQUE, category TEXT DEFAULT 'general',
    tags TEXT DEFAULT '', trust_score REAL DEFAULT 0.5, retrieval_count INTEGER DEFAULT 0,
    helpful_count INTEGER DEFAULT 0, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, hrr_vector BLOB
);
CREATE TABLE entities (entity_id INTEGER PRIMARY KEY, name TEXT NOT NULL, entity_type TEXT, aliases TEXT);
CREATE TABLE fact_entities (fact_id INTEGER, entity_id INTEGER, PRIMARY KEY (fact_id, entity_id));
"""
ROWS = (
    ("Alice Novak maintains the redis cluster", "project", "t1,t2", 0.55, 3, 1),
    ("凯聪开票信息在共享盘", "project", "", 0.5, 0, 0),
    ("User prefers tabs over spaces", "user_pref", "style", 0.2, 0, 0),
    ("   ", "general", "", 0.5, 0, 0),
)


def write(path: Path, *statements: tuple[str, tuple[Any, ...]]) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement, parameters in statements:
            connection.execute(statement, parameters)


@pytest.fixture
def peer(tmp_path: Path) -> Path:
    """A home of the peer with facts, in WAL mode as it keeps them."""
    path = tmp_path / "peer" / "memory_store.db"
    path.parent.mkdir()
    insert = (
        "INSERT INTO facts (content, category, tags, trust_score, retrieval_count, helpful_count, created_at,"
        " updated_at) VALUES (?, ?, ?, ?, ?, ?, '2026-01-02 03:04:05', '2026-02-03 04:05:06')"
    )
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(SCHEMA)
        connection.executemany(insert, ROWS)
    return path


def test_facts_come_in_with_all_that_is_known_of_them(store: FactStore, peer: Path) -> None:
    report = import_facts(store, peer)
    assert (report.found, report.added, report.known, report.skipped) == (4, 3, 0, 1)
    fact = store.find("Alice Novak maintains the redis cluster")
    assert fact is not None
    assert (fact.category, fact.tags, fact.trust) == ("project", "t1,t2", 0.55)
    assert (fact.retrieval_count, fact.helpful_count, fact.source) == (3, 1, "imported")
    assert f"{fact.created_at:%F %T}, {fact.updated_at:%F %T}" == "2026-01-02 03:04:05, 2026-02-03 04:05:06"


def test_nothing_comes_in_twice(store: FactStore, peer: Path) -> None:
    import_facts(store, peer)
    write(peer, ("INSERT INTO facts (content) VALUES (?)", ("Likes 🍵",)))
    report = import_facts(store, peer)
    assert (report.added, report.changed, report.known) == (1, 0, 3)
    assert store.count() == 4


def test_what_was_removed_here_stays_removed(store: FactStore, peer: Path) -> None:
    import_facts(store, peer)
    fact = store.find("User prefers tabs over spaces")
    assert fact is not None
    store.remove(fact.id)
    assert import_facts(store, peer).added == 0
    assert store.find("User prefers tabs over spaces") is None


def test_a_change_there_is_a_change_here_unless_it_was_changed_here(store: FactStore, peer: Path) -> None:
    import_facts(store, peer)
    mine = store.find("User prefers tabs over spaces")
    assert mine is not None
    store.update(mine.id, content="User prefers four spaces")
    write(
        peer,
        ("UPDATE facts SET content = 'User prefers two spaces' WHERE fact_id = 3", ()),
        ("UPDATE facts SET content = 'Bob Lee maintains the redis cluster' WHERE fact_id = 1", ()),
    )
    report = import_facts(store, peer)
    assert (report.added, report.changed) == (0, 1)
    assert store.get(mine.id).content == "User prefers four spaces"
    assert store.find("Bob Lee maintains the redis cluster") is not None
    assert store.find("Alice Novak maintains the redis cluster") is None


def test_the_folder_of_the_peer_is_left_as_it_was(store: FactStore, peer: Path) -> None:
    before = {file.name: file.read_bytes() for file in peer.parent.iterdir()}
    import_facts(store, peer)
    assert {file.name: file.read_bytes() for file in peer.parent.iterdir()} == before


def test_it_is_read_while_its_agent_has_it_open(store: FactStore, peer: Path) -> None:
    with closing(sqlite3.connect(peer, isolation_level=None)) as agent:
        agent.execute("INSERT INTO facts (content) VALUES ('Committed and not yet checkpointed')")
        assert import_facts(store, peer).added == 4
        agent.execute("INSERT INTO facts (content) VALUES ('One more')")
        assert import_facts(store, peer).added == 1


def test_an_older_database_without_times_or_vectors_is_read(store: FactStore, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    columns = "fact_id, content, category, tags, trust_score, retrieval_count, helpful_count"
    write(
        path,
        (f"CREATE TABLE facts ({columns})", ()),
        ("INSERT INTO facts VALUES (1, 'Likes tea', NULL, NULL, NULL, NULL, NULL)", ()),
    )
    assert import_facts(store, path).added == 1
    fact = store.find("Likes tea")
    assert fact is not None
    assert (fact.category, fact.tags, fact.trust, fact.helpful_count) == ("general", "", 0.5, 0)


def test_what_is_no_fact_database_is_refused(store: FactStore, tmp_path: Path) -> None:
    other, text, missing = tmp_path / "other.db", tmp_path / "text.db", tmp_path / "missing.db"
    write(other, ("CREATE TABLE notes (x)", ()))
    text.write_text("no database, although it is long enough to be one " * 40)
    for path, error in ((other, FormatError), (text, FormatError), (missing, StoreUnavailable)):
        with pytest.raises(error):
            import_facts(store, path)
        assert not is_peer_store(path)
    assert peer_store(tmp_path) is None


def test_a_home_stands_for_its_database(peer: Path) -> None:
    assert peer_store(peer.parent) == peer_store(peer) == peer
