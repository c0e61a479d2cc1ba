"""Merging an archive into a home with content: everything new comes in, nothing that is here changes."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from homes import look, make_home, rows
from sqlalchemy import insert

from hermes_state import SessionDB
from hermes_state.check import check
from hermes_state.errors import ArchiveDamaged, InvalidValue
from hermes_state.portability.backup import backup
from hermes_state.portability.interrupted import stages_of
from hermes_state.portability.merge import merge
from hermes_state.schema import memories, memory_events, memory_tags

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two homes, each with something of its own."""
    one, other = make_home(tmp_path / "one/.hermes", "redis"), make_home(tmp_path / "other/.hermes", "postgres")
    (one / "skills/mine").mkdir()
    (one / "skills/mine/SKILL.md").write_text("of one")
    (other / "skills/theirs").mkdir()
    (other / "skills/theirs/SKILL.md").write_text("of the other")
    return one, other


def into(home: Path, other: Path, archive: Path) -> Path:
    """A copy of a home with another merged into it."""
    backup(other, archive)
    copy = archive.with_suffix(".home")
    shutil.copytree(home, copy, symlinks=True)
    merge(archive, copy)
    return copy


def entries(home: Path) -> set[str]:
    return set((home / "memories/MEMORY.md").read_text().split("\n§\n"))


def texts(home: Path) -> set[tuple[str, str]]:
    """Session ids with what was said."""
    with SessionDB.open(home=home, read_only=True) as db, db.engine.read() as connection:
        query = "SELECT s.id, m.content FROM messages m JOIN sessions s ON s.pk = m.session_pk"
        return {(row[0], str(row[1])) for row in connection.exec_driver_sql(query)}


def test_everything_new_comes_in(two: tuple[Path, Path], tmp_path: Path) -> None:
    """Sessions, memories and files of the archive are here afterwards, beside those that were."""
    one, other = two
    backup(other, tmp_path / "b.tar.zst")
    result = merge(tmp_path / "b.tar.zst", one)
    assert (result.sessions, result.messages, result.entries) == (1, 5, 1)
    assert texts(one) >= texts(other)
    assert {entry.strip() for entry in entries(one)} == {"likes redis", "likes postgres", "升级"}
    assert (one / "skills/theirs/SKILL.md").read_text() == "of the other"
    assert (one / "skills/mine/SKILL.md").read_text() == "of one"
    assert stages_of(one) == []


def test_nothing_that_is_here_changes(two: tuple[Path, Path], tmp_path: Path) -> None:
    """Files with other content stay and are listed."""
    one, other = two
    before = look(one)
    backup(other, tmp_path / "b.tar.zst")
    result = merge(tmp_path / "b.tar.zst", one)
    after = look(one)
    assert {item.path for item in result.differences} >= {"SOUL.md", "config.yaml", ".env", "state.db"}
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"hermes_state.db", "memories/MEMORY.md"}


def test_twice_is_once(two: tuple[Path, Path], tmp_path: Path) -> None:
    """Merging again adds nothing."""
    one, other = two
    backup(other, tmp_path / "b.tar.zst")
    merge(tmp_path / "b.tar.zst", one)
    before = look(one), rows(one / "hermes_state.db")
    again = merge(tmp_path / "b.tar.zst", one)
    assert (again.sessions, again.messages, again.entries, again.files) == (0, 0, 0, [])
    assert (look(one), rows(one / "hermes_state.db")) == before


def test_both_ways_give_the_same(two: tuple[Path, Path], tmp_path: Path) -> None:
    """One merged into the other has the same sessions and memories as the other merged into the one."""
    one, other = two
    first, second = into(one, other, tmp_path / "a.tar.zst"), into(other, one, tmp_path / "b.tar.zst")
    assert texts(first) == texts(second)
    assert {entry.strip() for entry in entries(first)} == {entry.strip() for entry in entries(second)}


def test_lineage_comes_along(two: tuple[Path, Path], tmp_path: Path) -> None:
    """A compressed conversation is one conversation here too, and can be found."""
    one, other = two
    with SessionDB.open(home=other) as db:
        session = db.sessions.create(source="cli", title="long")
        db.messages.append(session.id, role="user", content="the zanzibar plan")
        tip = db.lineage.rotate(session.id, [{"role": "user", "content": "summary"}]).child
    backup(other, tmp_path / "b.tar.zst")
    merge(tmp_path / "b.tar.zst", one)
    with SessionDB.open(home=one) as db:
        assert db.sessions.get(tip.id) is not None
        assert [hit.session_id for hit in db.search.messages("zanzibar")] == [session.id]


