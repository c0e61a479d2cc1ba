"""Copies page by page hold what SQLite says the database holds, and pages that did not change stay as they were."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hermes_state.engine.driver import newest_driver
from hermes_state.errors import StoreDamaged
from hermes_state.portability.databases import copy as copied
from hermes_state.portability.pages.copying import copy_pages
from hermes_state.portability.pages.errors import Unfit
from hermes_state.portability.tables import Choice, copy_tables, schema_of

if TYPE_CHECKING:
    from pathlib import Path

PAGE = 1024
DRIVERS_ERROR: type[Exception] = newest_driver().module.Error
TABLES = """
CREATE TABLE messages (id INTEGER PRIMARY KEY, session TEXT NOT NULL, content TEXT, extra BLOB);
CREATE TABLE sessions (name TEXT PRIMARY KEY, title TEXT UNIQUE);
CREATE TABLE facts (key TEXT, value TEXT, PRIMARY KEY (key, value)) WITHOUT ROWID;
CREATE TABLE small (a, b);
CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, x);
CREATE TABLE left_out (x);
CREATE INDEX by_session ON messages (session, id DESC);
CREATE INDEX by_content ON messages (content) WHERE extra IS NULL;
CREATE VIEW seen AS SELECT content FROM messages;
CREATE TRIGGER counting AFTER INSERT ON sessions BEGIN INSERT INTO counted (x) VALUES (new.name); END;
"""
KEPT = ("messages", "sessions", "facts", "small", "counted")
WORDS = "数据库 升级 الخادم 🙂 deploy"


def connect(path: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(path, isolation_level=None))


def make(path: Path, *, page: int = PAGE, rows: int = 120, mode: str = "WAL") -> Path:
    with connect(path) as db:
        db.execute(f"PRAGMA page_size={page}")
        db.execute(f"PRAGMA journal_mode={mode}")
        db.executescript(TABLES)
        db.execute("BEGIN")
        grow(db, random.Random(1), rows)
        db.execute("COMMIT")
    return path


def grow(db: sqlite3.Connection, rnd: random.Random, rows: int) -> None:
    """Rows of all lengths: of nothing, of a few bytes, of many pages."""
    for number in range(rows):
        text = f"{WORDS} {rnd.randbytes(rnd.choice((3, 40, 300, 3000))).hex()}"
        extra = rnd.randbytes(rnd.choice((0, 30, 5000))) if rnd.random() < 0.3 else None
        db.execute("INSERT INTO messages (session, content, extra) VALUES (?, ?, ?)", (f"s{number % 7}", text, extra))
        db.execute("INSERT OR IGNORE INTO sessions VALUES (?, ?)", (f"{rnd.random()} {text[:700]}", text))
        db.execute("INSERT OR IGNORE INTO facts VALUES (?, ?)", (text[:90], text[:1500]))
        db.execute("INSERT INTO left_out VALUES (?)", (text,))
    db.execute("INSERT INTO small VALUES (?, ?)", (rows, WORDS))


def rows_of(path: Path) -> dict[str, list[Any]]:
    with connect(path) as db:
        found = {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in KEPT}
        found["keys"] = db.execute("SELECT rowid FROM small").fetchall()
        found["by index"] = db.execute("SELECT session, id FROM messages INDEXED BY by_session").fetchall()
        found["sequence"] = db.execute("SELECT * FROM sqlite_sequence").fetchall()
        found["schema"] = [r for r in db.execute("SELECT type, name, sql FROM sqlite_master") if "left_out" not in r[1]]
    return found


def assert_sound(path: Path) -> None:
    with connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def copy(source: Path, target: Path, remembered: Path) -> Path:
    with connect(source) as db:
        seen = schema_of(db)
    target.unlink(missing_ok=True)
    copy_pages(source, target, Choice(seen, {"left_out"}), busy_ms=1000, remembered=remembered)
    return target


def changed_pages(one: Path, other: Path, page: int = PAGE) -> int:
    first, second = one.read_bytes(), other.read_bytes()
    return sum(first[at : at + page] != second[at : at + page] for at in range(0, max(len(first), len(second)), page))


# --- what a copy holds ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
@pytest.mark.parametrize("page", [512, 4096, 65536])
def test_all_that_is_kept(tmp_path: Path, page: int, mode: str) -> None:
    source = make(tmp_path / "数据.db", page=page, mode=mode)
    made = copy(source, tmp_path / "copy.db", tmp_path / "numbers")
    assert rows_of(made) == rows_of(source)
    assert_sound(made)
    with connect(made) as db:
        assert not db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'left_out'").fetchone()[0]


@st.composite
def edits(draw: st.DrawFn) -> list[tuple[str, int]]:
    kinds = ("grow", "update", "delete", "lengthen", "clear", "vacuum", "checkpoint", "forget", "garbage")
    return draw(st.lists(st.tuples(st.sampled_from(kinds), st.integers(0, 99)), min_size=1, max_size=6))


@given(edits())
@settings(max_examples=15)
def test_copy_after_copy(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]) -> None:
    """Whatever happens between two copies, to the database or to what was remembered."""
    folder = tmp_path_factory.mktemp("copies")
    source, target, remembered = make(folder / "a.db", rows=60), folder / "copy.db", folder / "numbers"
    copy(source, target, remembered)
    with connect(source) as db:
        for kind, number in steps:
            change(db, remembered, kind, number)
            copy(source, target, remembered)
            assert rows_of(target) == rows_of(source)
            assert_sound(target)
    shutil.rmtree(folder)


def change(db: sqlite3.Connection, remembered: Path, kind: str, number: int) -> None:
    rnd = random.Random(number)
    match kind:
        case "grow":
            db.execute("BEGIN")
            grow(db, rnd, number)
            db.execute("COMMIT")
        case "update":
            db.execute("UPDATE messages SET content = content || ' 变' WHERE id % 10 = ?", (number % 10,))
        case "delete":
            db.execute("DELETE FROM messages WHERE id % 100 < ?", (number,))
        case "lengthen":
            db.execute("UPDATE messages SET extra = zeroblob(20000) WHERE id = ?", (number,))
        case "clear":
            db.execute("DELETE FROM facts")
        case "vacuum":
            db.execute("VACUUM")
        case "checkpoint":
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        case "forget":
            remembered.unlink(missing_ok=True)
        case "garbage":
            remembered.write_bytes(rnd.randbytes(number * 4))


@given(st.binary(max_size=60))
@settings(max_examples=20)
def test_anything_may_be_remembered(tmp_path: Path, raw: bytes) -> None:
    """It only says where pages go; that they go to different places is seen to anyway."""
    source = tmp_path / "a.db"
    if not source.exists():
        make(source)
    (tmp_path / "numbers").write_bytes(raw)
    made = copy(source, tmp_path / "copy.db", tmp_path / "numbers")
    assert rows_of(made) == rows_of(source)
    assert_sound(made)


def test_nothing_of_what_was_deleted(tmp_path: Path) -> None:
    """Pages keep deleted bytes until they are used again; a copy does not take them along."""
    secret = "sk-ant-api03-0123456789"
    source = make(tmp_path / "a.db")
    with connect(source) as db:
        db.execute("PRAGMA secure_delete=OFF")
        for n in (10, 50, 90):
            db.execute("UPDATE messages SET content = ? WHERE id = ?", (secret, n))
        db.execute("DELETE FROM messages WHERE content = ?", (secret,))
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert secret.encode() in source.read_bytes()
    assert secret.encode() not in copy(source, tmp_path / "copy.db", tmp_path / "numbers").read_bytes()


# --- what stays as it was ------------------------------------------------------------------------------------------


def test_the_same_gives_the_same(tmp_path: Path) -> None:
    source, remembered = make(tmp_path / "a.db"), tmp_path / "numbers"
    first = copy(source, tmp_path / "1.db", remembered)
    assert copy(source, tmp_path / "2.db", remembered).read_bytes() == first.read_bytes()


def test_a_row_changes_its_pages_alone(tmp_path: Path) -> None:
    """Although it grows, although others are deleted and new ones take their pages."""
    source, remembered = make(tmp_path / "a.db", rows=800), tmp_path / "numbers"
    first = copy(source, tmp_path / "1.db", remembered)
    with connect(source) as db:
        db.execute("UPDATE messages SET content = content || ' and more of it' WHERE id = 400")
        db.execute("DELETE FROM messages WHERE id = 100")
        db.execute("INSERT INTO messages (session, content) VALUES ('s1', '新')")
    second = copy(source, tmp_path / "2.db", remembered)
    assert rows_of(second) == rows_of(source)
    assert first.stat().st_size > 1000 * PAGE
    assert changed_pages(first, second) < 40


# --- while others write --------------------------------------------------------------------------------------------

WRITER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
db.execute("PRAGMA synchronous=OFF")
number = 0
while True:
    number += 1
    db.execute("BEGIN IMMEDIATE")
    db.execute("UPDATE messages SET extra = ? WHERE id % 9 = 4", (b"%d " % number * 400,))
    db.execute("UPDATE small SET a = ?", (number,))
    db.execute("INSERT INTO facts VALUES (?, ?)", (str(number), "x" * 900))
    db.execute("COMMIT")
    if number == 3:
        print("writing", flush=True)
"""


