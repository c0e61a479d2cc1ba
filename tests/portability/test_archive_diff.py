"""What differs between archives, and between an archive and a home."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest
from archive_harness import file, folder, link, sample, write
from homes import make_home

from hermes_state import SessionDB
from hermes_state.errors import ArchiveDamaged
from hermes_state.portability.backup import backup, preview
from hermes_state.portability.diff import Side, What, changes, of_archive, of_entries
from hermes_state.portability.repository.backup import back_up
from hermes_state.portability.restore import restore
from hermes_state.portability.writer import Options

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.portability.format import Entry


def differences(tmp_path: Path, before: list[Entry], after: list[Entry]) -> list[tuple[str, str]]:
    write(tmp_path / "a.tar.zst", before, replace=True)
    write(tmp_path / "b.tar.zst", after, replace=True)
    found = changes(of_archive(tmp_path / "a.tar.zst"), of_archive(tmp_path / "b.tar.zst"))
    return [(change.name, change.what.value) for change in found]


def against(before: Side, home: Path, folder: Path) -> list[tuple[str, str]]:
    """How a home differs, in what counts more than modes."""
    with preview(home, folder) as (entries, copies):
        found = changes(before, of_entries(entries, copies), folder)
    return [(change.name, change.what.value) for change in found if change.what is not What.MODE]


def test_two_archives_of_the_same_do_not_differ(tmp_path: Path) -> None:
    """Their manifests and times do, and that is no difference."""
    touched = [file("home/zero", mtime_ns=5) if entry.name == "home/zero" else entry for entry in sample()]
    assert differences(tmp_path, sample(), touched) == []


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ([], [file("home/x")], "added"),
        ([file("home/x")], [], "removed"),
        ([file("home/x", b"1")], [file("home/x", b"2")], "content"),
        ([file("home/x")], [file("home/x", mode=0o644)], "mode"),
        ([file("home/x", b"1")], [file("home/x", b"2", mode=0o644)], "content"),
        ([link("home/x", "a")], [link("home/x", "b")], "target"),
        ([link("home/x", "a")], [file("home/x", b"a")], "kind"),
        ([folder("home/x")], [file("home/x")], "kind"),
        ([folder("home/x")], [folder("home/x", mode=0o755)], "mode"),
    ],
)
def test_each_kind_of_difference_is_told(tmp_path: Path, before: list[Entry], after: list[Entry], what: str) -> None:
    """One word each; content counts more than mode."""
    assert differences(tmp_path, [folder("home"), *before], [folder("home"), *after]) == [("home/x", what)]


def test_a_damaged_archive_is_compared_with_nothing(tmp_path: Path) -> None:
    """A comparison with unproven bytes would say nothing."""
    write(tmp_path / "a.tar.zst")
    (tmp_path / "a.tar.zst").write_bytes((tmp_path / "a.tar.zst").read_bytes()[:-1])
    with pytest.raises(ArchiveDamaged):
        of_archive(tmp_path / "a.tar.zst")


def test_a_home_that_did_not_change_does_not_differ(tmp_path: Path) -> None:
    """Its databases included: they are read as a backup reads them."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.yaml").write_text("a: 1\n")
    with sqlite3.connect(home / "notes.db") as database:
        database.execute("CREATE TABLE notes (text)")
        database.executemany("INSERT INTO notes VALUES (?)", [(f"note {n}",) for n in range(1000)])
    database.close()
    backup(home, tmp_path / "a.tar.zst")
    before = of_archive(tmp_path / "a.tar.zst")

    def now() -> list[tuple[str, str]]:
        return against(before, home, tmp_path)

    assert now() == []
    (home / "config.yaml").write_text("a: 2\n")
    with sqlite3.connect(home / "notes.db") as database:
        database.execute("DELETE FROM notes WHERE text = 'note 7'")
    database.close()
    assert now() == [("home/config.yaml", "content"), ("home/notes.db", "content")]
    assert {path.name for path in tmp_path.iterdir()} == {"home", "a.tar.zst"}


def test_a_database_with_the_same_rows_does_not_differ(tmp_path: Path) -> None:
    """Wherever they lie in the file: SQLite counts writes in its head, and a row that is gone leaves its place."""
    home = tmp_path / "home"
    home.mkdir()
    with sqlite3.connect(home / "notes.db") as database:
        database.execute("CREATE TABLE notes (text)")
        database.execute("CREATE TABLE tags (name, rank, PRIMARY KEY (rank, name)) WITHOUT ROWID")
        database.executemany("INSERT INTO notes VALUES (?)", [(f"note {n}",) for n in range(1000)])
        database.execute("INSERT INTO tags VALUES ('红', 1), ('b', 0)")
    database.close()
    backup(home, tmp_path / "a.tar.zst")
    before = of_archive(tmp_path / "a.tar.zst")
    with sqlite3.connect(home / "notes.db") as database:
        database.execute("INSERT INTO notes VALUES (zeroblob(50000))")
        database.commit()
        database.execute("DELETE FROM notes WHERE typeof(text) = 'blob'")
    database.close()
    assert against(before, home, tmp_path) == []
    for change in (
        "UPDATE notes SET text = CAST(text AS BLOB) WHERE rowid = 1000",
        "UPDATE notes SET rowid = 1001 WHERE rowid = 1000",
        "UPDATE tags SET rank = 2 WHERE rank = 1",
        "CREATE INDEX by_text ON notes (text)",
        "PRAGMA user_version = 3",
    ):
        with sqlite3.connect(home / "notes.db") as database:
            database.execute(change)
        database.close()
        assert against(before, home, tmp_path) == [("home/notes.db", "content")], change
        backup(home, tmp_path / "a.tar.zst", options=Options(replace=True))
        before = of_archive(tmp_path / "a.tar.zst")


def test_a_home_does_not_differ_from_its_snapshot_nor_from_what_was_restored(tmp_path: Path) -> None:
    """A repository keeps a database's pages in their places, an archive does not, and a restore builds indexes."""
    home = make_home(tmp_path / "home")
    with SessionDB.open(home=home) as db:
        for n in range(20):
            session = db.sessions.create(source="cli")
            db.messages.append_many(
                session.id, [{"role": "user", "content": f"{n} {m} 数据库 " * 40} for m in range(50)]
            )
        db.sessions.delete(session.id)
        db.search.messages("数据库")
    back_up(home, tmp_path / "repo")
    backup(home, tmp_path / "a.tar.zst")
    snapshot, archive = of_archive(tmp_path / "repo/latest"), of_archive(tmp_path / "a.tar.zst")
    name = "home/hermes_state.db"
    assert snapshot.states[name].digest != archive.states[name].digest  # else this test shows nothing
    assert changes(snapshot, archive, tmp_path) == changes(archive, snapshot, tmp_path) == []
    assert against(snapshot, home, tmp_path) == []
    restore(tmp_path / "repo/latest", tmp_path / "restored")
    moved = [("home/config.yaml", "content")]  # its paths lead into the new home
    assert (
        against(snapshot, tmp_path / "restored", tmp_path) == against(archive, tmp_path / "restored", tmp_path) == moved
    )
    with SessionDB.open(home=home) as db:
        db.messages.append(db.sessions.list()[0].id, role="user", content="one more")
    assert against(snapshot, home, tmp_path) == [(name, "content")]
    assert {path.name for path in (tmp_path / "repo").iterdir()} == {"repository.json", "packs", "snapshots", "lock"}
