"""Mutated archives: a verdict each time, never `sound`, never a crash."""

from __future__ import annotations

import io
import random
from typing import TYPE_CHECKING

import pytest
from archive_harness import damaged, file, folder, incompressible, link, sample, sealed

from hermes_state.portability import frames
from hermes_state.portability.compression import Compressor
from hermes_state.portability.verify import Verdict

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def raw(tmp_path: Path) -> bytes:
    """A sound archive of several blocks."""
    return sealed(tmp_path, incompressible())


@pytest.fixture
def small(tmp_path: Path) -> bytes:
    """A sound archive of a few hundred bytes."""
    return sealed(tmp_path, [folder("home"), file("home/a", b"hello"), link("home/l", "a")])


def mutated(raw: bytes, rnd: random.Random) -> bytes:
    """One of the ways in which files go bad."""
    changed = bytearray(raw)
    for _ in range(rnd.choice((1, 1, 1, 2, 5))):
        at, end = sorted((rnd.randrange(len(changed) + 1), rnd.randrange(len(changed) + 1)))
        end = min(end, at + rnd.choice((1, 4, 64, 4096)))
        match rnd.randrange(5):
            case 0 if at < len(changed):
                changed[at] ^= 1 << rnd.randrange(8)
            case 1:
                changed[at:end] = rnd.randbytes(end - at)
            case 2:
                del changed[at:end]
            case 3:
                changed[at:at] = changed[at:end] or b"\0"
            case _:
                changed[at:end] = bytes(end - at)
        if not changed:
            return b""
    return bytes(changed)


def fuzz(raw: bytes, tmp_path: Path, seed: int, rounds: int) -> None:
    rnd = random.Random(seed)
    for n in range(rounds):
        changed = mutated(raw, rnd)
        result = damaged(tmp_path, changed)
        if changed != raw:
            assert result.verdict is not Verdict.SOUND, (seed, n)


def test_no_mutation_of_an_archive_is_sound_or_crashes(small: bytes, raw: bytes, tmp_path: Path) -> None:
    """A small budget; the soak run has more. Anything but a verdict is a failure."""
    fuzz(small, tmp_path, seed=1, rounds=300)
    fuzz(raw, tmp_path, seed=2, rounds=60)


def test_no_mutation_of_the_tar_crashes_the_reader(tmp_path: Path) -> None:
    """Below zstd, where its checksum does not help: mutated tars in sound frames."""
    fuzz_tars(tmp_path, seed=3, rounds=200)


def fuzz_tars(tmp_path: Path, seed: int, rounds: int) -> None:
    raw = sealed(tmp_path, sample())
    tar = b"".join(frames.blocks(io.BytesIO(raw[6:]), raw[:6]))
    rnd = random.Random(seed)
    for n in range(rounds):
        changed = mutated(tar, rnd)
        out = io.BytesIO()
        compressor = Compressor(out.write, 1, 1)
        compressor.write(changed)
        compressor.finish()
        result = damaged(tmp_path, out.getvalue())
        if changed != tar:
            assert result.verdict is not Verdict.SOUND, (seed, n)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_no_mutation_at_length(small: bytes, raw: bytes, tmp_path: Path) -> None:
    """Twenty minutes of it."""
    for seed in range(20):
        fuzz(small, tmp_path, seed=100 + seed, rounds=2000)
        fuzz(raw, tmp_path, seed=200 + seed, rounds=300)
        fuzz_tars(tmp_path, seed=300 + seed, rounds=1000)
