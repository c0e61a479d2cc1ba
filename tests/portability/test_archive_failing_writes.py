"""A write that fails leaves nothing, neither under the name nor beside it."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, Self

import pytest
from archive_harness import flip_byte, folder, incompressible, write

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability.verify import Verdict, verify

if TYPE_CHECKING:
    from pathlib import Path


class _FullAfter:
    """A disk that is full at the nth write."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, writes: int) -> None:
        self.left = writes
        real = os.fdopen

        def opened(*args: Any, **keywords: Any) -> Any:
            file_ = real(*args, **keywords | {"buffering": 0})
            return _Full(file_, self)

        monkeypatch.setattr(os, "fdopen", opened)


class _Full:
    def __init__(self, real: Any, disk: _FullAfter) -> None:
        self._real, self._disk = real, disk

    def write(self, piece: bytes) -> int:
        if self._disk.left <= 0:
            raise OSError(28, "No space left on device")
        self._disk.left -= 1
        return self._real.write(piece)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._real.close()


def test_a_full_disk_at_any_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither under the name nor beside it; and what was there stays."""
    (tmp_path / "a.tar.zst").write_bytes(b"yesterday's")
    writes = 0
    while True:
        with monkeypatch.context() as patch:
            disk = _FullAfter(patch, writes)
            try:
                write(tmp_path / "a.tar.zst", incompressible(), replace=True)
            except OSError as error:
                reason = error.strerror
            else:
                break
        assert (disk.left, reason) == (0, "No space left on device")
        assert [path.name for path in tmp_path.iterdir()] == ["a.tar.zst"]
        assert (tmp_path / "a.tar.zst").read_bytes() == b"yesterday's"
        writes += 1
    assert writes >= 2
    assert verify(tmp_path / "a.tar.zst").verdict is Verdict.SOUND


def test_an_error_of_the_collector_leaves_nothing(tmp_path: Path) -> None:
    """No file and no thread."""

    def entries() -> Any:
        yield folder("home")
        raise RuntimeError("a bug")

    before = threading.active_count()
    with pytest.raises(RuntimeError):
        write(tmp_path / "a.tar.zst", entries())
    assert list(tmp_path.iterdir()) == []
    assert threading.active_count() == before


def test_what_does_not_read_back_gets_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bad memory, a bug, a lying disk: the written file is verified before it is renamed."""

    def corrupting(*args: Any) -> Any:
        from hermes_state.portability.compression import Compressor

        made = Compressor(*args)
        sink = made._sink
        made._sink = lambda piece: sink(flip_byte(piece, len(piece) // 2) if len(piece) > 100 else piece)
        return made

    monkeypatch.setattr("hermes_state.portability.writer.Compressor", corrupting)
    with pytest.raises(ArchiveDamaged):
        write(tmp_path / "a.tar.zst")
    assert list(tmp_path.iterdir()) == []
