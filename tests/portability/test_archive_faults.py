"""Damage of every kind is seen, named and bounded; archives that lie and bombs are refused."""

from __future__ import annotations

import io
import os
import random
from typing import TYPE_CHECKING, Any

import pytest
from archive_harness import damaged, file, flip_byte, folder, forge, incompressible, link, manifest_with, write

from hermes_state.errors import ArchiveDamaged, ArchiveForeign, ArchiveUnsupported
from hermes_state.portability import frames
from hermes_state.portability.format import (
    DIGESTS,
    FRAME_HEAD,
    MAX_FINDINGS,
    REPORT,
    TRAILER_BYTES,
    Limits,
)
from hermes_state.portability.manifest import Manifest
from hermes_state.portability.reader import open_archive
from hermes_state.portability.verify import Verdict, verify

if TYPE_CHECKING:
    from pathlib import Path


def boundaries(raw: bytes) -> list[int]:
    """Where a section of the file begins: head, each block and its content, checksum, trailer, end."""
    places, at, last = [0, 4, 5, len(FRAME_HEAD)], len(FRAME_HEAD), False
    while not last:
        head = raw[at : at + 3]
        last = bool(head[0] & 1)
        at += 3
        places.append(at)
        at += frames._body(head)
        places.append(at)
    return [*places, len(raw) - TRAILER_BYTES, len(raw) - 32, len(raw)]


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A sound archive of several blocks."""
    path = tmp_path_factory.mktemp("raw") / "a.tar.zst"
    write(path, incompressible())
    return path.read_bytes()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A sound archive of a few hundred bytes."""
    path = tmp_path_factory.mktemp("small") / "a.tar.zst"
    write(path, [folder("home"), file("home/a", b"hello"), link("home/l", "a")])
    return path.read_bytes()


def test_a_flip_at_every_boundary_is_damage(raw: bytes, tmp_path: Path) -> None:
    """The byte before, at and behind each boundary of the file."""
    places = sorted({at + step for at in boundaries(raw) for step in (-1, 0, 1)} & {*range(len(raw))})
    assert len(places) > 20
    for at in places:
        for bit in (0, 7):
            # Two wrong bits in the six bytes would make it foreign; one is ours and damaged, but for the zstd magic.
            assert damaged(tmp_path, flip_byte(raw, at, bit)).verdict is Verdict.DAMAGED, at


def test_any_flipped_bit_of_a_small_archive_is_damage(small: bytes, tmp_path: Path) -> None:
    """All bytes, not a sample: the trailer covers what zstd's own checksum does not."""
    for at in range(len(small)):
        assert damaged(tmp_path, flip_byte(small, at, at % 8)).verdict is Verdict.DAMAGED, at


def test_a_cut_at_every_boundary_is_damage(raw: bytes, tmp_path: Path) -> None:
    """And one byte before and behind it."""
    for at in sorted({at + step for at in boundaries(raw) for step in (-1, 0, 1)} & {*range(len(raw))}):
        result = damaged(tmp_path, raw[:at])
        assert (result.verdict, result.findings.listed[-1].code) == (Verdict.DAMAGED, "truncated"), at


def test_a_cut_anywhere_is_damage(small: bytes, tmp_path: Path) -> None:
    """Every length from nothing to one byte too few."""
    for at in range(len(small)):
        assert damaged(tmp_path, small[:at]).verdict is Verdict.DAMAGED, at


@pytest.mark.parametrize("tail", [b"\0", b"x", b"\0" * 10_000, FRAME_HEAD])
def test_what_follows_the_end_is_damage(raw: bytes, tmp_path: Path, tail: bytes) -> None:
    """Also zeros, which many programs pass over."""
    assert damaged(tmp_path, raw + tail).findings.listed[0].code == "trailing"


def test_an_archive_behind_an_archive_is_damage(small: bytes, tmp_path: Path) -> None:
    """Most zstd readers would give both."""
    assert damaged(tmp_path, small + small).verdict is Verdict.DAMAGED


def test_bytes_that_are_swapped_are_damage(raw: bytes, tmp_path: Path) -> None:
    """Two blocks in the other order."""
    at = boundaries(raw)[4:]
    first, second = raw[at[0] - 3 : at[1]], raw[at[2] - 3 : at[3]]
    assert damaged(tmp_path, raw[: at[0] - 3] + second + first + raw[at[3] :]).verdict is Verdict.DAMAGED


def test_damage_names_the_member(raw: bytes, tmp_path: Path) -> None:
    """A flipped byte of content: the member is told, and all others are still compared."""
    result = damaged(tmp_path, flip_byte(raw, raw.index(random.Random(1).randbytes(200_000)[5000:5050])))
    assert [finding.member for finding in result.findings.listed if finding.code == "digest"] == ["home/a.bin"]


def test_a_cut_names_where_it_is(raw: bytes, tmp_path: Path) -> None:
    """The member in whose content the file ends."""
    assert damaged(tmp_path, raw[:150_000]).findings.listed[0].member == "home/a.bin"


