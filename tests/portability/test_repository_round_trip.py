"""A snapshot is the archive of the same home: the same members, the same restore, through the same commands."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from homes import look, make_home
from hypothesis import given, settings
from hypothesis import strategies as st
from repositories import assert_sound, contents, small_home

from hermes_state.errors import InvalidValue, NotFound, StoreBusy
from hermes_state.portability.backup import backup
from hermes_state.portability.diff import changes, of_archive
from hermes_state.portability.extract import extract
from hermes_state.portability.merge import merge
from hermes_state.portability.repository import backup as saving
from hermes_state.portability.repository import locks, snapshots
from hermes_state.portability.repository.backup import back_up
from hermes_state.portability.repository.layout import open_repository
from hermes_state.portability.restore import Asked, plan, restore

# Bytes that a file name can have, but for those that the format refuses or a rule of ours leaves out.
_NAMES = st.binary(min_size=1, max_size=20).filter(
    lambda name: not set(name) & {0, ord("/"), ord("\\"), ord(":")} and name[:1] != b"."
)
_CONTENTS = st.one_of(
    st.binary(max_size=2000),
    st.tuples(st.binary(min_size=1, max_size=40), st.integers(1, 30_000)).map(lambda pair: pair[0] * pair[1]),
    st.integers(0, 5).map(lambda seed: b"SQLite format 3\0" + bytes([16, 0]) + bytes(seed) * 997),
)
_TREES = st.dictionaries(st.lists(_NAMES, min_size=1, max_size=3).map(tuple), _CONTENTS, max_size=7)


@settings(max_examples=10)
@given(_TREES, _TREES)
def test_any_tree_is_as_in_an_archive(
    first: dict[tuple[bytes, ...], bytes], second: dict[tuple[bytes, ...], bytes]
) -> None:
    """After any change, with the repository that has what was before."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        (home / "skills/x").mkdir(parents=True)
        (home / "skills/x/SKILL.md").touch()
        for number, tree in enumerate((first, second)):
            _write(os.fsencode(home / "skills/x"), tree)
            backup(home, Path(folder, f"{number}.tar.zst"))
            path = back_up(home, Path(folder, "repo")).backup.written.path
            assert contents(path) == contents(Path(folder, f"{number}.tar.zst"))
        assert_sound(Path(folder, "repo"))


def _write(root: bytes, tree: dict[tuple[bytes, ...], bytes]) -> None:
    for parts, content in tree.items():
        path = os.path.join(root, *parts)  # noqa: PTH118  bytes
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120  bytes
            with open(path, "wb") as file:  # noqa: PTH123  bytes
                file.write(content)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):  # a file where the tree has a folder
            continue


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with everything, its archive, and a repository with it."""
    folder = tmp_path_factory.mktemp("made")
    make_home(folder / "home")
    backup(folder / "home", folder / "archive.tar.zst")
    back_up(folder / "home", folder / "repo")
    return folder


def test_a_home_comes_back_as_from_an_archive(made: Path, tmp_path: Path) -> None:
    restore(made / "archive.tar.zst", tmp_path / "a")
    result = restore(made / "repo/latest", tmp_path / "b")
    assert look(tmp_path / "a").keys() == look(tmp_path / "b").keys()
    before, after = (
        {k: v for k, v in look(home).items() if k != "config.yaml"} for home in (tmp_path / "a", tmp_path / "b")
    )
    assert before == after
    assert (result.source.kind, result.source.is_proven, result.is_partial) == ("hermes-state", True, False)


def test_all_verbs_take_a_snapshot(made: Path, tmp_path: Path) -> None:
    """By a path: a repository, a reference behind it, or the snapshot's file."""
    file = next((made / "repo/snapshots").iterdir())
    places = [
        made / "repo",
        made / "repo/latest",
        made / "repo" / snapshots.id_in(file)[:8],
        made / "repo" / file.name,
        file,
    ]
    assert len({str(contents(place)) for place in places}) == 1
    assert {change.name for change in changes(of_archive(made / "archive.tar.zst"), of_archive(file))} <= {
        "manifest.json",
        "report.json",
    }
    extract(made / "repo/latest", "SOUL.md", tmp_path / "soul")
    assert (tmp_path / "soul").read_text() == "I am redis.\n"
    assert plan(made / "repo/latest", tmp_path / "new").built.files > 5
    other = make_home(tmp_path / "other", "postgres")
    assert merge(made / "repo/latest", other).sessions == 1