def said(home: Path) -> set[tuple[str, ...]]:
    """What was said in each session, whatever its id."""
    with SessionDB.open(home=home, read_only=True) as db, db.engine.read() as connection:
        query = "SELECT session_pk, content FROM messages ORDER BY session_pk, position"
        found: dict[int, list[str]] = {}
        for pk, content in connection.exec_driver_sql(query):
            found.setdefault(pk, []).append(str(content))
    return {tuple(texts_) for texts_ in found.values()}


def only_session(home: Path) -> str:
    with SessionDB.open(home=home) as db, db.engine.read() as connection:
        return str(connection.exec_driver_sql("SELECT id FROM sessions WHERE title IS NOT NULL").scalar_one())


@pytest.fixture
def twins(tmp_path: Path) -> tuple[Path, Path, str]:
    """A home, a copy of it, and the session both have."""
    one = make_home(tmp_path / "one/.hermes")
    other = tmp_path / "other/.hermes"
    shutil.copytree(one, other, symlinks=True)
    return one, other, only_session(one)


def append(home: Path, session_id: str, text: str) -> None:
    with SessionDB.open(home=home) as db:
        db.messages.append(session_id, role="user", content=text)


def test_a_session_that_went_on_there_goes_on_here(twins: tuple[Path, Path, str], tmp_path: Path) -> None:
    """The longer one has everything, whichever side it is on; and what followed from it comes along."""
    one, other, session_id = twins
    append(other, session_id, "später 続き")
    with SessionDB.open(home=other) as db:
        tip = db.lineage.rotate(session_id, [{"role": "user", "content": "summary"}]).child
    first, second = into(one, other, tmp_path / "a.tar.zst"), into(other, one, tmp_path / "b.tar.zst")
    assert said(first) == said(second) == said(other)
    with SessionDB.open(home=first) as db:
        assert [hit.session_id for hit in db.search.messages("später")] == [session_id]
        assert db.sessions.get(tip.id).parent_id == session_id
    assert len([text for owner, text in texts(first) if owner == session_id]) == 6
    again = merge(tmp_path / "a.tar.zst", first)
    assert (again.sessions, again.messages, again.extended) == (0, 0, [])


def test_sessions_that_parted_are_both_here(twins: tuple[Path, Path, str], tmp_path: Path) -> None:
    """Each went on in its own way: both are listed and kept, in both homes, however often they are merged."""
    one, other, session_id = twins
    append(one, session_id, "to the left")
    append(other, session_id, "to the right")
    with SessionDB.open(home=other) as db:
        child = db.lineage.rotate(session_id, [{"role": "user", "content": "summary"}]).child
    backup(other, tmp_path / "a.tar.zst")
    backup(one, tmp_path / "b.tar.zst")
    result = merge(tmp_path / "a.tar.zst", one)
    assert [old for old, _ in result.beside] == [session_id]
    assert [item.path for item in result.differences if session_id in item.what] == ["hermes_state.db"]
    assert (session_id, "to the left") in texts(one)
    assert (result.beside[0][1], "to the right") in texts(one)
    with SessionDB.open(home=one) as db:
        assert db.sessions.get(child.id).parent_id == result.beside[0][1]
    merge(tmp_path / "b.tar.zst", other)
    assert said(one) == said(other)
    for archive, home in ((tmp_path / "a.tar.zst", one), (tmp_path / "b.tar.zst", other)):
        before = texts(home)
        assert merge(archive, home).sessions == 0
        assert texts(home) == before
    backup(one, tmp_path / "c.tar.zst")
    assert merge(tmp_path / "c.tar.zst", other).sessions == 0  # both have both, under other ids


def test_a_dry_run_tells_and_changes_nothing(two: tuple[Path, Path], tmp_path: Path) -> None:
    """It says what the real thing then does."""
    one, other = two
    (other / "memories/USER.md").write_text("speaks 日本語\n")
    backup(other, tmp_path / "b.tar.zst")
    before = look(one)
    told = merge(tmp_path / "b.tar.zst", one, dry_run=True)
    assert look(one) == before
    assert stages_of(one) == []
    done = merge(tmp_path / "b.tar.zst", one)
    assert told == done
    assert (told.sessions, told.entries) == (1, 1)
    assert "memories/USER.md" in told.files


