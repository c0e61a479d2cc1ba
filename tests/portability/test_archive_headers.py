"""Tar headers: every entry has one form, standard tools read it, and nothing else is taken."""

from __future__ import annotations

import io
import tarfile

import pytest
from archive_harness import file, flip_byte, folder, link
from hypothesis import given
from hypothesis import strategies as st

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability import headers
from hermes_state.portability.format import END_OF_TAR, Entry, Kind

raw_names = st.binary(min_size=1, max_size=300).map(lambda raw: raw.replace(b"\0", b"0"))
names = raw_names.map(lambda raw: raw.decode("utf-8", "surrogateescape"))
times = st.integers(-(10**21) + 1, 10**21 - 1)
entries = st.one_of(
    st.builds(Entry, name=names, mode=st.integers(0, 0o7777), mtime_ns=times, size=st.integers(0, 2**63)),
    st.builds(Entry, name=names, kind=st.just(Kind.DIR), mode=st.integers(0, 0o7777), mtime_ns=times),
    st.builds(Entry, name=names, kind=st.just(Kind.LINK), mode=st.just(0o777), mtime_ns=times, target=names),
)


def read(raw: bytes) -> Entry | None:
    stream = io.BytesIO(raw)
    found = headers.read(lambda size: stream.read(size).ljust(size, b"\1"))
    assert not stream.read()
    return found


@given(entries)
def test_an_entry_comes_back_as_it_was(entry: Entry) -> None:
    """Names of any bytes, times before 1970 and after 2242, sizes far over 8 GiB."""
    assert read(headers.encode(entry)) == entry


@given(entries)
def test_python_reads_the_same_from_it(entry: Entry) -> None:
    """The header is an ordinary tar header for others, too."""
    raw = headers.encode(entry)
    with tarfile.open(fileobj=io.BytesIO(raw + END_OF_TAR), errors="surrogateescape") as tar:
        info = tar.next()
    assert info is not None
    # tarfile takes slashes off the end, but for a name of slashes alone; and NUL cannot be in a name
    assert info.name.rstrip("/") == entry.name.rstrip("/")
    assert (info.mode, info.size) == (entry.mode, entry.size)
    assert info.mtime == pytest.approx(entry.mtime_ns / 10**9)
    assert info.linkname == entry.target
    assert {Kind.FILE: info.isreg(), Kind.DIR: info.isdir(), Kind.LINK: info.issym()}[entry.kind]


@pytest.mark.parametrize("size", [8**11 - 1, 8**11, 2**40])
def test_sizes_from_8_gib_on_stand_in_a_pax_header(size: int) -> None:
    """Eleven octal digits end there."""
    raw = headers.encode(Entry(name="home/big", size=size))
    assert (b"size=%d\n" % size in raw) == (size >= 8**11)
    assert read(raw) == Entry(name="home/big", size=size)


@given(st.integers(0), st.integers(0, 7))
def test_any_flipped_bit_of_a_header_is_seen(position: int, bit: int) -> None:
    """A block has a checksum; pax records have none, so there another time or name may come out, never the same."""
    entry = file("home/é", b"x", mtime_ns=-5)
    raw = headers.encode(entry)
    try:
        found = read(flip_byte(raw, position % len(raw), bit))
    except ArchiveDamaged:
        return
    assert found not in (None, entry)
    assert 512 <= position % len(raw) < 1024


def _tar(format_: int, **fields: object) -> bytes:
    info = tarfile.TarInfo("home/x")
    for name, value in fields.items():
        setattr(info, name, value)
    return info.tobuf(format_)


@pytest.mark.parametrize(
    ("flag", "what"),
    [
        (tarfile.LNKTYPE, "a hard link"),
        (tarfile.CHRTYPE, "a device"),
        (tarfile.BLKTYPE, "a device"),
        (tarfile.FIFOTYPE, "a FIFO"),
        (tarfile.GNUTYPE_SPARSE, "a sparse file"),
        (tarfile.GNUTYPE_LONGNAME, "a GNU long name"),
        (tarfile.XGLTYPE, "a global header"),
        (tarfile.AREGTYPE, "an old tar header"),
        (tarfile.CONTTYPE, "of type"),
    ],
)
def test_types_that_no_archive_holds_are_refused_by_name(flag: bytes, what: str) -> None:
    """Hard links and devices are how tars do harm."""
    with pytest.raises(ArchiveDamaged, match=what) as caught:
        read(_tar(tarfile.USTAR_FORMAT, type=flag))
    assert caught.value.code == "type"


@pytest.mark.parametrize(
    "fields", [{"uid": 1000}, {"uname": "ann"}, {"mode": 0o100644}, {"devmajor": 1}, {"name": "home/x/", "mode": 0o600}]
)
def test_headers_of_other_programs_are_refused(fields: dict[str, object]) -> None:
    """Owners, device numbers, file types in the mode: nothing that we would not write."""
    with pytest.raises(ArchiveDamaged):
        read(_tar(tarfile.USTAR_FORMAT, **{"devmajor": 2} | fields))


@pytest.mark.parametrize(
    "records",
    [
        b"",
        b"11 path=home",
        b"12 path=home",
        b"9999 path=home/x\n",
        b"-1 path=home/x\n",
        "16 path=home/é\n16 path=home/é\n".encode(),
        b"20 comment=by hand\n",
        b"30 mtime=1.5\n",
        b"13 mtime=1.5\n",
        b"11 size=-1\n",
        "16 path=home/é\n13 mtime=1.5\n".encode(),
    ],
)
def test_pax_records_that_are_not_canonical_are_refused(records: bytes) -> None:
    """Wrong lengths, unknown and repeated keys, needless ones, another order."""
    plain = headers.encode(Entry(name="home/x"))
    head = headers._block(headers.PAX_NAME, mode=0o600, size=len(records), mtime=0, flag=b"x", link=b"")
    with pytest.raises(ArchiveDamaged):
        read(head + records + bytes(headers.padding(len(records))) + plain)


def test_a_pax_header_is_bounded_before_it_is_read() -> None:
    """Whatever size it says."""
    head = headers._block(headers.PAX_NAME, mode=0o600, size=2**30, mtime=0, flag=b"x", link=b"")
    with pytest.raises(ArchiveDamaged, match="are the limit"):
        read(head)


def test_the_tar_ends_with_two_blocks_of_zeros() -> None:
    """One is a tar that was cut off."""
    assert read(END_OF_TAR) is None
    with pytest.raises(ArchiveDamaged, match="one block"):
        read(bytes(512) + b"x" * 512)


def test_folders_have_no_content() -> None:
    """A folder with a size, or a link with one, is refused rather than believed."""
    for entry in (folder("home", size=5), link("home/l", "x")):
        raw = headers._block(
            b"home", mode=entry.mode, size=5, mtime=0, flag=headers._TYPES[entry.kind], link=entry.target.encode()
        )
        with pytest.raises(ArchiveDamaged, match="has 5 bytes"):
            read(raw)