def assert_of_one_moment(made: Path) -> None:
    """Of what `WRITER` writes: it is all of the same transaction."""
    assert_sound(made)
    with connect(made) as db:
        said = db.execute("SELECT a FROM small").fetchone()[0]
        texts = {row[0] for row in db.execute("SELECT extra FROM messages WHERE id % 9 = 4")}
        assert texts == {b"%d " % said * 400}
        assert db.execute("SELECT max(cast(key AS integer)) FROM facts").fetchone()[0] == said


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_one_moment_of_a_database_in_use(tmp_path: Path, mode: str) -> None:
    """Large tables are read beside SQLite, small ones through it: all are of the same transaction."""
    source, remembered = make(tmp_path / "a.db", mode=mode), tmp_path / "numbers"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, source], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    with writer.stdout:
        assert writer.stdout.readline()
        for number in range(4):
            made = copy(source, tmp_path / f"{number}.db", remembered)
            assert_of_one_moment(made)
        writer.kill()
        writer.wait()


def test_what_stands_only_in_the_log(tmp_path: Path) -> None:
    source = make(tmp_path / "a.db")
    with connect(source) as db:
        db.execute("PRAGMA wal_autocheckpoint=0")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = source.read_bytes()
        db.execute("BEGIN")
        grow(db, random.Random(2), 200)
        db.execute("COMMIT")
        made = copy(source, tmp_path / "copy.db", tmp_path / "numbers")
        assert source.read_bytes() == before
        assert rows_of(made) == rows_of(source)
    assert_sound(made)


