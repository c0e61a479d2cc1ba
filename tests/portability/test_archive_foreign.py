"""The peer's archives: read under the same name checks, and never called sound."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from hermes_state.errors import ArchiveDamaged, ArchiveForeign
from hermes_state.portability.foreign_archive import open_foreign
from hermes_state.portability.format import Kind, Limits
from hermes_state.portability.verify import Verdict, verify

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HOME = {"config.yaml": b"model: x\n", "state.db": b"SQLite", "skills/a/SKILL.md": b"# a", "empty.log": b""}


def zipped(path: Path, files: Mapping[str, bytes | None], **fields: Any) -> Path:
    """A zip; None is a folder."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            info = zipfile.ZipInfo(name + ("/" if content is None else ""), (2026, 7, 20, 10, 11, 12))
            info.external_attr = (stat.S_IFDIR | 0o755 if content is None else stat.S_IFREG | 0o600) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            for field, value in fields.items():
                setattr(info, field, value)
            made.writestr(info, content or b"")
    return path


def tarred(path: Path, *members: tarfile.TarInfo | tuple[str, bytes | None]) -> Path:
    """A tar.gz; None is a folder."""
    with tarfile.open(path, "w:gz") as made:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                made.addfile(member, io.BytesIO(bytes(member.size)))
                continue
            info = tarfile.TarInfo(member[0])
            if member[1] is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o700
            info.size = len(member[1] or b"")
            made.addfile(info, io.BytesIO(member[1] or b""))
    return path


def read(path: Path, limits: Limits | None = None) -> dict[str, bytes | None]:
    with open_foreign(path, limits) as archive:
        found = {}
        for entry, content in archive.members():
            assert (content is None) == (entry.kind is Kind.DIR)
            found[entry.name] = content.read() if content is not None else None
        return found


EXPECTED = {
    "home": None,
    "home/config.yaml": b"model: x\n",
    "home/state.db": b"SQLite",
    "home/skills": None,
    "home/skills/a": None,
    "home/skills/a/SKILL.md": b"# a",
    "home/empty.log": b"",
}


@pytest.mark.parametrize("prefix", ["", ".hermes/", "hermes/"])
def test_a_zip_backup_is_read_below_our_roots(tmp_path: Path, prefix: str) -> None:
    """Folders that it does not tell of come before their content; one common top folder is taken off."""
    path = zipped(tmp_path / "a.zip", {prefix + name: content for name, content in HOME.items()})
    assert read(path) == EXPECTED
    assert [*read(path)] == [*EXPECTED]


def test_what_lay_outside_the_home_stands_under_a_root_of_its_own(tmp_path: Path) -> None:
    """The peer's `_external/` can't reach into the home."""
    path = zipped(tmp_path / "a.zip", {"config.yaml": b"", "_external/.honcho/config.json": b"{}"})
    assert [name for name in read(path) if name.startswith("external")] == [
        "external",
        "external/.honcho",
        "external/.honcho/config.json",
    ]


def test_modes_are_kept_and_set_id_bits_are_not(tmp_path: Path) -> None:
    """The peer's own import loses the former."""
    path = zipped(tmp_path / "a.zip", {"config.yaml": b""}, external_attr=(stat.S_IFREG | 0o4751) << 16)
    with open_foreign(path) as archive:
        assert [entry.mode for entry, _ in archive.members()] == [0o700, 0o751]


def test_a_profile_is_read_below_our_root(tmp_path: Path) -> None:
    """Its own name is taken off."""
    path = tarred(tmp_path / "a.tgz", ("coder", None), *((f"coder/{n}", c) for n, c in HOME.items()))
    assert read(path) == EXPECTED


@pytest.mark.parametrize("make", ["zip", "tgz"])
def test_verify_says_foreign_readable_and_unproven(tmp_path: Path, make: str) -> None:
    """Its checksums are compared, and that is all they are."""
    path = tmp_path / f"a.{make}"
    _ = zipped(path, HOME) if make == "zip" else tarred(path, *((f"p/{n}", c) for n, c in HOME.items()))
    result = verify(path)
    assert result.verdict is Verdict.FOREIGN
    assert result.foreign == {"zip": "hermes-zip", "tgz": "hermes-profile"}[make]
    assert result.members == len(EXPECTED)
    assert "no digests" in result.notices.listed[0].message


