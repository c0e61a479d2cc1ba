"""Copies of databases: consistent, complete, and without what can be built again."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING

import peer_database as hermes_db
import pytest

from hermes_state import SessionDB
from hermes_state.engine.driver import newest_driver
from hermes_state.errors import FormatError, HermesStateError, StoreDamaged
from hermes_state.index import MessageIndex
from hermes_state.portability.databases import Kind, copy
from hermes_state.portability.derived import DerivedIndex, PlainIndex, from_dict

if TYPE_CHECKING:
    from pathlib import Path


def rebuild(path: Path, indexes: tuple[DerivedIndex, ...]) -> None:
    db = newest_driver().module.connect(str(path), isolation_level=None)
    db.execute("BEGIN")
    for index in indexes:
        index.rebuild(db)
    db.execute("COMMIT")
    db.close()


def schema(path: Path) -> set[tuple[str, str, str]]:
    db = sqlite3.connect(path)
    rows = db.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master").fetchall()
    db.close()
    return set(rows)


# The ordinary index of the tests' state.db; Hermes makes it at every start.
PLAIN = "idx_messages_session"


class TestHermes:
    def test_indexes_stay_behind(self, tmp_path: Path) -> None:
        """The copy of a state.db has every row and no trace of the full-text indexes or of their triggers."""
        source, target = tmp_path / "state.db", tmp_path / "copy"
        hermes_db.make(source)
        made = copy(source, target)
        assert made.kind is Kind.HERMES
        assert made.schema == "22"
        assert made.rows == {"sessions": 4, "messages": 20}
        assert made.left_out == (*hermes_db.INDEXES, PLAIN)
        assert made.damage == ""
        assert not [name for _, name, _ in schema(target) if "fts" in name or name == PLAIN]
        assert "idx_sessions_title_unique" in [name for _, name, _ in schema(target)]  # a rule, not a mere index
        assert hermes_db.contents(target) == hermes_db.contents(source)

    def test_indexes_come_back(self, tmp_path: Path) -> None:
        """After the rebuild the schema is the same and searches give the same messages in the same order."""
        source, target = tmp_path / "state.db", tmp_path / "copy"
        hermes_db.make(source)
        rebuild(target, copy(source, target).indexes)
        assert schema(target) == schema(source)
        for index in hermes_db.INDEXES:
            assert hermes_db.answers(target, "redis", index) == hermes_db.answers(source, "redis", index)
        assert hermes_db.answers(target, "据库", "messages_fts_trigram") == hermes_db.answers(
            source, "据库", "messages_fts_trigram"
        )
        db = sqlite3.connect(target)
        hermes_db.add(db, 1, "postgres")
        db.commit()
        db.close()
        assert len(hermes_db.answers(target, "postgres")) == 1

    def test_kept_on_request(self, tmp_path: Path) -> None:
        """With `keep_indexes` they are there and need no rebuild."""
        source, target = tmp_path / "state.db", tmp_path / "copy"
        hermes_db.make(source)
        made = copy(source, target, keep_indexes=True)
        assert (made.left_out, made.indexes) == ((), ())
        assert hermes_db.answers(target, "redis") == hermes_db.answers(source, "redis")

    def test_an_index_in_the_making_stays(self, tmp_path: Path) -> None:
        """While newer Hermes versions fill an index step by step, it is taken along as it is."""
        source = tmp_path / "state.db"
        hermes_db.make(source)
        db = sqlite3.connect(source)
        db.execute("INSERT INTO state_meta VALUES ('fts_rebuild_progress', '7')")
        db.commit()
        db.close()
        assert copy(source, tmp_path / "copy").left_out == ()

    def test_an_index_that_others_use_stays(self, tmp_path: Path) -> None:
        """An index that a view reads is taken along: without it the view would be broken."""
        source = tmp_path / "state.db"
        hermes_db.make(source)
        db = sqlite3.connect(source)
        db.execute("CREATE VIEW found AS SELECT rowid FROM messages_fts")
        db.commit()
        db.close()
        made = copy(source, tmp_path / "copy")
        assert made.left_out == ("messages_fts_trigram", PLAIN)
        assert len(hermes_db.answers(tmp_path / "copy", "redis")) == 20

    def test_header_values_survive(self, tmp_path: Path) -> None:
        """Application id, user version, statistics and the AUTOINCREMENT counter are as they were."""
        source, target = tmp_path / "state.db", tmp_path / "copy"
        hermes_db.make(source)
        db = sqlite3.connect(source)
        db.executescript(
            "PRAGMA application_id=77; PRAGMA user_version=5; DELETE FROM messages WHERE id > 15; ANALYZE;"
        )
        db.close()
        copy(source, target)
        db = sqlite3.connect(target)
        assert db.execute("PRAGMA application_id").fetchone() == (77,)
        assert db.execute("PRAGMA user_version").fetchone() == (5,)
        assert db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'messages'").fetchone() == (20,)
        assert db.execute("SELECT count(*) FROM sqlite_stat1").fetchone()[0] > 0
        db.close()


class TestOurs:
    def test_the_index_is_rebuilt_by_the_store(self, tmp_path: Path) -> None:
        """Our store's copy says it has no index; the store builds it and has every message."""
        with SessionDB.open(tmp_path / "a.db") as db:
            session = db.sessions.create(source="cli")
            db.messages.append_many(session.id, [{"role": "user", "content": f"deploy {n}"} for n in range(30)])
            index_of(db).catch_up()
            made = copy(tmp_path / "a.db", tmp_path / "b.db")
        assert made.kind is Kind.OURS
        assert made.left_out == ("message_index",)
        assert made.indexes == ()
        with SessionDB.open(tmp_path / "b.db") as db:
            assert index_of(db).catch_up()
            assert db.messages.list(session.id)[29].content == "deploy 29"


