"""Merging an archive into a home with content: everything new comes in, nothing that is here changes."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from homes import look, make_home, rows

from hermes_state import SessionDB
from hermes_state.errors import ArchiveDamaged, InvalidValue
from hermes_state.portability.backup import backup
from hermes_state.portability.merge import merge
from hermes_state.portability.recover import stages_of

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


def memories(home: Path) -> set[str]:
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
    assert {entry.strip() for entry in memories(one)} == {"likes redis", "likes postgres", "升级"}
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
    assert {entry.strip() for entry in memories(first)} == {entry.strip() for entry in memories(second)}


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


def test_sessions_that_differ_are_listed(two: tuple[Path, Path], tmp_path: Path) -> None:
    """The same session with other messages on both sides stays as it is here."""
    one, _ = two
    backup(one, tmp_path / "b.tar.zst")
    with SessionDB.open(home=one) as db, db.engine.read() as connection:
        session_id = connection.exec_driver_sql("SELECT id FROM sessions").scalar_one()
    with SessionDB.open(home=one) as db:
        db.messages.append(session_id, role="user", content="later")
    result = merge(tmp_path / "b.tar.zst", one)
    assert result.sessions == 0
    assert [item.path for item in result.differences if session_id in item.what] == ["hermes_state.db"]
    assert (session_id, "later") in texts(one)


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


def test_no_home(two: tuple[Path, Path], tmp_path: Path) -> None:
    """There must be a home to merge into."""
    backup(two[0], tmp_path / "b.tar.zst")
    with pytest.raises(InvalidValue):
        merge(tmp_path / "b.tar.zst", tmp_path / "nowhere")
