"""Archives for tests: honest ones by the writer, hostile ones by hand, and ways to damage both."""

from __future__ import annotations

import io
import json
import random
from typing import TYPE_CHECKING, Any

from hermes_state.portability import headers
from hermes_state.portability.compression import Compressor
from hermes_state.portability.digests import Tally, digest_of
from hermes_state.portability.format import DIGESTS, END_OF_TAR, MANIFEST, OWN_MODE, REPORT, Entry, Kind
from hermes_state.portability.manifest import Manifest, Report, dump
from hermes_state.portability.verify import Verification, verify
from hermes_state.portability.writer import Options, Written, write_archive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

ROOTS = {"home": "/home/ann/.hermes"}


def folder(name: str, **changes: Any) -> Entry:
    """A folder."""
    return Entry(name=name, kind=Kind.DIR, **{"mode": 0o700, "mtime_ns": 1_789_000_000 * 10**9} | changes)


def link(name: str, target: str) -> Entry:
    """A symbolic link."""
    return Entry(name=name, kind=Kind.LINK, mode=0o777, target=target)


def file(name: str, content: bytes = b"", **changes: Any) -> Entry:
    """A file with that content."""
    given = {"size": len(content), "opener": lambda: io.BytesIO(content), "mtime_ns": 1_789_000_000 * 10**9}
    return Entry(name=name, **given | changes)


def sample() -> list[Entry]:
    """A little of everything."""
    return [
        folder("home"),
        file("home/config.yaml", b"model: glm-4.6\n", mtime_ns=1_789_000_000_123_456_789),
        folder("home/empty"),
        file("home/zero"),
        file("home/state.db", bytes(range(256)) * 40, mode=0o644),
        link("home/docs", "../outside"),
        file("home/" + "深" * 85, "名".encode()),
        file("home/\udcff\udcfe", b"not UTF-8", mtime_ns=-1),
        file("home/line\nbreak\\back", b"odd"),
    ]


def write(path: Path, entries: Iterable[Entry] | None = None, **options: Any) -> Written:
    """An archive by the writer."""
    entries = sample() if entries is None else entries
    return write_archive(path, Manifest(roots=ROOTS), entries, options=Options(**options))


def forge(path: Path, members: Iterable[Entry | bytes], **changes: Any) -> Path:
    """An archive that no writer of ours would make: names, types and order unchecked, digests right.

    Args:
        members: entries, or bytes that are put into the tar as they are.
        changes: `manifest` and `report` (JSON values), `end` (bytes), `digests` (a function of the right text), `own`
            (which of the last two members there are).
    """
    with path.open("wb") as out:
        compressor = Compressor(out.write, level=1, threads=1)
        for piece in _forged(list(members), changes):
            compressor.write(piece)
        compressor.finish()
    return path


def _forged(members: list[Entry | bytes], changes: dict[str, Any]) -> Iterator[bytes]:
    text = io.BytesIO()
    tally = Tally(text.write)
    manifest = changes.get("manifest", Manifest(roots=ROOTS).as_json())
    own = changes.get("own", (REPORT, DIGESTS))
    yield from _member(_json(MANIFEST, manifest), tally)
    for member in members:
        yield from (member,) if isinstance(member, bytes) else _member(member, tally)
    if REPORT in own:
        yield from _member(_json(REPORT, changes.get("report", Report().as_json())), tally)
    if DIGESTS in own:
        right = text.getvalue() + tally.last_line()
        yield from _member(file(DIGESTS, changes.get("digests", lambda same: same)(right)), tally)
    yield changes.get("end", END_OF_TAR)


def _json(name: str, value: Any) -> Entry:
    raw = value if isinstance(value, bytes) else dump(value)
    return file(name, raw, mode=OWN_MODE)


def _member(entry: Entry, tally: Tally) -> Iterator[bytes]:
    yield headers.encode(entry)
    content = entry.opener().read() if entry.opener is not None else b""
    yield content + bytes(headers.padding(len(content)))
    import hashlib

    digest = hashlib.sha256(content).hexdigest() if entry.kind is Kind.FILE else digest_of(entry)
    tally.add(entry, digest)


def manifest_with(**changes: Any) -> dict[str, Any]:
    """The JSON of a manifest with other values; None takes a field out."""
    fields = json.loads(json.dumps(Manifest(roots=ROOTS).as_json())) | changes
    return {name: value for name, value in fields.items() if value is not None}


def flip_byte(raw: bytes, position: int, bit: int = 0) -> bytes:
    """The bytes with one bit flipped: surely another byte, unlike writing a fixed one, which 1 of 256 already has."""
    changed = bytearray(raw)
    changed[position] ^= 1 << bit
    return bytes(changed)


def incompressible(seed: int = 1) -> list[Entry]:
    """Content in several blocks, so that the frame has structure."""
    make = random.Random(seed).randbytes
    return [folder("home"), file("home/a.bin", make(200_000)), file("home/b.txt", b"b" * 300_000), file("home/c", b"c")]


def damaged(tmp_path: Path, raw: bytes) -> Verification:
    """What `verify` says of these bytes."""
    path = tmp_path / "damaged.tar.zst"
    path.write_bytes(raw)
    return verify(path)


def sealed(folder_: Path, entries: Iterable[Entry] | None = None) -> bytes:
    """The bytes of a sound archive."""
    write(folder_ / "sealed.tar.zst", entries, replace=True)
    return (folder_ / "sealed.tar.zst").read_bytes()