def index_of(db: SessionDB) -> MessageIndex:
    return MessageIndex(db.engine)


class TestOthers:
    def test_rows_in_the_wal_only(self, tmp_path: Path) -> None:
        """Rows that no checkpoint has moved yet are in the copy, and the copy needs no WAL."""
        source, target = tmp_path / "memory_store", tmp_path / "copy"
        db = sqlite3.connect(source)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA wal_autocheckpoint=0")
        db.execute("CREATE TABLE facts (x)")
        db.execute("INSERT INTO facts VALUES ('canary')")
        db.commit()
        copy(source, target)
        (tmp_path / "alone").mkdir()
        alone = target.rename(tmp_path / "alone" / "facts.db")
        other = sqlite3.connect(alone)
        assert other.execute("SELECT x FROM facts").fetchall() == [("canary",)]
        other.close()
        db.close()

    def test_while_somebody_writes(self, tmp_path: Path) -> None:
        """A copy made among many commits is one moment: sums that every transaction keeps equal are equal in it."""
        source = tmp_path / "bank.db"
        # Through the same SQLite as ours: two of them in one process drop each other's locks on a file.
        db = newest_driver().module.connect(str(source), check_same_thread=False, timeout=20)
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript("CREATE TABLE a (x); CREATE TABLE b (x);")
        stop = threading.Event()

        def write() -> None:
            number = 0
            while not stop.is_set():
                with db:
                    db.execute("INSERT INTO a VALUES (?)", (number,))
                    db.execute("INSERT INTO b VALUES (?)", (number,))
                number += 1

        thread = threading.Thread(target=write)
        thread.start()
        try:
            for number in range(5):
                copy(source, tmp_path / f"copy{number}")
        finally:
            stop.set()
            thread.join()
        for number in range(5):
            other = sqlite3.connect(tmp_path / f"copy{number}")
            assert (
                other.execute("SELECT count(*) FROM a").fetchone() == other.execute("SELECT count(*) FROM b").fetchone()
            )
            other.close()
        db.close()

    def test_a_damaged_database_is_an_error_and_leaves_nothing(self, tmp_path: Path) -> None:
        """A file that only begins like a database can't be copied as one, and nothing stands under the copy's name."""
        source, target = tmp_path / "x.db", tmp_path / "copy"
        source.write_bytes(b"SQLite format 3\0" + b"\x55" * 5000)
        with pytest.raises(HermesStateError) as caught:
            copy(source, target)
        assert isinstance(caught.value, StoreDamaged)
        assert not list(tmp_path.glob("copy*"))

    @pytest.mark.parametrize("name", ["a#b?c%41.db", "Héllo wörld 深", "x\ny.sqlite"])
    def test_names(self, tmp_path: Path, name: str) -> None:
        """No name of a database is taken for an option."""
        source = tmp_path / name
        db = sqlite3.connect(source)
        db.execute("CREATE TABLE t (x)")
        db.close()
        assert copy(source, tmp_path / "copy").kind is Kind.OTHER

    def test_utf16(self, tmp_path: Path) -> None:
        """A state.db in UTF-16 is copied without its indexes too."""
        source = tmp_path / "state.db"
        db = sqlite3.connect(source)
        db.execute("PRAGMA encoding='UTF-16le'")
        db.execute("CREATE TABLE schema_version (version)")
        db.close()
        hermes_db_in(source)
        made = copy(source, tmp_path / "copy")
        assert made.rows == {"sessions": 4, "messages": 20}
        assert made.left_out == (*hermes_db.INDEXES, PLAIN)


def hermes_db_in(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("DROP TABLE schema_version")
    db.commit()
    db.close()
    hermes_db.make(path)


class TestManifest:
    def test_statements_are_not_believed(self) -> None:
        """A manifest can't smuggle other statements in as the description of an index."""
        good = {"name": "f", "create": "CREATE VIRTUAL TABLE f USING fts5(x, content='t')", "triggers": []}
        assert DerivedIndex.from_dict(good).fill
        for bad in (
            {**good, "create": "DROP TABLE messages"},
            {**good, "triggers": ["DELETE FROM messages"]},
            {**good, "name": "g"},
            {**good, "create": "CREATE VIRTUAL TABLE f USING fts5(x)"},
            {**good, "create": "CREATE VIRTUAL TABLE f USING fts5(x, content='')"},
            {"name": "f"},
        ):
            with pytest.raises(HermesStateError):
                DerivedIndex.from_dict(bad)

    def test_ordinary_indexes_of_a_manifest(self) -> None:
        """Only a statement that makes the named index is taken."""
        create = "CREATE INDEX a ON t(x)"
        assert from_dict({"name": "a", "create": create}) == PlainIndex(name="a", create=create)
        for bad in ("CREATE UNIQUE INDEX a ON t(x)", "DROP TABLE t", "CREATE INDEX b ON t(x)", "", None, 5):
            with pytest.raises(FormatError):
                from_dict({"name": "a", "create": bad})
