"""The members of a snapshot, as its listing has them: one JSON object a line."""

from __future__ import annotations

import hashlib
import json
import re
from binascii import unhexlify
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from zlib import crc32

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability.digests import record, record_of_plain
from hermes_state.portability.format import Entry, Kind
from hermes_state.portability.repository.chunking import MAX_BYTES, MIN_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# [bytes] of a line. A file of some 300 GB has one so long.
MAX_LINE_BYTES = 64 * 1024 * 1024
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
# What follows the name in a line, and the part of all names at which a listing may be cut: each 1,024th.
_BEFORE_NAME, _AFTER_FILE = b'{"name":"', b'","kind":"f"'
_BEFORE_DIGEST, _AFTER_DIGEST = b'"digest":"', b'","seen":'
_DIGEST_NAME = b'"digest":'
_HEX = re.compile(rb'"([0-9a-f]{64})"')
_AFTER_NAME, _CUT_BELOW = b'","kind":', 2**32 // 1024
# A file of one chunk as `line_of` writes it, if its name needs no escapes. Most are so, and JSON takes twice as long.
_PLAIN = re.compile(
    rb'\{"name":"([ !#-\[\]-~]*)","kind":"f","mode":(0|[1-9][0-9]{0,8}),"mtime_ns":(-?[1-9][0-9]{0,30})'
    rb',"size":(0|[1-9][0-9]{0,30}),"digest":"([0-9a-f]{64})"(?:,"seen":\[([1-9][0-9]*(?:,[1-9][0-9]*)*)\])?\}'
)
_KINDS = {kind.value: kind for kind in Kind}


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A member of an archive that is kept in chunks.

    Attributes:
        entry: what it is; files have no opener.
        digest: SHA-256 of the content, in hex, as in `digests.sha256`; of a database with a numbering `digest_of`.
        chunks: names of the content's chunks, in order.
        seen: what the file looked like on the disk; empty where that proves nothing.
        numbering: names of the chunks with the places of a database's pages, see `pages.numbering`.
    """

    entry: Entry
    digest: str
    chunks: tuple[bytes, ...] = ()
    seen: tuple[int, ...] = ()
    numbering: tuple[bytes, ...] = ()

    @property
    def is_hashed_whole(self) -> bool:
        """Whether the digest is that of the content: a database is not read as a whole when little of it changed."""
        return not self.numbering


def digest_of(chunks: Iterable[bytes]) -> str:
    """The digest of content that is known by its chunks alone."""
    return hashlib.sha256(b"".join(chunks)).hexdigest()


def line_of(member: Member) -> bytes:
    """A line of a listing, with its end."""
    entry = member.entry
    value: dict[str, Any] = {"name": entry.name, "kind": entry.kind.value, "mode": entry.mode}
    value |= {"mtime_ns": entry.mtime_ns, "size": entry.length}
    if not member.numbering:
        value["digest"] = member.digest
    if entry.target:
        value["target"] = entry.target
    if len(member.chunks) > 1 or member.numbering:
        value["chunks"] = [chunk.hex() for chunk in member.chunks]
    if member.numbering:
        value["numbering"] = [chunk.hex() for chunk in member.numbering]
    if member.seen:
        value["seen"] = member.seen
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def seen_end(seen: tuple[int, ...]) -> bytes:
    """How the line of a member ends that looked so."""
    return _seen_form(len(seen)) % seen


@cache
def _seen_form(count: int) -> bytes:
    return b'"seen":[%s]}' % b",".join([b"%d"] * count)


def name_in(line: bytes) -> str:
    """The name of the file that a line is of, as `line_of` wrote it; "": it is of no file, or somebody else's."""
    end = line.find(_AFTER_FILE)
    if end < 0 or not line.startswith(_BEFORE_NAME):
        return ""
    name = line[len(_BEFORE_NAME) : end]
    if b"\\" not in name:
        return name.decode("ascii", "replace")
    try:
        return _text(json.loads(b'"%s"' % name))
    except ValueError:
        return ""


def chunks_in(line: bytes) -> list[bytes]:
    """The names of all chunks in the line of a file; that of the numbering is among them."""
    at = line.find(_BEFORE_DIGEST) + len(_BEFORE_DIGEST)
    if line.startswith(_AFTER_DIGEST, at + 64) and _HEX.match(line, at - 1):
        return [unhexlify(line[at : at + 64])]  # of one chunk, as most files are
    found = _HEX.findall(line)
    if _DIGEST_NAME in line:
        found = found[1:] or found
    return [*map(unhexlify, found)]


