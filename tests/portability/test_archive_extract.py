"""One file out of an archive: nothing appears before everything was proven."""

from __future__ import annotations

import io
import random
import stat
from typing import TYPE_CHECKING

import pytest
from archive_harness import file, folder, link, sample, write

from hermes_state.errors import ArchiveDamaged, Conflict, InvalidValue, NotFound
from hermes_state.portability.extract import extract

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A little of everything."""
    write(tmp_path / "a.tar.zst", sample())
    return tmp_path / "a.tar.zst"


@pytest.mark.parametrize("name", ["home/config.yaml", "config.yaml"])
def test_a_file_comes_out_with_its_mode_and_time(archive: Path, name: str) -> None:
    """By its name in the archive, or below the home."""
    target = archive.parent / "out"
    assert extract(archive, name, target).damage is None
    status = target.stat()
    assert target.read_bytes() == b"model: glm-4.6\n"
    assert (stat.S_IMODE(status.st_mode), status.st_mtime_ns) == (0o600, 1_789_000_000_123_456_789)


def test_set_id_bits_do_not_come_out(tmp_path: Path) -> None:
    """An archive can't make a file that runs as its owner."""
    write(tmp_path / "a.tar.zst", [folder("home"), file("home/run", b"#!", mode=0o6755)])
    extract(tmp_path / "a.tar.zst", "run", tmp_path / "run")
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o755


def test_the_exact_name_wins(tmp_path: Path) -> None:
    """`home/x` means that, also when there is a `home/home/x`."""
    for order in (1, -1):
        files = [file("home/x", b"outer"), folder("home/home"), file("home/home/x", b"inner")]
        write(tmp_path / "a.tar.zst", [folder("home"), *(files if order > 0 else files[1:] + files[:1])], replace=True)
        out = io.BytesIO()
        extract(tmp_path / "a.tar.zst", "home/x", out)
        assert out.getvalue() == b"outer"


def test_what_is_no_file_is_told(archive: Path) -> None:
    """And nothing is left behind."""
    for name, error in (("nothing", NotFound), ("empty", InvalidValue), ("docs", InvalidValue)):
        with pytest.raises(error):
            extract(archive, name, archive.parent / "out")
    assert [path.name for path in archive.parent.iterdir()] == ["a.tar.zst"]


def test_a_target_that_is_there_is_kept_unless_told(archive: Path) -> None:
    """No file of a person is overwritten silently."""
    target = archive.parent / "out"
    target.write_text("mine")
    with pytest.raises(Conflict):
        extract(archive, "config.yaml", target)
    assert target.read_text() == "mine"
    extract(archive, "config.yaml", target, replace=True)
    assert target.read_text() == "model: glm-4.6\n"


def test_a_link_that_is_the_target_is_replaced_and_not_followed(archive: Path) -> None:
    """Nothing is written through a link."""
    victim, target = archive.parent / "victim", archive.parent / "out"
    victim.write_text("precious")
    target.symlink_to(victim)
    extract(archive, "config.yaml", target, replace=True)
    assert victim.read_text() == "precious"
    assert not target.is_symlink()


def test_nothing_comes_out_of_a_damaged_archive_unless_told(tmp_path: Path) -> None:
    """The damage may lie behind the file; told so, what can be read is given, and the damage with it."""
    path = tmp_path / "a.tar.zst"
    noise = random.Random(1).randbytes(300_000)
    write(path, [folder("home"), file("home/a", b"wanted"), file("home/b", noise), link("home/l", "a")])
    path.write_bytes(path.read_bytes()[:250_000])
    with pytest.raises(ArchiveDamaged):
        extract(path, "a", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    found = extract(path, "a", tmp_path / "out", even_if_damaged=True)
    assert (tmp_path / "out").read_bytes() == b"wanted"
    assert found.damage is not None
    with pytest.raises(ArchiveDamaged):  # it is not known to be there
        extract(path, "l", tmp_path / "other", even_if_damaged=True)