def test_curated_memories_are_merged_by_content(two: tuple[Path, Path], tmp_path: Path) -> None:
    """With tags and history; what both noted is one entry; an id with other words here is listed."""
    one, other = two
    remember(one, "m1", "likes tea", "drinks")
    remember(other, "m2", "likes tea", "drinks")
    remember(other, "m1", "likes coffee", "drinks")
    remember(other, "m3", "住在京都", "place")
    backup(other, tmp_path / "b.tar.zst")
    result = merge(tmp_path / "b.tar.zst", one)
    assert [item.what for item in result.differences if item.path == "hermes_state.db"] == [
        "memory m1: here it says something else"
    ]
    assert remembered(one) == {("m1", "likes tea", "drinks"), ("m3", "住在京都", "place")}


def remember(home: Path, memory_id: str, content: str, tag: str) -> None:
    with SessionDB.open(home=home) as db, db.engine.write() as connection:
        values = {"id": memory_id, "target": "user", "status": "active", "created_at": 5, "changed_at": 5}
        pk = connection.execute(insert(memories).values(content=content, **values).returning(memories.c.pk)).scalar()
        connection.execute(insert(memory_tags).values(memory_pk=pk, tag=tag))
        connection.execute(insert(memory_events).values(memory_pk=pk, batch="b", action="add", at=5, after=content))


def remembered(home: Path) -> set[tuple[str, str, str]]:
    with SessionDB.open(home=home) as db, db.engine.read() as connection:
        query = "SELECT m.id, m.content, t.tag FROM memories m JOIN memory_tags t ON t.memory_pk = m.pk"
        return {tuple(row) for row in connection.exec_driver_sql(query)}


def test_while_the_agent_works(two: tuple[Path, Path], tmp_path: Path) -> None:
    """A home that is open can be merged into."""
    one, other = two
    backup(other, tmp_path / "b.tar.zst")
    with SessionDB.open(home=one) as db:
        merge(tmp_path / "b.tar.zst", one)
        session = db.sessions.create(source="cli")
        db.messages.append(session.id, role="user", content="goes on")
        assert db.search.messages("postgres")


def test_a_damaged_archive_merges_nothing(two: tuple[Path, Path], tmp_path: Path) -> None:
    """Nothing of an archive that is not sound comes in."""
    one, other = two
    backup(other, tmp_path / "b.tar.zst")
    (tmp_path / "b.tar.zst").write_bytes((tmp_path / "b.tar.zst").read_bytes()[:-40])
    before = look(one)
    with pytest.raises(ArchiveDamaged):
        merge(tmp_path / "b.tar.zst", one)
    assert look(one) == before


def test_a_store_that_is_not_here_comes_with_its_index(two: tuple[Path, Path], tmp_path: Path) -> None:
    """It can be searched at once, and is sound."""
    one, other = two
    backup(other, tmp_path / "b.tar.zst")
    (one / "hermes_state.db").unlink()
    assert "hermes_state.db" in merge(tmp_path / "b.tar.zst", one).files
    with SessionDB.open(home=one, read_only=True) as db:
        assert db.search.messages("postgres")
        assert not check(db.engine).findings


def test_no_home(two: tuple[Path, Path], tmp_path: Path) -> None:
    """There must be a home to merge into."""
    backup(two[0], tmp_path / "b.tar.zst")
    with pytest.raises(InvalidValue):
        merge(tmp_path / "b.tar.zst", tmp_path / "nowhere")


def test_a_database_with_the_same_rows_is_the_same(tmp_path: Path) -> None:
    """Also when another program has it open, in WAL mode, and has written to it and taken that back."""
    home = make_home(tmp_path / "home")

    def differ() -> bool:
        return "notes.db" in {item.path for item in merge(tmp_path / "a.tar.zst", home).differences}

    with closing(sqlite3.connect(home / "notes.db")) as notes:
        notes.execute("PRAGMA journal_mode=WAL")
        notes.execute("CREATE TABLE notes (text)")
        notes.execute("INSERT INTO notes VALUES ('升级')")
        notes.commit()
        backup(home, tmp_path / "a.tar.zst")
        notes.execute("INSERT INTO notes VALUES ('more')")
        notes.commit()
        assert [item.path for item in merge(tmp_path / "a.tar.zst", home).differences if "notes" in item.path] == [
            "notes.db"
        ]
        notes.execute("DELETE FROM notes WHERE text = 'more'")
        notes.commit()
        assert not differ()
        assert notes.execute("SELECT text FROM notes").fetchall() == [("升级",)]
