"""What differs between archives, and between an archive and a home."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest
from archive_harness import file, folder, link, sample, write

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability.backup import backup, preview
from hermes_state.portability.diff import changes, of_archive, of_entries

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.portability.format import Entry


def differences(tmp_path: Path, before: list[Entry], after: list[Entry]) -> list[tuple[str, str]]:
    write(tmp_path / "a.tar.zst", before, replace=True)
    write(tmp_path / "b.tar.zst", after, replace=True)
    found = changes(of_archive(tmp_path / "a.tar.zst"), of_archive(tmp_path / "b.tar.zst"))
    return [(change.name, change.what.value) for change in found]


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
        with preview(home, tmp_path) as entries:
            return [(change.name, change.what.value) for change in changes(before, of_entries(entries))]

    assert now() == []
    (home / "config.yaml").write_text("a: 2\n")
    with sqlite3.connect(home / "notes.db") as database:
        database.execute("DELETE FROM notes WHERE text = 'note 7'")
    database.close()
    assert now() == [("home/config.yaml", "content"), ("home/notes.db", "content")]
    assert {path.name for path in tmp_path.iterdir()} == {"home", "a.tar.zst"}