# --- archives that lie --------------------------------------------------------------------------------------------


def changed_digest(text: bytes) -> bytes:
    return text.replace(b"2cf24dba5fb0a30e", b"2cf24dba5fb0a30f")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"digests": changed_digest}, "digest"),
        ({"digests": lambda text: text.replace(b" 0600 ", b" 0644 ", 3)}, "digest"),
        ({"digests": lambda text: text[:-1]}, "digest"),
        ({"digests": lambda text: text + b"# more\n"}, "digest"),
        ({"digests": lambda text: text + text}, "digest"),
        ({"digests": lambda _: b""}, "digest"),
        ({"digests": lambda _: b"x" * 100_000}, "digest"),
        ({"digests": lambda text: text.replace(b"digests 1", b"digests 2")}, "digest"),
        ({"digests": lambda text: text.replace(b"home/a\n", b"home/b\n")}, "digest"),
        ({"own": (DIGESTS,)}, "incomplete"),
        ({"own": (REPORT,)}, "incomplete"),
        ({"end": b""}, "truncated"),
        ({"end": bytes(512)}, "truncated"),
        ({"end": bytes(512) + b"x" * 512}, "header"),
        ({"end": bytes(1025)}, "trailing"),
        ({"end": bytes(2048)}, "trailing"),
        ({"report": []}, "json"),
        ({"report": {}}, "report"),
        ({"report": {"omitted": [{}], "omitted_count": 1, "incomplete": [], "incomplete_count": 0}}, "report"),
        ({"report": {"omitted": [], "omitted_count": -1, "incomplete": [], "incomplete_count": 0}}, "report"),
        ({"manifest": b"{"}, "json"),
        ({"manifest": b"[]"}, "json"),
        ({"manifest": b'{"format": 1, "format": 2}'}, "json"),
        ({"manifest": b"[" * 100_000}, "json"),
        ({"manifest": manifest_with(roots=None)}, "manifest"),
        ({"manifest": manifest_with(roots={})}, "manifest"),
        ({"manifest": manifest_with(roots={"home": {"path": 5}})}, "manifest"),
        ({"manifest": manifest_with(roots={"home": {"path": "/"}, "..": {"path": "/"}})}, "manifest"),
        ({"manifest": manifest_with(version=0)}, "manifest"),
        ({"manifest": manifest_with(archive_id="\x1b[2J")}, "manifest"),
        ({"manifest": manifest_with(version="1")}, "manifest"),
        ({"manifest": manifest_with(version=True)}, "manifest"),
        ({"manifest": manifest_with(created_at="yesterday")}, "manifest"),
        ({"manifest": manifest_with(required={"read": "x", "restore": []})}, "manifest"),
        ({"manifest": manifest_with(required=None)}, "manifest"),
    ],
)
def test_an_archive_that_lies_is_damaged(tmp_path: Path, change: dict[str, Any], code: str) -> None:
    """Each with everything else right, its digests too."""
    path = forge(tmp_path / "a.tar.zst", [folder("home"), file("home/a", b"hello")], **change)
    result = verify(path)
    assert (result.verdict, result.findings.listed[0].code) == (Verdict.DAMAGED, code)
    with pytest.raises(ArchiveDamaged), open_archive(path) as archive:
        list(archive.members())


def test_padding_that_is_not_zero_is_damage(tmp_path: Path) -> None:
    """No byte of an archive is free to hide something in."""
    from hermes_state.portability import headers

    entry = file("home/a", b"hello")
    path = forge(tmp_path / "a.tar.zst", [folder("home"), headers.encode(entry) + b"hello" + b"x" * 507])
    assert "padding" in {finding.code for finding in verify(path).findings.listed}


def test_a_size_that_is_too_small_or_too_large_is_damage(tmp_path: Path) -> None:
    """The next header is then not where it should be."""
    from hermes_state.portability import headers

    for size in (0, 4, 600, 10**12):
        entry = headers.encode(file("home/a", size=size))
        path = forge(tmp_path / "a.tar.zst", [folder("home"), entry + b"hello" * 200 + bytes(24)])
        assert verify(path).verdict is Verdict.DAMAGED


def test_a_newer_version_and_unknown_features_are_refused_by_name(tmp_path: Path) -> None:
    """So that a person knows what to upgrade for."""
    path = tmp_path / "a.tar.zst"
    with (
        pytest.raises(ArchiveUnsupported, match="format version 2"),
        open_archive(forge(path, [], manifest=manifest_with(version=2))),
    ):
        pass
    needs = manifest_with(required={"read": ["brotli", "sparse"], "restore": []})
    assert verify(forge(path, [], manifest=needs)).verdict is Verdict.UNSUPPORTED
    assert "'brotli', 'sparse'" in verify(path).findings.listed[0].message


