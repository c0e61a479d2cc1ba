"""Folders for half-done work: what killed processes left is cleared away, and nothing else."""

import os
import time
from pathlib import Path

import pytest
from filelock import FileLock

from hermes_state.portability.staging import clear, staging


def left_behind(folder: Path, name: str, *, lock: bool, age_s: float = 0.0) -> Path:
    path = folder / f".a.zst.{name}.partial"
    path.mkdir()
    if lock:
        (path / "lock").touch()
        (path / "0.db").write_bytes(b"half")
    os.utime(path, (time.time() - age_s,) * 2)
    return path


def test_what_a_killed_process_left(tmp_path: Path) -> None:
    """Killed in the middle, or before it could lock its folder: nothing stays, not even an empty folder."""
    left_behind(tmp_path, "killed", lock=True)
    left_behind(tmp_path, "early", lock=False, age_s=3600)
    clear(tmp_path, "a.zst")
    assert list(tmp_path.iterdir()) == []


def test_what_goes_while_it_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process ends just now, and takes its folder away."""
    left = left_behind(tmp_path, "ending", lock=True)
    opened = os.open

    def late(path: os.PathLike[str], *arguments: int) -> int:
        left.rename(tmp_path / "elsewhere")
        return opened(path, *arguments)

    monkeypatch.setattr(os, "open", late)
    clear(tmp_path, "a.zst")
    assert not left.exists()


def test_what_is_in_use_or_nobodys(tmp_path: Path) -> None:
    """A locked folder, one that is just being made, and one with content but no lock stay."""
    fresh = left_behind(tmp_path, "fresh", lock=False)
    strange = left_behind(tmp_path, "strange", lock=False)
    (strange / "file").touch()
    os.utime(strange, (0, 0))
    used = left_behind(tmp_path, "used", lock=True)
    with FileLock(used / "lock"):
        with staging(tmp_path, "a.zst") as stage:
            assert stage.is_dir()
        assert sorted(tmp_path.iterdir()) == sorted([fresh, strange, used])
