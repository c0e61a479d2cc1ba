"""A repository that is damaged or hostile is told so; what is sound in it still comes back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from archive_harness import flip_byte
from hypothesis import given, settings
from hypothesis import strategies as st
from repositories import (
    all_snapshots,
    assert_sound,
    checked,
    contents,
    file,
    folder,
    forge,
    link,
    repository_of,
    small_home,
    verdict,
)

from hermes_state.errors import (
    ArchiveDamaged,
    ArchiveForeign,
    ArchiveUnsupported,
    DiskFull,
    HermesStateError,
    InvalidValue,
    NotFound,
)
from hermes_state.portability.format import Limits
from hermes_state.portability.reader import open_archive
from hermes_state.portability.repository import members, packs, snapshots
from hermes_state.portability.repository.backup import back_up
from hermes_state.portability.repository.layout import MARK, open_repository
from hermes_state.portability.repository.pruning import prune
from hermes_state.portability.restore import restore
from hermes_state.portability.retention import Keep
from hermes_state.portability.verify import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home and a repository with two snapshots of it."""
    folder_ = tmp_path_factory.mktemp("faults")
    home = small_home(folder_ / "home")
    back_up(home, folder_ / "repo")
    (home / "logs/agent.log").write_bytes((home / "logs/agent.log").read_bytes() + b"more")
    back_up(home, folder_ / "repo")
    return folder_


@pytest.fixture
def repo(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template / "repo", tmp_path / "repo")
    return tmp_path / "repo"


def kinds_of_files(root: Path) -> dict[str, Path]:
    """One of each kind: the largest and the smallest pack, a snapshot, what says that it is a repository."""
    found = sorted(packs.packs_in(root / "packs"), key=lambda path: path.stat().st_size)
    return {"large": found[-1], "small": found[0], "snapshot": max((root / "snapshots").iterdir()), "mark": root / MARK}


# --- bytes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["large", "small", "snapshot"])
@pytest.mark.parametrize("part", [0.0, 0.0001, 0.3, 0.99, 0.999, 1.0])
def test_a_flipped_byte_anywhere_is_found(repo: Path, kind: str, part: float) -> None:
    path = kinds_of_files(repo)[kind]
    raw = path.read_bytes()
    path.write_bytes(flip_byte(raw, int((len(raw) - 1) * part)))
    found = checked(repo).findings
    assert found.count
    assert any(path.name in (finding.member, Path(finding.message.split(" ")[0]).name) for finding in found.listed)


@given(st.data())
@settings(max_examples=30)
def test_any_flipped_bit_of_a_pack_is_found(template: Path, data: st.DataObject) -> None:
    path = kinds_of_files(template / "repo")["small"]
    raw = path.read_bytes()
    try:
        path.write_bytes(flip_byte(raw, data.draw(st.integers(0, len(raw) - 1)), data.draw(st.integers(0, 7))))
        assert checked(template / "repo").findings.count
    finally:
        path.write_bytes(raw)


@pytest.mark.parametrize("kind", ["large", "small", "snapshot"])
@pytest.mark.parametrize("left", [0, 1, 7, 8, 100, -1, -43, -44])
def test_a_file_cut_off_anywhere_is_found(repo: Path, kind: str, left: int) -> None:
    path = kinds_of_files(repo)[kind]
    path.write_bytes(path.read_bytes()[:left])
    assert checked(repo).findings.count