def test_parts_of_a_snapshot(made: Path, tmp_path: Path) -> None:
    restore(made / "repo/latest", tmp_path / "part", Asked(only=("skills",)))
    assert [path.name for path in (tmp_path / "part").iterdir()] == ["skills"]


def test_references(made: Path, tmp_path: Path) -> None:
    repository = open_repository(made / "repo")
    with pytest.raises(NotFound):
        snapshots.find(repository, "0" * 64)
    with pytest.raises(NotFound):
        snapshots.find(repository, "")
    small_home(tmp_path / "home")
    back_up(tmp_path / "home", tmp_path / "two")
    os.rename(tmp_path / "home", tmp_path / "moved")  # noqa: PTH104
    back_up(tmp_path / "moved", tmp_path / "two")
    with pytest.raises(InvalidValue, match="2 homes"):
        snapshots.find(open_repository(tmp_path / "two"), "latest")


def test_the_latest_whole_one_is_the_latest(tmp_path: Path) -> None:
    """A partial snapshot is there, and nobody gets it without asking."""
    home = small_home(tmp_path / "home")
    whole = back_up(home, tmp_path / "repo").snapshot
    (home / "facts.db").write_bytes((home / "facts.db").read_bytes()[:-5000])
    partial = back_up(home, tmp_path / "repo").snapshot
    assert (whole.partial, partial.partial) == (False, True)
    found = snapshots.find(open_repository(tmp_path / "repo"), "latest")
    assert snapshots.id_in(found) == whole.id


def test_members_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are not read again count as well: no reader takes more."""
    home = small_home(tmp_path / "home")
    members = back_up(home, tmp_path / "repo").snapshot.members
    monkeypatch.setattr(saving, "_MOST_MEMBERS", members)
    assert back_up(home, tmp_path / "repo").snapshot.members == members
    (home / "one-more").touch()
    with pytest.raises(InvalidValue, match="at most"):
        back_up(home, tmp_path / "repo")


def test_a_repository_inside_the_home(tmp_path: Path) -> None:
    """It is not backed up into itself."""
    home = small_home(tmp_path / "home")
    back_up(home, home / "kept/repo")
    back_up(home, home / "kept/repo")
    names = contents(home / "kept/repo/latest")
    assert "home/kept" in names
    assert not any("packs" in name for name in names)
    backup(home, tmp_path / "archive.tar.zst")
    assert not any("packs" in name for name in contents(tmp_path / "archive.tar.zst"))


def test_on_a_read_only_disk(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading needs no lock where nothing can be written."""
    real = os.open

    def refuse(path: object, flags: int, *args: int, **more: int) -> int:
        if flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR) and str(path).startswith(str(made / "repo")):
            raise OSError(30, "Read-only file system")
        return real(path, flags, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refuse)
    assert contents(made / "repo/latest")
    (made / "repo/lock").unlink()
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert contents(made / "repo/latest")


def test_who_deletes_waits_for_who_reads(made: Path) -> None:
    repository = open_repository(made / "repo")
    with locks.shared(repository):
        with locks.shared(repository, wait_s=0):
            pass
        with pytest.raises(StoreBusy), locks.exclusive(repository, wait_s=0):
            pass
    with locks.exclusive(repository), pytest.raises(StoreBusy), locks.shared(repository, wait_s=0):
        pass
