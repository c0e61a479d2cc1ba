"""Damaged stores: told plainly, salvaged into a new one, never made worse."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from damage import flip, interiors_of, leaves_of, overwrite, page_size

from hermes_state.atomic import give_name
from hermes_state.check import Kind, check
from hermes_state.engine import SqliteEngine
from hermes_state.errors import Conflict, SchemaTooNew, StoreBusy, StoreDamaged, StoreUnavailable
from hermes_state.recover import recover
from hermes_state.store import SessionDB

SESSIONS, MESSAGES = 30, 40


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store of 30 sessions with 40 messages each, in several conversations, and everything else there is."""
    path = tmp_path_factory.mktemp("template") / "hermes_state.db"
    with SessionDB.open(path, synchronous="NORMAL") as db:
        for n in range(SESSIONS):
            about = {"system_prompt": f"prompt {n % 3}", "extras": {"filler": "x" * 400}}
            db.sessions.create(f"s{n:02}", source="cli", title=f"title {n}", **about)
            texts = [f"message {n} {m} 消息 " + "lorem ipsum " * (20 + 200 * (m % 9 == 0)) for m in range(MESSAGES)]
            said = [{"role": "user", "content": text, "mood": m} for m, text in enumerate(texts)]
            db.messages.append_many(f"s{n:02}", said)
        db.messages.rewind("s01", last=3)
        db.messages.compact("s02", [{"role": "user", "content": "summary"}], keep_last=5)
        db.lineage.rotate("s03", [{"role": "user", "content": "summary"}])
        db.lineage.branch("s04")
        db.lineage.delegate("s05")
        db.sessions.tag("s06", "a", "b")
        db.sessions.archive("s07")
        db.usage.record("s08", model="m", input_tokens=5)
        db.meta.set("key", "value")
        db.routes.set("peer", "s09", entry={"a": 1})
        db.handoffs.request("s10", "telegram")
        db.search.messages("lorem")
        db.sessions.end("s29", "idle")  # brings the counters in the rows up to date
    return path


@pytest.fixture
def path(template: Path, tmp_path: Path) -> Path:
    """A copy of the template, in a home of its own."""
    (tmp_path / "home").mkdir()
    return Path(shutil.copy(template, tmp_path / "home"))


def everything(path: Path) -> list[str]:
    """All rows of the tables that are not derived, to compare two stores."""
    connection = sqlite3.connect(path)
    try:
        derived = ("message_index", "index_zones", "store_state", "sqlite_")
        return [
            line for line in connection.iterdump() if line.startswith("INSERT") and not any(d in line for d in derived)
        ]
    finally:
        connection.close()


def miscount(path: Path) -> None:
    """A counter that is not what the messages add up to, and no other fault."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE sessions SET message_count = 99 WHERE id = 's11'")
        connection.commit()


@pytest.mark.parametrize("swap", [False, True])
def test_a_sound_store_is_left_alone(path: Path, swap: bool) -> None:
    """There is nothing to recover: nothing is made, copied aside under the name of a damage, or swapped."""
    before = path.read_bytes()
    done = recover(path, into=path.with_name("asked-for.db"), swap=swap)
    assert (done.is_complete, done.report.is_sound) == (True, True)
    assert (done.target, done.copy, done.kept, done.fingerprint, done.tables) == (None, None, None, None, ())
    assert path.read_bytes() == before
    made = {file.name for file in path.parent.iterdir()} - {path.name, f"{path.name}-wal", f"{path.name}-shm"}
    assert not {name for name in made if not name.endswith(".lock")}


def test_a_stale_index_is_nothing_to_recover(path: Path) -> None:
    """No row is in danger: the finding is told, with what mends it, and the store stays in its place."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM message_index_data WHERE id > 10")
        connection.commit()
    done = recover(path)
    assert done.report.counts.keys() == {Kind.INDEX}
    assert (done.is_complete, done.target) == (True, None)


