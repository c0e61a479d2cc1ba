"""Lines of a listing: what is written is read, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability.digests import record
from hermes_state.portability.format import Entry, Kind
from hermes_state.portability.repository.members import Member, digest_of, line_of, parsed, proof_in

IDS = st.binary(min_size=32, max_size=32)
NAMES = st.text(min_size=1) | st.text('ab/. -~"\\\x7f é', min_size=1)
FILE: dict[str, Any] = {"name": "home/a.md", "kind": "f", "mode": 384, "mtime_ns": 17, "size": 12, "digest": "ab" * 32}


@given(
    name=NAMES,
    mode=st.integers(0, 0o7777),
    mtime_ns=st.integers(-(10**30), 10**30),
    size=st.integers(1, 10**30),
    chunks=st.lists(IDS, min_size=1, max_size=3).map(tuple),
    numbering=st.lists(IDS, max_size=2).map(tuple),
    seen=st.lists(st.integers(-1, 10**20), max_size=8).map(tuple),
)
def test_files(name: str, mode: int, mtime_ns: int, size: int, **more: Any) -> None:
    entry = Entry(name=name, mode=mode, mtime_ns=mtime_ns, size=size)
    digest = digest_of(more["chunks"]) if more["numbering"] else more["chunks"][0].hex()
    member = Member(entry=entry, digest=digest, **more)
    assert parsed(line_of(member).removesuffix(b"\n")) == member


@given(
    name=NAMES.filter(lambda name: name.isprintable()),
    mode=st.integers(0, 0o7777),
    mtime_ns=st.integers(-(10**30), 10**30),
    size=st.integers(0, 10**30),
    more=st.lists(IDS, min_size=1, max_size=2).map(tuple),
)
def test_a_line_proves_what_its_member_proves(
    name: str, mode: int, mtime_ns: int, size: int, more: tuple[bytes, ...]
) -> None:
    """A file that is not read again stands in the digests as if it were."""
    entry = Entry(name=name, mode=mode, mtime_ns=mtime_ns, size=size)
    chunks = more if size else ()
    member = Member(entry=entry, digest=more[0].hex(), chunks=chunks, seen=(size, mtime_ns, 3, 4))
    line = line_of(member).removesuffix(b"\n")
    assert proof_in(line) == (record(entry, member.digest), size, len(chunks))


@given(name=NAMES, target=st.text())
def test_folders_links_and_empty_files(name: str, target: str) -> None:
    for entry in (
        Entry(name=name, kind=Kind.DIR),
        Entry(name=name, kind=Kind.LINK, mode=0o777, target=target),
        Entry(name=name, size=0, mtime_ns=17),
    ):
        member = Member(entry=entry, digest="cd" * 32)
        assert parsed(line_of(member).removesuffix(b"\n")) == member


@pytest.mark.parametrize(
    "change",
    [
        {"name": 1},
        {"kind": "x"},
        {"mode": "384"},
        {"mode": 1.0},
        {"size": -1},
        {"size": True},
        {"digest": "ab"},
        {"digest": "AB" * 32},
        {"seen": [1, "2"]},
        {"chunks": ["zz" * 32]},
    ],
)
def test_what_no_writer_makes(change: dict[str, Any]) -> None:
    assert parsed(json.dumps(FILE, separators=(",", ":")).encode()).entry.size == 12
    with pytest.raises(ArchiveDamaged):
        parsed(json.dumps(FILE | change, separators=(",", ":")).encode())


@pytest.mark.parametrize("number", [b"012", b"-0x1", b"1" * 5000, b"1 2", b""])
def test_numbers_that_are_none(number: bytes) -> None:
    line = json.dumps(FILE, separators=(",", ":")).encode().replace(b'"size":12', b'"size":' + number)
    with pytest.raises(ArchiveDamaged):
        parsed(line)