HOSTILE = [
    "../evil",
    "/etc/passwd",
    "a/../../evil",
    "a//b",
    "./a",
    "..\\evil",
    "\\evil",
    "C:\\evil",
    "_external/../../evil",
    "x" * 300,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_in_a_zip_are_refused(tmp_path: Path, name: str) -> None:
    """In every spelling, below the home and outside of it."""
    with pytest.raises(ArchiveDamaged) as caught:
        read(zipped(tmp_path / "a.zip", {"config.yaml": b"", name: b"evil"}))
    assert caught.value.code == "name"


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_in_a_profile_are_refused(tmp_path: Path, name: str) -> None:
    """Also those that lie beside the profile's folder."""
    for hostile in (name, f"p/{name}"):
        with pytest.raises((ArchiveDamaged, ArchiveForeign)):
            read(tarred(tmp_path / "a.tgz", ("p", None), (hostile, b"evil")))
    with pytest.raises((ArchiveDamaged, ArchiveForeign)):
        read(tarred(tmp_path / "a.tgz", (name, b"evil")))


def test_a_name_with_a_nul_is_refused(tmp_path: Path) -> None:
    """`zipfile` would cut it off there."""
    path = zipped(tmp_path / "a.zip", {"config.yaml": b"", "evilXname": b""})
    path.write_bytes(path.read_bytes().replace(b"evilXname", b"evil\0name"))
    with pytest.raises(ArchiveDamaged, match="NUL"):
        read(path)


def test_a_name_twice_is_refused(tmp_path: Path) -> None:
    """The second would overwrite what the first was checked for."""
    path = zipped(tmp_path / "a.zip", {"config.yaml": b"1", "config.yamX": b"2"})
    path.write_bytes(path.read_bytes().replace(b"config.yamX", b"config.yaml"))
    with pytest.raises(ArchiveDamaged, match="was there before"):
        read(path)


def test_a_file_below_a_file_is_refused(tmp_path: Path) -> None:
    """It can't be made on any system."""
    with pytest.raises(ArchiveDamaged):
        read(zipped(tmp_path / "a.zip", {"config.yaml": b"", "a": b"", "a/b": b""}))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK, stat.S_IFDIR])
def test_a_zip_member_that_is_no_file_is_refused(tmp_path: Path, kind: int) -> None:
    """Links, pipes, devices, and a folder that calls itself a file."""
    with pytest.raises(ArchiveDamaged, match="no file or folder"):
        read(zipped(tmp_path / "a.zip", {"config.yaml": b"/etc/passwd"}, external_attr=(kind | 0o777) << 16))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_profile_member_that_is_no_file_is_refused(tmp_path: Path, kind: bytes) -> None:
    """Links, pipes and devices."""
    info = tarfile.TarInfo("p/x")
    info.type, info.linkname = kind, "/etc/passwd"
    with pytest.raises(ArchiveDamaged, match="no file or folder"):
        read(tarred(tmp_path / "a.tgz", ("p", None), info))


def test_a_zip_that_holds_no_home_is_foreign(tmp_path: Path) -> None:
    """Any zip file opens; not any is a backup."""
    with pytest.raises(ArchiveForeign, match="no Hermes home"):
        read(zipped(tmp_path / "a.zip", {"readme.txt": b""}))


def test_a_damaged_member_is_told_when_it_is_read(tmp_path: Path) -> None:
    """Its checksum is compared at its end; what was read before is not proven."""
    path = zipped(tmp_path / "a.zip", {"config.yaml": bytes(range(256)) * 20})
    raw = bytearray(path.read_bytes())
    raw[80] ^= 0xFF
    path.write_bytes(raw)
    with pytest.raises(ArchiveDamaged):
        read(path)
    assert verify(path).verdict is Verdict.FOREIGN
    assert len(verify(path).findings.listed) == 2


@pytest.mark.parametrize("make", ["zip", "tgz"])
def test_a_cut_anywhere_is_no_crash(tmp_path: Path, make: str) -> None:
    """Every seventh length: our errors, no others."""
    path = tmp_path / f"a.{make}"
    _ = zipped(path, HOME) if make == "zip" else tarred(path, *((f"p/{n}", c) for n, c in HOME.items()))
    raw = path.read_bytes()
    for at in range(0, len(raw), 7):
        path.write_bytes(raw[:at])
        with pytest.raises((ArchiveDamaged, ArchiveForeign)):
            read(path)


@pytest.mark.parametrize("make", ["zip", "tgz"])
def test_a_bomb_is_refused(tmp_path: Path, make: str) -> None:
    """By what it says, before it is expanded."""
    path, zeros = tmp_path / f"a.{make}", bytes(5_000_000)
    _ = zipped(path, {"state.db": zeros}) if make == "zip" else tarred(path, ("p/state.db", zeros))
    with pytest.raises(ArchiveDamaged) as caught:
        read(path, Limits(ratio=10, ratio_from_bytes=100_000))
    assert caught.value.code == "bomb"


def test_overlapping_members_are_refused(tmp_path: Path) -> None:
    """The zip bomb that names the same compressed bytes many times."""
    path = zipped(tmp_path / "a.zip", {f"{n}": bytes(2000) for n in range(50)} | {"config.yaml": b""})
    raw = path.read_bytes()
    start = raw.index(b"PK\x01\x02")
    entry = bytearray(raw[start : raw.index(b"PK\x01\x02", start + 4)])
    entry[20:24] = (10_000).to_bytes(4, "little")
    path.write_bytes(raw[:start] + bytes(entry) + raw[start + len(entry) :])
    with pytest.raises(ArchiveDamaged, match="overlap"):
        read(path)


def test_a_long_name_in_a_profile_is_bounded(tmp_path: Path) -> None:
    """A pax header of gigabytes would be read whole by `tarfile`."""
    import gzip

    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 2**31
    with gzip.open(tmp_path / "a.tgz", "wb") as out:
        out.write(info.tobuf(tarfile.GNU_FORMAT) + bytes(1_000_000))
    with pytest.raises((ArchiveDamaged, ArchiveForeign), match="larger than any name"):
        read(tmp_path / "a.tgz")


def test_an_archive_of_ours_is_none_of_the_peers(tmp_path: Path) -> None:
    """Nor is anything else."""
    for content in (b"", b"\x28\xb5\x2f\xfd", b"hello"):
        (tmp_path / "x").write_bytes(content)
        with pytest.raises(ArchiveForeign):
            read(tmp_path / "x")
