"""Tar headers: one entry has one form, and nothing else is read.

The strict subset of POSIX pax that `docs/archive-format.md` lists. A decoder that encodes again what it understood and
compares needs no opinion on any single byte.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability.format import BLOCK, LINK_MODE, MAX_MTIME_S, MAX_PAX_BYTES, MODE_MASK, Entry, Kind
from hermes_state.portability.names import decoded, encoded

if TYPE_CHECKING:
    from collections.abc import Callable

_TYPES = {Kind.FILE: b"0", Kind.DIR: b"5", Kind.LINK: b"2"}
_KINDS = {flag: kind for kind, flag in _TYPES.items()}
_PAX_TYPE, PAX_NAME = b"x", b"@pax"
# Octal digits that fit size and mtime: 8 GiB, and the year 2242.
_FIELD_LIMIT = 8**11
_NAME_FIELD = 100
_OTHER = re.compile(rb"[^\x20-\x7e]")
_MTIME = re.compile(rb"(-?)(\d{1,12})\.(\d{9})\Z")
# What tars of other makes hold, for the message.
_REFUSED = {b"1": "a hard link", b"3": "a device", b"4": "a device", b"6": "a FIFO", b"g": "a global header"}
_REFUSED |= {b"L": "a GNU long name", b"K": "a GNU long name", b"S": "a sparse file", b"\0": "an old tar header"}
_TAIL = b"ustar\x0000" + bytes(64) + b"0000000\0" * 2 + bytes(167)
# With the checksum's own field, which counts as eight spaces.
_TAIL_SUM = sum(_TAIL) + 8 * 0x20


def padding(size: int) -> int:
    """Bytes between content and the next header."""
    return -size % BLOCK


def mtime_text(mtime_ns: int) -> str:
    """`[-]seconds.nnnnnnnnn`."""
    seconds, rest = divmod(abs(mtime_ns), 10**9)
    return f"{'-' if mtime_ns < 0 else ''}{seconds}.{rest:09}"


def encode(entry: Entry) -> bytes:
    """The header of an entry: a pax header when one is needed, then the block.

    The entry's name, target and numbers must have been checked; see `names` and `check_numbers`.
    """
    name, target, size = encoded(entry.name), encoded(entry.target), entry.length
    seconds, rest = divmod(entry.mtime_ns, 10**9)
    records = _records(entry, name, target, whole_seconds=not rest and 0 <= seconds < _FIELD_LIMIT)
    block = _block(
        _field(name),
        mode=entry.mode,
        size=size if size < _FIELD_LIMIT else 0,
        mtime=seconds if 0 <= seconds < _FIELD_LIMIT else 0,
        flag=_TYPES[entry.kind],
        link=_field(target),
    )
    if not records:
        return block
    head = _block(PAX_NAME, mode=0o600, size=len(records), mtime=0, flag=_PAX_TYPE, link=b"")
    return head + records + bytes(padding(len(records))) + block


def check_numbers(entry: Entry) -> str | None:
    """Why an entry's mode, time or size can't stand in an archive; None: they can."""
    if not 0 <= entry.mode <= MODE_MASK or (entry.kind is Kind.LINK and entry.mode != LINK_MODE):
        return f"has the mode {entry.mode:o}"
    if abs(entry.mtime_ns) >= MAX_MTIME_S * 10**9:
        return "has a modification time out of range"
    if entry.length < 0 or (entry.kind is not Kind.FILE and entry.size):
        return f"has {entry.size} bytes"
    return None


def _records(entry: Entry, name: bytes, target: bytes, *, whole_seconds: bool) -> bytes:
    pax: list[tuple[bytes, bytes]] = []
    long_name, long_target = _field(name) != name, _field(target) != target
    if (long_name and not _is_utf8(name)) or (long_target and not _is_utf8(target)):
        pax.append((b"hdrcharset", b"BINARY"))
    if long_target:
        pax.append((b"linkpath", target))
    if not whole_seconds:
        pax.append((b"mtime", mtime_text(entry.mtime_ns).encode()))
    if long_name:
        pax.append((b"path", name))
    if entry.length >= _FIELD_LIMIT:
        pax.append((b"size", str(entry.length).encode()))
    return b"".join(_record(key, value) for key, value in pax)


def _record(key: bytes, value: bytes) -> bytes:
    rest = len(key) + len(value) + 3  # a space, `=`, LF
    length = rest + len(str(rest))
    if len(str(length)) > len(str(rest)):
        length += 1
    return b"%d %s=%s\n" % (length, key, value)


def _field(raw: bytes) -> bytes:
    """What of a name stands in its field; equal to it when all of it does."""
    return _OTHER.sub(b"_", raw[:_NAME_FIELD])


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _block(name: bytes, *, mode: int, size: int, mtime: int, flag: bytes, link: bytes) -> bytes:
    numbers = b"%07o\x000000000\x000000000\x00%011o\x00%011o\x00" % (mode, size, mtime)
    checksum = sum(name) + sum(numbers) + flag[0] + sum(link) + _TAIL_SUM
    padded = name.ljust(_NAME_FIELD, b"\0"), numbers, checksum, flag, link.ljust(_NAME_FIELD, b"\0"), _TAIL
    return b"%s%s%06o\0 %s%s%s" % padded


# --- reading ------------------------------------------------------------------------------------------------------


class _Fields(NamedTuple):
    name: bytes
    mode: int
    size: int
    mtime: int
    flag: bytes
    link: bytes


def read(take: Callable[[int], bytes]) -> Entry | None:
    """The next entry; None at the end of the tar.

    Args:
        take: gives exactly as many bytes as it is asked for.

    Raises:
        ArchiveDamaged: it is no header, or not one in the canonical form.
    """
    raw = take(BLOCK)
    if not any(raw):
        if any(take(BLOCK)):
            raise _damaged("there is one block of zeros where two end the tar")
        return None
    fields, pax = _parse(raw), {}
    if fields.flag == _PAX_TYPE:
        records, more = _read_records(fields.size, take)
        pax = _parse_records(records)
        block = take(BLOCK)
        raw += more + block
        fields = _parse(block)
    entry = _entry(fields, pax)
    wrong = check_numbers(entry)
    if wrong is not None:
        raise _damaged(f"it {wrong}", entry.name)
    if encode(entry) != raw:
        raise _damaged("it is not in the canonical form", entry.name)
    return entry


def has_checksum(block: bytes) -> bool:
    """Whether a block is a tar header, of whatever make, that is whole."""
    stated = block[148:156]
    return stated == b"%06o\0 " % (sum(block) - sum(stated) + 8 * 0x20)


def _parse(block: bytes) -> _Fields:
    flag = block[156:157]
    if not has_checksum(block):
        raise _damaged("its checksum is wrong")
    if flag != _PAX_TYPE and flag not in _KINDS:
        what = _REFUSED.get(flag, f"of type {flag!r}")
        raise ArchiveDamaged(f"a member is {what}, which no archive of ours holds", code="type", member=_text(block))
    return _Fields(
        name=block[:_NAME_FIELD].rstrip(b"\0"),
        mode=_octal(block[100:108]),
        size=_octal(block[124:136]),
        mtime=_octal(block[136:148]),
        flag=flag,
        link=block[157:257].rstrip(b"\0"),
    )


def _read_records(size: int, take: Callable[[int], bytes]) -> tuple[bytes, bytes]:
    """The records of a pax header: alone, and with their padding."""
    if size > MAX_PAX_BYTES:
        raise _damaged(f"a pax header has {size} bytes; {MAX_PAX_BYTES} are the limit")
    records = take(size)
    return records, records + take(padding(size))


def _parse_records(raw: bytes) -> dict[bytes, bytes]:
    pax: dict[bytes, bytes] = {}
    at = 0
    while at < len(raw):
        space = raw.find(b" ", at, at + 8)
        digits = raw[at:space] if space > 0 else b""
        end = at + int(digits) if digits.isdigit() else 0
        key, equals, value = raw[space + 1 : end - 1].partition(b"=")
        if end <= space or end > len(raw) or not equals or raw[end - 1 : end] != b"\n" or key in pax:
            raise _damaged("its pax records don't add up")
        pax[key] = value
        at = end
    return pax


def _entry(fields: _Fields, pax: dict[bytes, bytes]) -> Entry:
    if fields.flag not in _KINDS:
        raise _damaged("a pax header follows a pax header")
    size = pax.get(b"size", b"%d" % fields.size)
    if not size.isdigit() or len(size) > 20:  # 2^64 has 20 digits
        raise _damaged("its size is no number")
    return Entry(
        name=decoded(pax.get(b"path", fields.name)),
        kind=_KINDS[fields.flag],
        mode=fields.mode,
        mtime_ns=_mtime_ns(pax[b"mtime"]) if b"mtime" in pax else fields.mtime * 10**9,
        size=int(size),
        target=decoded(pax.get(b"linkpath", fields.link)),
    )


def _mtime_ns(text: bytes) -> int:
    found = _MTIME.match(text)
    if found is None:
        raise _damaged("its modification time is no number")
    ns = int(found[2]) * 10**9 + int(found[3])
    return -ns if found[1] else ns


def _octal(field: bytes) -> int:
    digits = field[:-1]
    if field[-1:] != b"\0" or not digits.isdigit() or b"8" in digits or b"9" in digits:
        raise _damaged("a number in it is not octal")
    return int(digits, 8)


def _text(block: bytes) -> str:
    return decoded(block[:_NAME_FIELD].rstrip(b"\0"))


def _damaged(what: str, member: str = "") -> ArchiveDamaged:
    return ArchiveDamaged(f"a tar header is not as we write it: {what}", code="header", member=member)