def test_a_store_of_which_a_counter_alone_is_wrong_is_salvaged_to_the_last_bit(path: Path) -> None:
    """Nothing is lost, mended or changed; every row is the same; the source is not touched."""
    miscount(path)
    before = path.read_bytes()
    done = recover(path)
    assert done.is_complete, done
    assert {t.table: t.lost for t in done.tables if t.lost} == {}
    miscount(done.target)
    assert everything(done.target) == everything(path)
    assert path.read_bytes() == before
    assert done.target == path.with_name("hermes_state.recovered.db")
    assert done.target.stat().st_mode & 0o777 == 0o600
    with SessionDB.open(path) as old, SessionDB.open(done.target) as new:
        assert new.store_id == old.store_id
        assert new.sessions.list(limit=None) == old.sessions.list(limit=None)
        assert len(new.search.messages("lorem", limit=50)) == 50
        last = max(m.id for m in old.messages.list("s29"))
        assert new.messages.append("s29", role="user", content="on").id > last


def test_damage_outside_the_pages_has_a_name_of_its_own(path: Path) -> None:
    """SQLite finds nothing wrong with either file: what the check found tells them apart, and each is kept."""
    miscount(path)
    first = recover(path, into=path.with_name("one.db"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE sessions SET is_tip = 0 WHERE id = 's12'")
        connection.commit()
    second = recover(path, into=path.with_name("two.db"))
    assert first.copy is not None
    assert second.copy not in (None, first.copy)


def test_damage_is_told_plainly(path: Path) -> None:
    """Reading behind the damage raises the typed error with the next step; the rest of the store still works."""
    overwrite(path, leaves_of(path, "messages")[3])

    def read_all(db: SessionDB) -> None:
        for session in db.sessions.list(limit=None):
            db.messages.list(session.id)

    with SessionDB.open(path) as db:
        with pytest.raises(StoreDamaged) as told:
            read_all(db)
        assert "db recover" in told.value.hint
        assert db.messages.append("s29", role="user", content="still works").position == MESSAGES
        report = check(db.engine)
    assert report.exit_code == 1
    assert report.needs_recovery
    assert Kind.DAMAGED in report.counts


@pytest.mark.parametrize("which", [0, 3, -1], ids=["first", "middle", "last"])
def test_a_damaged_leaf_costs_its_own_rows_only(path: Path, which: int) -> None:
    """What lies on other pages is all there; what is lost is counted exactly; the new store is sound and goes on."""
    hurt = leaves_of(path, "messages")[which]
    overwrite(path, hurt)
    done = recover(path)
    counts = {t.table: t for t in done.tables}
    total = SESSIONS * MESSAGES + 1 + 1 + MESSAGES
    assert 0 < counts["messages"].lost < 80
    assert counts["messages"].recovered + counts["messages"].lost == total
    assert counts["sessions"].lost == 0
    assert done.report.is_sound
    assert not done.is_complete
    assert done.kept is None
    with SessionDB.open(done.target) as new:
        assert new.sessions.get("s15").title == "title 15"
        assert new.search.messages("lorem")
        new.messages.append("s15", role="user", content="on")
        assert check(new.engine, full=True).is_sound


def test_sessions_behind_damage_keep_id_and_messages(path: Path) -> None:
    """A session whose row is lost gets its id back from the index of ids, and its messages with it."""
    leaves = leaves_of(path, "sessions")
    assert len(leaves) > 1
    overwrite(path, leaves[0])
    done = recover(path)
    counts = {t.table: t for t in done.tables}
    assert counts["messages"].lost == 0
    assert counts["sessions"].mended > 0
    assert done.report.is_sound
    with SessionDB.open(done.target) as new:
        names = {s.id for s in new.sessions.list(limit=None)}
        assert {f"s{n:02}" for n in range(11, SESSIONS)} <= names
        assert sum(name.startswith("s") for name in names) >= SESSIONS - 2  # s03's tip and archived s07
        assert new.sessions.get("s00").source == "recovered"
        assert new.messages.count("s00") == MESSAGES


def test_a_damaged_interior_page_is_walked_around(path: Path) -> None:
    """The root of the messages' tree is gone: all its rows are, and that is said; everything else is kept."""
    overwrite(path, interiors_of(path, "messages")[0])
    done = recover(path)
    counts = {t.table: t for t in done.tables}
    assert counts["messages"].recovered == 0
    assert counts["messages"].lost == SESSIONS * MESSAGES + 2 + MESSAGES
    assert counts["sessions"].recovered == SESSIONS + 3
    assert done.report.is_sound


def test_a_damaged_index_of_positions_costs_nothing(path: Path) -> None:
    """A secondary index holds nothing of its own: every row is recovered."""
    overwrite(path, *leaves_of(path, "uq_messages_session_pk_position"))
    done = recover(path)
    assert {t.table: t.recovered for t in done.tables}["messages"] == SESSIONS * MESSAGES + 2 + MESSAGES
    assert done.report.is_sound


def test_bytes_that_changed_inside_a_row_are_mended(path: Path) -> None:
    """Text that is no UTF-8 any more keeps what is still text; nothing raises on the way."""
    assert flip(path, b"message 12 7 ") >= 1
    done = recover(path)
    counts = {t.table: t for t in done.tables}
    assert (counts["messages"].lost, counts["messages"].mended) == (0, 1)
    assert done.report.is_sound
    with SessionDB.open(done.target) as new:
        assert "essage 12 7" in str(new.messages.list("s12")[7].content)


def test_a_compressed_text_that_changed_is_lost_alone(path: Path) -> None:
    """A zstd frame that can't be read costs one content, not its message's place nor its neighbours."""
    with sqlite3.connect(path) as connection:
        (frame,) = connection.execute("SELECT content FROM messages WHERE typeof(content) = 'blob' LIMIT 1").fetchone()
    connection.close()
    assert flip(path, frame[:24]) >= 1
    with SessionDB.open(path, read_only=True) as db:
        assert check(db.engine, full=True).counts.keys() >= {Kind.CONTENT}
    done = recover(path)
    counts = {t.table: t for t in done.tables}
    assert counts["messages"].lost == 0
    assert counts["messages"].mended >= 1
    assert done.report.is_sound


def test_a_broken_header_leaves_nothing_but_is_told(path: Path) -> None:
    """Without its first page no table can be found: a typed error, no new store, the file as it was."""
    overwrite(path, 1)
    before = path.read_bytes()
    with pytest.raises(StoreDamaged):
        SessionDB.open(path)
    with pytest.raises(StoreDamaged, match="nothing of a store"):
        recover(path)
    assert path.read_bytes() == before
    assert not path.with_name("hermes_state.recovered.db").exists()


@pytest.mark.parametrize("read_only", [False, True])
def test_an_emptied_file_is_no_new_store(path: Path, read_only: bool) -> None:
    """SQLite deletes the log beside an empty file and begins anew: all would be gone, and nothing said (B143)."""
    log = path.with_name(f"{path.name}-wal")
    with SessionDB.open(path) as db:
        db.messages.append("s15", role="user", content="in the log")
        written = log.read_bytes()
    assert written
    log.write_bytes(written)
    path.write_bytes(b"")
    for attempt in (lambda: SessionDB.open(path, read_only=read_only), lambda: recover(path)):
        with pytest.raises(StoreDamaged):
            attempt()
        assert (path.read_bytes(), log.read_bytes()) == (b"", written)


def test_a_cut_file_is_salvaged_up_to_the_cut(path: Path) -> None:
    """The end of the file is missing, as after a full disk or a broken copy."""
    size = page_size(path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size * 6 // 10 // size * size)
    done = recover(path)
    assert done.report.is_sound
    assert {t.table: t.recovered for t in done.tables}["sessions"] > 0


def test_random_damage_never_stops_a_recovery(path: Path) -> None:
    """Whatever pages are hit, the outcome is a sound store or the typed error that there is nothing to read."""
    pages = path.stat().st_size // page_size(path)
    for seed in range(4):
        hurt = path.with_name(f"hurt{seed}.db")
        hurt.write_bytes(path.read_bytes())
        overwrite(hurt, *range(2 + seed, pages, 5 + seed), seed=seed)
        try:
            done = recover(hurt)
        except StoreDamaged:
            continue
        assert done.report.is_sound, done.report.findings


def test_repeated_runs_do_not_fill_the_disk(path: Path) -> None:
    """The damaged file is copied aside once for one damage, however often it is looked at and written to meanwhile."""
    overwrite(path, leaves_of(path, "messages")[3])
    first = recover(path, into=path.with_name("one.db"))
    with SessionDB.open(path) as db:
        db.messages.append("s29", role="user", content="meanwhile")
    second = recover(path, into=path.with_name("two.db"))
    assert first.copy is not None
    assert first.copy == second.copy
    assert len(list((path.parent / "state-snapshots").iterdir())) == 1
    overwrite(path, leaves_of(path, "sessions")[-1])
    third = recover(path, into=path.with_name("three.db"))
    assert third.copy not in (None, first.copy)


def test_a_new_store_never_replaces_a_file(path: Path) -> None:
    """What an earlier run made, or anybody's file, is left alone."""
    miscount(path)
    recover(path)
    with pytest.raises(Conflict):
        recover(path)
    with pytest.raises(StoreUnavailable):
        recover(path.with_name("nothing.db"))


def test_a_newer_schema_is_for_its_own_version(path: Path) -> None:
    """Columns that this version does not know would be lost without a word."""
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(SchemaTooNew):
        recover(path)


# --- swapping ---------------------------------------------------------------------------------------------------


def test_swapping_puts_the_new_store_in_place(path: Path) -> None:
    """In one step; the damaged one is kept beside it, whole, and nothing of its WAL meets the new one."""
    overwrite(path, leaves_of(path, "messages")[3])
    done = recover(path, swap=True)
    assert done.target == path
    assert done.kept is not None
    assert done.kept.name.startswith("hermes_state.damaged-")
    assert done.kept.exists()
    assert not path.with_name("hermes_state.recovered.db").exists()
    left = {p.name for p in path.parent.iterdir() if not p.name.endswith(".lock")}
    assert left == {path.name, done.kept.name}
    with SessionDB.open(path) as db:
        assert check(db.engine, full=True).is_sound
        db.messages.append("s15", role="user", content="on")
    again = SqliteEngine(done.kept, read_only=True)
    assert Kind.DAMAGED in check(again).counts
    again.close()


def test_without_hard_links_it_works_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on FAT and some network file systems: by renaming, and still never over a file that is there."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    miscount(path)
    done = recover(path, swap=True)
    assert done.kept is not None
    assert done.kept.exists()
    with SessionDB.open(path) as db:
        assert check(db.engine).is_sound
    free = path.with_name("free.db")
    partial = path.with_name("partial")
    partial.write_bytes(b"new")
    free.write_bytes(b"old")
    with pytest.raises(FileExistsError):
        give_name(partial, free)
    assert (partial.read_bytes(), free.read_bytes()) == (b"new", b"old")


def test_swapping_needs_the_store_closed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While anybody has it open nothing is swapped, and the salvaged store waits beside it."""
    monkeypatch.setattr("hermes_state.recover.swap._BUDGET_S", 0.1)
    overwrite(path, leaves_of(path, "messages")[3])
    with SessionDB.open(path) as db:
        db.messages.append("s15", role="user", content="on")
        with pytest.raises(StoreBusy):
            recover(path, swap=True)
        db.messages.append("s15", role="user", content="still on")
    waiting = path.with_name("hermes_state.recovered.db")
    with SessionDB.open(waiting, read_only=True) as new:
        assert check(new.engine).is_sound


def test_messages_of_an_unfinished_wal_are_salvaged(path: Path, tmp_path: Path) -> None:
    """What a killed process committed lies in the WAL only; it is read, copied aside and swapped with the rest."""
    miscount(path)
    code = (
        "import os; from hermes_state.store import SessionDB\n"
        f"db = SessionDB.open({str(path)!r}); db.messages.append('s15', role='user', content='in the wal')\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert path.with_name(f"{path.name}-wal").stat().st_size > 0
    done = recover(path, into=tmp_path / "new.db")
    with SessionDB.open(done.target) as new:
        assert new.messages.list("s15")[-1].content == "in the wal"
    swapped = recover(path, swap=True, into=tmp_path / "home" / "other.db")
    assert swapped.kept is not None
    with SessionDB.open(path) as new:
        assert new.messages.list("s15")[-1].content == "in the wal"
    with SessionDB.open(swapped.kept) as old:
        assert old.messages.list("s15")[-1].content == "in the wal"


def test_another_programs_database_is_not_salvaged(tmp_path: Path) -> None:
    """A file that is no store of ours, even with tables of the same names, is refused and nothing is made beside it."""
    foreign = tmp_path / "state.db"
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT)")
        connection.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, content TEXT)")
        connection.execute("INSERT INTO sessions VALUES ('s1', 'cli')")
        connection.commit()
    with pytest.raises(StoreDamaged, match="not a hermes-state store"):
        recover(foreign)
    assert [file.name for file in tmp_path.iterdir()] == ["state.db"]