def test_a_missing_pack_is_found(repo: Path, tmp_path: Path) -> None:
    """Without reading the data; and nothing half is restored."""
    kinds_of_files(repo)["large"].unlink()
    assert checked(repo).findings.count
    with pytest.raises(ArchiveDamaged):
        restore(repo / "latest", tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_a_damaged_pack_is_mended_by_the_next_backup(repo: Path, template: Path) -> None:
    """Delete it, as the check says; what the home still has is stored again, also what looks unchanged."""
    kinds_of_files(repo)["large"].unlink()
    back_up(template / "home", repo)
    assert contents(repo / "latest")
    prune(repository_of(repo), Keep(last=1))
    assert_sound(repo)


def test_a_pack_with_a_damaged_table_is_not_used(repo: Path, template: Path) -> None:
    path = kinds_of_files(repo)["large"]
    raw = path.read_bytes()
    path.write_bytes(flip_byte(raw, len(raw) - 60))
    saved = back_up(template / "home", repo)
    assert any(path.name in what for what in saved.damaged)
    assert contents(repo / "latest")


def test_new_content_does_not_suffer_from_damaged_old_one(tmp_path: Path) -> None:
    """What it could be stored as a difference to can't be read: it is stored whole."""
    home, root = tmp_path / "home", tmp_path / "repo"
    home.mkdir()
    content = os.urandom(50_000)
    (home / "log.bin").write_bytes(content)
    back_up(home, root)
    path = kinds_of_files(root)["large"]
    path.write_bytes(flip_byte(path.read_bytes(), 30_000))
    (home / "log.bin").write_bytes(content + b"more")
    saved = back_up(home, root)
    assert saved.backup.written.size > 50_000
    assert contents(root / saved.snapshot.id)["home/log.bin"][3] == 50_004


def test_a_damaged_snapshot_hurts_no_other(repo: Path, template: Path) -> None:
    """It is listed as damaged, the others are used, and nothing is pruned until it is given up."""
    path = kinds_of_files(repo)["snapshot"]
    path.write_bytes(b"{}")
    found, failures = snapshots.readable(repository_of(repo))
    assert (len(found), len(failures)) == (1, 1)
    assert contents(repo / found[0].id)
    with pytest.raises(ArchiveDamaged, match="nothing was deleted"):
        prune(repository_of(repo), Keep(last=1))
    assert back_up(template / "home", repo).damaged
    snapshots.forget(repository_of(repo), [path])
    prune(repository_of(repo), Keep(last=1))
    assert_sound(repo)


def test_a_copy_that_can_be_read_stays(repo: Path, template: Path, tmp_path: Path) -> None:
    """A chunk is there twice, and the one that would stay is damaged."""
    back_up(template / "home", tmp_path / "other")
    for pack in packs.packs_in(tmp_path / "other/packs"):
        place = repo / "packs" / pack.parent.name / pack.name
        place.parent.mkdir(exist_ok=True)
        shutil.copy(pack, place)
    damaged = kinds_of_files(repo)["large"]
    damaged.write_bytes(flip_byte(damaged.read_bytes(), 5000))
    assert contents(repo / all_snapshots(repo)[-1].id)
    snapshots.forget(repository_of(repo), sorted((repo / "snapshots").iterdir())[:-1])
    prune(repository_of(repo), Keep())
    assert contents(repo / "latest")


# --- others' files -------------------------------------------------------------------------------------------------


def test_what_is_no_repository(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        open_repository(tmp_path / "nothing")
    with pytest.raises(ArchiveForeign):
        open_repository(tmp_path)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InvalidValue, match="not empty"):
        back_up(small_home(tmp_path / "home"), tmp_path)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"version": 2}, ArchiveUnsupported),
        ({"required": ["encryption"]}, ArchiveUnsupported),
        ({"version": "1"}, ArchiveDamaged),
        ({"format": "restic"}, ArchiveDamaged),
        ({"repository_id": 7}, ArchiveDamaged),
    ],
)
def test_a_repository_of_another_version(repo: Path, change: dict[str, Any], error: type[HermesStateError]) -> None:
    mark = repo / MARK
    mark.write_text(json.dumps(json.loads(mark.read_text()) | change))
    with pytest.raises(error):
        open_repository(repo)


def test_a_snapshot_of_a_newer_version(repo: Path) -> None:
    """Its name proves that it is not a flipped bit."""
    import hashlib

    path = kinds_of_files(repo)["snapshot"]
    raw = path.read_bytes().replace(b'"version": 2', b'"version": 3')
    newer = path.with_name(f"{path.name[:17]}{hashlib.sha256(raw).hexdigest()}.json")
    path.rename(newer)
    newer.write_bytes(raw)
    assert verdict(newer)[0] is Verdict.UNSUPPORTED


@given(st.binary(max_size=400))
def test_any_bytes_as_a_snapshot(template: Path, raw: bytes) -> None:
    with pytest.raises(ArchiveDamaged):
        snapshots.parse(raw, "a snapshot")


_FIELDS = ["name", "kind", "mode", "mtime_ns", "size", "digest", "chunks", "seen", "target"]
_LEAVES = st.none() | st.integers() | st.text(max_size=9)


@given(st.recursive(_LEAVES, lambda x: st.lists(x) | st.dictionaries(st.sampled_from(_FIELDS), x), max_leaves=12))
@settings(max_examples=50)
def test_any_json_as_a_member(value: Any) -> None:
    with pytest.raises(ArchiveDamaged):
        members.parsed(json.dumps(value).encode())


