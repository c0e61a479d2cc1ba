"""Content is cut by what it holds: nothing is lost, and a change moves only the cuts around it."""

from __future__ import annotations

import io
import random
import sqlite3
from contextlib import closing, suppress
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability.format import Entry
from hermes_state.portability.repository import blocks, chunking
from hermes_state.portability.repository.chunking import DATABASE_BYTES, MAX_BYTES, MIN_BYTES
from hermes_state.portability.repository.frames import MAX_CHUNK_BYTES, Encoder, decode
from hermes_state.portability.repository.lineup import Lineup, Piece, Places
from hermes_state.portability.repository.members import Member, in_chunks, line_of

if TYPE_CHECKING:
    from pathlib import Path


def cut(content: bytes) -> list[bytes]:
    return list(chunking.cut(io.BytesIO(content).read).chunks)


def noise(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


@given(st.integers(0, 6_000_000), st.sampled_from([b"\0", b"ab", b""]), st.integers(0, 3))
@settings(max_examples=25)
def test_all_of_it_in_pieces_of_the_right_size(size: int, pattern: bytes, seed: int) -> None:
    """Whatever it holds: noise, nothing but zeros, a pattern."""
    content = (pattern * size)[:size] if pattern else noise(size, seed)
    found = cut(content)
    assert b"".join(found) == content
    assert all(MIN_BYTES <= len(piece) <= MAX_BYTES for piece in found[:-1])
    assert not found or 0 < len(found[-1]) <= MAX_BYTES


def test_how_it_is_read_does_not_matter() -> None:
    content, rnd = noise(9_000_000), random.Random(2)
    stream = io.BytesIO(content)
    assert list(chunking.cut(lambda most: stream.read(min(most, rnd.randint(1, 3_000_000)))).chunks) == cut(content)


@pytest.mark.parametrize("position", [0, 1, 3_333_333, 7_999_999])
def test_an_insertion_leaves_most_chunks(position: int) -> None:
    content = noise(8_000_000)
    before = set(cut(content))
    after = cut(content[:position] + "升级".encode() + content[position:])
    assert sum(piece not in before for piece in after) <= 3


def test_a_database_is_cut_at_fixed_places(tmp_path: Path) -> None:
    """So that a page which grows, or is a new one, moves no cut."""
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        db.execute("CREATE TABLE t (x)")
        db.executemany("INSERT INTO t VALUES (?)", ((noise(400, n),) for n in range(3_000)))
        db.commit()
    content, rnd = (tmp_path / "a.db").read_bytes(), random.Random(2)
    found = cut(content)
    assert len(found) > 3
    assert {len(piece) for piece in found[:-1]} == {DATABASE_BYTES}
    assert b"".join(found) == content
    stream = io.BytesIO(content)
    assert list(chunking.cut(lambda most: stream.read(min(most, rnd.randint(1, 90_000)))).chunks) == found


@given(st.binary(max_size=200))
def test_what_only_begins_as_a_database_is_cut_too(rest: bytes) -> None:
    content = b"SQLite format 3\0" + rest
    assert b"".join(cut(content)) == content


def test_a_listing_is_cut_by_names() -> None:
    """Other times of all files move no cut; one more file moves those around it; a very long line is cut too."""

    def listing(mtime_ns: int, names: range) -> list[bytes]:
        entries = (Entry(name=f"home/文件-{n}.md", mtime_ns=mtime_ns, size=3) for n in names)
        return [line_of(Member(entry=entry, digest="0" * 64)) for entry in entries]

    first, second = (list(in_chunks(listing(when, range(9000)))) for when in (1, 2))
    assert len(first) > 3
    assert [len(piece) for piece in first] == [len(piece) for piece in second]
    assert len({*first} & {*in_chunks(listing(1, range(1, 9000)))}) == len(first) - 1
    assert b"".join(first) == b"".join(listing(1, range(9000)))
    long = [b"x" * (2 * MAX_BYTES + 5) + b"\n", b"y\n"]
    assert b"".join(in_chunks(long)) == b"".join(long)
    assert all(len(piece) <= MAX_BYTES for piece in in_chunks(long))


# --- differences ---------------------------------------------------------------------------------------------------


@given(st.binary(min_size=1, max_size=3000), st.lists(st.binary(max_size=3000), max_size=3))
def test_a_frame_comes_back(content: bytes, bases: list[bytes]) -> None:
    frame = Encoder(3).encode(content, bases)
    assert decode(frame.raw, len(content), bases[: frame.bases]) == content


def test_what_is_much_like_a_base_is_stored_as_a_difference() -> None:
    base = noise(300_000)
    frame = Encoder(3).encode(base[:100_000] + b"new" + base[100_000:], [noise(1000, 2), base])
    assert frame.bases == 2
    assert len(frame.raw) < 1000


def test_what_is_not_is_stored_whole() -> None:
    frame = Encoder(3).encode(noise(300_000), [noise(300_000, 2)])
    assert frame.bases == 0


@given(st.integers(0, 300_000), st.integers(-20_000, 20_000), st.lists(st.integers(0, 299_999), max_size=9))
def test_blocks_that_changed_come_back(size: int, more: int, places: list[int]) -> None:
    """Also when there are more or fewer of them, and when the last is not whole."""
    base = noise(size)
    content = bytearray((base + noise(20_000, 2))[: max(1, size + more)])
    for place in places:
        content[place % len(content)] ^= 0xFF
    raw = blocks.difference(bytes(content), base)
    assert raw is None or decode(raw, len(content), [base]) == content


def test_a_few_blocks_that_changed_are_small() -> None:
    base = noise(256 * 1024)
    content = bytearray(base)
    content[5000:5003] = "升".encode()
    content[200_000] ^= 1
    frame = Encoder(3).encode(bytes(content), [base])
    assert (frame.bases, len(frame.raw) < 150) == (1, True)


@given(st.binary(max_size=200), st.integers(0, 9000), st.lists(st.binary(max_size=50), max_size=2))
def test_any_bytes_are_refused_as_blocks(raw: bytes, size: int, bases: list[bytes]) -> None:
    """Or they give content of the size that was asked for, which is then compared with its name."""
    with suppress(ArchiveDamaged):
        assert len(decode(blocks.MARK + raw, size, bases)) == size


def test_blocks_of_another_size_are_refused() -> None:
    base = noise(20_000)
    raw = blocks.difference(base[:9000] + b"x" + base[9001:], base)
    assert raw is not None
    for size in (0, 8192, MAX_CHUNK_BYTES + 1):
        with pytest.raises(ArchiveDamaged):
            decode(raw, size, [base])
    with pytest.raises(ArchiveDamaged):
        decode(raw, 20_000, [])


@pytest.mark.parametrize("size", [0, 1, 99, 101, MAX_CHUNK_BYTES + 1])
def test_a_frame_of_another_size_is_refused(size: int) -> None:
    """Before anything of that size is allocated."""
    with pytest.raises(ArchiveDamaged):
        decode(Encoder(3).encode(noise(100)).raw, size)


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_as_a_frame(raw: bytes) -> None:
    with pytest.raises(ArchiveDamaged):
        decode(raw, 77)


# --- pairing -------------------------------------------------------------------------------------------------------


def pairs(old: list[tuple[bytes, int]], new: list[tuple[bytes, int]]) -> dict[bytes, tuple[bytes, ...]]:
    lineup = Lineup(old)
    found = [paired for name, size in new for paired in lineup.take(Piece(name, size, b"x"))]
    return {paired.id: paired.old for paired in [*found, *lineup.end()]}


def test_a_changed_chunk_is_laid_beside_the_one_it_was() -> None:
    old = [(b"a", 100), (b"b", 100), (b"c", 100)]
    assert pairs(old, [(b"a", 100), (b"B", 104), (b"c", 100)]) == {b"B": (b"b",)}


def test_what_follows_an_insertion_is_laid_beside_what_was_there() -> None:
    old = [(b"a", 100), (b"b", 100), (b"c", 100)]
    new = [(b"a", 100), (b"x", 300), (b"B", 100), (b"c", 100)]
    assert pairs(old, new) == {b"x": (b"b",), b"B": (b"b",)}


def test_a_chunk_over_two_old_ones_has_both() -> None:
    assert pairs([(b"a", 100), (b"b", 100)], [(b"AB", 200)]) == {b"AB": (b"a", b"b")}


@given(st.data())
def test_every_new_chunk_comes_out_once(data: st.DataObject) -> None:
    names = st.lists(st.tuples(st.binary(min_size=1, max_size=1), st.integers(1, 9)), max_size=12)
    sizes = dict(data.draw(names))
    old = [(name, size) for name, size in data.draw(names) if sizes.setdefault(name, size) == size]
    new = [(name, size) for name, size in data.draw(names) if sizes.setdefault(name, size) == size]
    lineup = Lineup(old)
    known = {name for name, _ in old}
    found = []
    for name, size in new:
        found += [p.id for p in lineup.take(Piece(name, size, None if name in known else b"x"))]
    found += [paired.id for paired in lineup.end()]
    assert found == [name for name, _ in new if name not in known]
    assert all(first <= second for first, second in pairwise(sorted(found)))


def test_chunks_at_fixed_places_are_like_those_that_lay_there() -> None:
    places = Places([b"a", b"b"])
    pieces = [Piece(b"a", 9, None), Piece(b"B", 9, b"content"), Piece(b"c", 9, b"more")]
    assert [paired for piece in pieces for paired in places.take(piece)] == [
        (b"B", b"content", (b"b",)),
        (b"c", b"more", ()),
    ]
    assert list(places.end()) == []