def proof_in(line: bytes) -> tuple[bytes, int, int]:
    """What a file's line says for `digests.sha256`: its record there, bytes of its content, and how many chunks.

    Raises:
        ArchiveDamaged: the line is none of ours.
    """
    plain = _PLAIN.fullmatch(line)
    if plain is None:
        member = parsed(line)
        return record(member.entry, member.digest), member.entry.length, len(member.chunks)
    name, mode, mtime_ns, size, digest, _ = plain.groups()
    return record_of_plain(name, int(mode), int(mtime_ns), size, digest), int(size), 0 if size == b"0" else 1


def in_chunks(listing: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a listing as chunks, cut where a name says so: another time or size of a file moves no cut.

    `chunking` would do as well, and would need numpy for the smallest of changes.
    """
    gathered: list[bytes] = []
    size = 0
    for line in listing:
        gathered.append(line)
        size += len(line)
        is_cut = crc32(line.partition(_AFTER_NAME)[0]) < _CUT_BELOW
        if size >= MAX_BYTES or (is_cut and size >= MIN_BYTES):
            yield from _bounded(b"".join(gathered))
            gathered, size = [], 0
    yield from _bounded(b"".join(gathered))


def _bounded(raw: bytes) -> Iterator[bytes]:
    """A single line may be larger than a chunk."""
    yield from (raw[start : start + MAX_BYTES] for start in range(0, len(raw), MAX_BYTES))


def lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of content that comes in pieces.

    Raises:
        ArchiveDamaged: one is too long, or the last has no end.
    """
    rest: list[bytes] = []
    size = 0
    for piece in pieces:
        first, *more = piece.split(b"\n")
        rest.append(first)
        size += len(first)
        if size > MAX_LINE_BYTES:
            break
        if more:
            yield b"".join(rest)
            yield from more[:-1]
            rest, size = [more[-1]], len(more[-1])
    if size:
        raise _damaged("a line is too long, or not ended")


def parsed(line: bytes) -> Member:
    """The member of a line; its name and numbers are checked by whoever reads the tar.

    Raises:
        ArchiveDamaged: the line is none of ours.
    """
    plain = _PLAIN.fullmatch(line)
    if plain is not None:
        return _parsed_plain(*plain.groups())
    try:
        value = json.loads(line.decode("ascii"))
        entry = Entry(
            name=_text(value["name"]),
            kind=_KINDS[value["kind"]],
            mode=_integer(value["mode"]),
            mtime_ns=_integer(value["mtime_ns"]),
            size=_integer(value["size"]),
            target=_text(value.get("target", "")),
        )
        seen = tuple(map(_integer, value.get("seen", ())))
        numbering = tuple(bytes.fromhex(_digest(chunk)) for chunk in value.get("numbering", ()))
        if "digest" not in value:
            chunks = tuple(bytes.fromhex(_digest(chunk)) for chunk in value["chunks"])
            return Member(entry=entry, digest=digest_of(chunks), chunks=chunks, seen=seen, numbering=numbering)
        digest = _digest(value["digest"])
        return Member(entry=entry, digest=digest, chunks=_chunks(value, entry, digest), seen=seen, numbering=numbering)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(f"a line is no member: {error!r}") from error


def _parsed_plain(name: bytes, mode: bytes, mtime_ns: bytes, size: bytes, digest: bytes, seen: bytes | None) -> Member:
    entry = Entry(name=name.decode(), mode=int(mode), mtime_ns=int(mtime_ns), size=int(size))
    chunks = (bytes.fromhex(digest.decode()),) if entry.size else ()
    looks = tuple(map(int, seen.split(b","))) if seen else ()
    return Member(entry=entry, digest=digest.decode(), chunks=chunks, seen=looks)


def _chunks(value: dict[str, Any], entry: Entry, digest: str) -> tuple[bytes, ...]:
    if entry.length < 0 or (entry.kind is not Kind.FILE and (entry.size or "chunks" in value)):
        raise ValueError("bytes that can't be")
    if entry.kind is not Kind.FILE or not entry.size:
        return ()
    return tuple(bytes.fromhex(_digest(chunk)) for chunk in value.get("chunks", (digest,)))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise TypeError("no integer")
    return value


def _digest(value: Any) -> str:
    if not _DIGEST.match(value):
        raise ValueError("no digest")
    return _text(value)


def _damaged(what: str) -> ArchiveDamaged:
    return ArchiveDamaged(f"the listing of the snapshot is not as we write it: {what}", code="listing")