def test_what_never_ends_to_be_read(repo: Path, tmp_path: Path) -> None:
    """FIFOs and links in the place of every file of a repository."""
    places = kinds_of_files(repo)
    for kind in ("small", "snapshot"):
        places[kind].unlink()
        os.mkfifo(places[kind])
    (repo / "lock").unlink()
    os.mkfifo(repo / "lock")
    places["large"].rename(tmp_path / "pack")
    places["large"].symlink_to(tmp_path / "pack")
    assert checked(repo).findings.count
    with pytest.raises(ArchiveForeign, match="regular"):
        contents(places["snapshot"])
    (repo / MARK).unlink()
    os.mkfifo(repo / MARK)
    with pytest.raises(ArchiveForeign):
        open_repository(repo)


# --- hostile snapshots ---------------------------------------------------------------------------------------------

GOOD = (folder("home"), file("home/config.yaml", b"model: {}\n"))


def test_the_forger_can_be_honest(tmp_path: Path) -> None:
    assert verdict(forge(tmp_path / "repo", GOOD)) == (Verdict.SOUND, [])


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "home/../../x",
        "/etc/passwd",
        "home//x",
        "home/./x",
        "home\\..\\..\\x",
        "C:\\x",
        "home/x\0y",
        "",
        "other/x",
    ],
)
def test_a_name_that_leads_out(tmp_path: Path, name: str) -> None:
    path = forge(tmp_path / "repo", [*GOOD, file(name, b"x")])
    assert verdict(path)[0] is Verdict.DAMAGED
    with pytest.raises(ArchiveDamaged):
        restore(path, tmp_path / "home")
    assert not (tmp_path / "home").exists()
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "extra",
    [
        (link("home/out", "/etc"), file("home/out/passwd", b"x")),  # through a link
        (file("home/a", b"x"), file("home/a", b"y")),  # twice
        (file("home/config.yaml/x", b"x"),),  # below a file
    ],
    ids=["through a link", "twice", "below a file"],
)
def test_members_that_no_tree_has(tmp_path: Path, extra: tuple[Any, ...]) -> None:
    path = forge(tmp_path / "repo", [*GOOD, *extra])
    assert verdict(path)[0] is Verdict.DAMAGED


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.replace(b'"size":10', b'"size":11'),
        lambda line: line.replace(b'"size":10', b'"size":9'),
        lambda line: line.replace(b'"size":10', b'"size":-1'),
        lambda line: line.replace(b'"size":10', b'"size":99999999999999999999'),
        lambda line: line.replace(b'"mode":384', b'"mode":65535'),
        lambda line: line.replace(b'"mtime_ns":0', b'"mtime_ns":1e300'),
        lambda line: line.replace(b'"kind":"f"', b'"kind":"x"'),
        lambda line: line.replace(b"}\n", b""),
        lambda line: b"\n" + line,
    ],
)
def test_a_listing_that_lies(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    path = forge(tmp_path / "repo", GOOD, line=change)
    assert verdict(path)[0] is Verdict.DAMAGED


@pytest.mark.parametrize("change", [{"whole": "0" * 64}, {"content_bytes": 1}, {"members": 99}])
def test_a_snapshot_that_lies_of_itself(tmp_path: Path, change: dict[str, Any]) -> None:
    path = forge(tmp_path / "repo", GOOD, **change)
    assert verdict(path)[0] is Verdict.DAMAGED or checked(tmp_path / "repo").findings.count


def test_a_snapshot_that_would_become_too_large(tmp_path: Path) -> None:
    """One chunk, named ever again."""
    content = file("home/zeros", bytes(3_000_000))
    path = forge(tmp_path / "repo", [folder("home"), content])
    limits = Limits(ratio=100, ratio_from_bytes=1_000_000)
    with pytest.raises(ArchiveDamaged) as raised, open_archive(path, limits=limits) as archive:
        for _ in archive.members():
            pass
    assert raised.value.code == "bomb"


# --- a full disk ---------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)]
    if (
        os.geteuid()
        or shutil.which("mount") is None
        or subprocess.run(command, check=False, capture_output=True).returncode
    ):
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_disk_that_is_really_full(small_disk: Path, tmp_path: Path) -> None:
    """The snapshot before stays, and there is room again for the next one."""
    home = small_home(tmp_path / "home")
    back_up(home, small_disk / "repo")
    (home / "large.bin").write_bytes(os.urandom(4_000_000))
    with pytest.raises(DiskFull, match="all snapshots"):
        back_up(home, small_disk / "repo")
    assert {path.name for path in (small_disk / "repo").iterdir()} == {"lock", "packs", "repository.json", "snapshots"}
    assert_sound(small_disk / "repo")
    (home / "large.bin").unlink()
    back_up(home, small_disk / "repo")
    prune(repository_of(small_disk / "repo"), Keep(last=1))
    assert_sound(small_disk / "repo")