# --- what is not copied so -----------------------------------------------------------------------------------------


def test_a_vacuumed_database_is_left_to_sqlite(tmp_path: Path) -> None:
    """It has pages of other kinds."""
    source = tmp_path / "a.db"
    with connect(source) as db:
        db.execute("PRAGMA auto_vacuum=FULL")
        db.executescript(TABLES)
    with pytest.raises(Unfit):
        copy(source, tmp_path / "copy.db", tmp_path / "numbers")


@given(st.integers(0, 2**32), st.integers(1, 30))
@example(44021, 6)  # SQLite's message names a table in bytes that are no UTF-8
@settings(max_examples=40)
def test_a_damaged_database(tmp_path: Path, seed: int, flips: int) -> None:
    """What comes out is what SQLite itself reads, or it is refused, or the copy is known to be damaged."""
    source = tmp_path / "a.db"
    if not source.exists():
        make(source, rows=40, mode="DELETE")
    rnd, damaged = random.Random(seed), tmp_path / "damaged.db"
    content = bytearray(source.read_bytes())
    for _ in range(flips):
        content[rnd.randrange(100, len(content))] ^= 1 << rnd.randrange(8)
    damaged.write_bytes(content)
    try:
        made = copied(damaged, tmp_path / "copy.db", remembered=tmp_path / "numbers")
        copy(damaged, tmp_path / "pages.db", tmp_path / "numbers")
    except (StoreDamaged, Unfit, sqlite3.Error, DRIVERS_ERROR):
        return
    if not made.damage:
        assert_same_or_damaged(damaged, tmp_path / "pages.db")


def assert_same_or_damaged(damaged: Path, made: Path) -> None:
    with connect(made) as db:
        db.text_factory = bytes
        try:
            found = db.execute("PRAGMA integrity_check").fetchall()
        except sqlite3.DatabaseError:
            return
        if found != [(b"ok",)]:
            return
        rows = [db.execute(f"SELECT * FROM {name}").fetchall() for name in KEPT]
    with connect(damaged) as db:
        db.text_factory = bytes
        assert [db.execute(f"SELECT * FROM {name}").fetchall() for name in KEPT] == rows


def test_as_copied_table_by_table(tmp_path: Path) -> None:
    source = make(tmp_path / "a.db")
    with connect(source) as db:
        copy_tables(source, tmp_path / "tables.db", Choice(schema_of(db), {"left_out"}), busy_ms=1000)
    assert rows_of(tmp_path / "tables.db") == rows_of(copy(source, tmp_path / "pages.db", tmp_path / "numbers"))