def test_what_only_restoring_needs_hinders_no_reading(tmp_path: Path) -> None:
    """An old program can still verify and extract."""
    needs = manifest_with(required={"read": [], "restore": ["time-travel"]})
    path = forge(tmp_path / "a.tar.zst", [folder("home")], manifest=needs)
    assert verify(path).verdict is Verdict.SOUND
    with open_archive(path) as archive, pytest.raises(ArchiveUnsupported, match="'time-travel'"):
        archive.manifest.check_restorable()


def test_findings_are_counted_all_and_listed_some(tmp_path: Path) -> None:
    """A wrecked archive must not fill the memory with its findings."""
    members = [folder("home"), *(file(f"home/nowhere/{n}") for n in range(MAX_FINDINGS + 500))]
    result = verify(forge(tmp_path / "a.tar.zst", members))
    assert (len(result.findings.listed), result.findings.count) == (MAX_FINDINGS, MAX_FINDINGS + 500)


# --- bombs --------------------------------------------------------------------------------------------------------


def test_a_bomb_is_refused_before_it_goes_off(tmp_path: Path) -> None:
    """10 MB of zeros in a file of a kilobyte, with limits to fit the test; `ratio=None` lifts it."""
    write(tmp_path / "a.tar.zst", [folder("home"), file("home/zeros", bytes(10_000_000))])
    strict = Limits(ratio=100, ratio_from_bytes=1000)
    result = verify(tmp_path / "a.tar.zst", limits=strict)
    assert (result.verdict, result.findings.listed[0].code) == (Verdict.DAMAGED, "bomb")
    assert result.content_bytes < 10_000
    assert verify(tmp_path / "a.tar.zst", limits=Limits(ratio=None)).verdict is Verdict.SOUND
    assert verify(tmp_path / "a.tar.zst").verdict is Verdict.SOUND  # below a gigabyte nobody minds


@pytest.mark.parametrize("limits", [Limits(entries=5), Limits(total_bytes=1000)])
def test_absolute_limits_hold(tmp_path: Path, limits: Limits) -> None:
    """Members in all, and bytes in all."""
    write(tmp_path / "a.tar.zst")
    assert verify(tmp_path / "a.tar.zst", limits=limits).findings.listed[0].code == "bomb"


def test_a_manifest_is_bounded_before_it_is_read(tmp_path: Path) -> None:
    """It is the one member that is always held in memory."""
    path = forge(tmp_path / "a.tar.zst", [], manifest=b" " * (17 * 1024 * 1024))
    assert verify(path).findings.listed[0].code == "manifest"


def test_no_step_of_decompression_gives_more_than_a_block(raw: bytes) -> None:
    """Whatever a frame says."""
    assert max(len(piece) for piece in frames.blocks(io.BytesIO(raw[6:]), raw[:6])) <= 128 * 1024
    for head in (b"\x07\x00\x00", b"\xfd\xff\xff"):  # a reserved type, a size of 2 MiB
        with pytest.raises(ArchiveDamaged):
            list(frames.blocks(io.BytesIO(head + bytes(100)), FRAME_HEAD))


# --- what is not ours ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"PK\x03\x04 and more", "a zip file"),
        (b"\x1f\x8b\x08 and more", "a gzip file"),
        (b"SQLite format 3\0", "a SQLite database"),
        (b"-----BEGIN AGE ENCRYPTED FILE-----\n", "an age file in text form"),
        (b"hello", "nothing that this program knows"),
        (bytes(1000), "nothing that this program knows"),
        (b"x" * 257 + b"ustar", "a tar file without compression"),
    ],
)
def test_a_foreign_file_is_told_for_what_it_looks_like(tmp_path: Path, content: bytes, what: str) -> None:
    """By its first bytes, whatever its name."""
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ArchiveForeign, match=what), open_archive(tmp_path / "x"):
        pass


@pytest.mark.parametrize("level", [1, 3, 19])
def test_another_tar_in_zstd_is_foreign(tmp_path: Path, level: int) -> None:
    """Also when its zstd frame begins with the same bytes as ours."""
    import tarfile

    import zstandard

    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("etc/passwd"))
    for window in (21, 23):
        given = zstandard.ZstdCompressionParameters.from_level(level, window_log=window, write_checksum=True)
        made = zstandard.ZstdCompressor(compression_params=given).compressobj()
        (tmp_path / "x").write_bytes(made.compress(plain.getvalue()) + made.flush())
        assert verify(tmp_path / "x").verdict is Verdict.FOREIGN


def test_a_fifo_and_a_folder_are_foreign_and_nothing_waits(tmp_path: Path) -> None:
    """Opening a FIFO would wait for a writer for ever."""
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path):
        assert verify(path).verdict is Verdict.FOREIGN


def test_a_manifest_needs_its_home() -> None:
    """And roots that are plain names."""
    from hermes_state.errors import InvalidValue

    for roots in ({}, {"external": "/"}, {"home": "/", "../x": "/"}):
        with pytest.raises(InvalidValue):
            Manifest(roots=roots)
