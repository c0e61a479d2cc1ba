"""Compares what `digests.sha256` says with what was read, and names what differs."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability.digests import FIRST_LINE, name_in
from hermes_state.portability.format import DIGESTS, MAX_NAME_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_state.portability.content import Content
    from hermes_state.portability.digests import Tally

_LAST = b"# whole "
# [bytes] a digest, two spaces, a name of which every byte is escaped.
_MAX_LINE = 2 * MAX_NAME_BYTES + 128


def prove(tally: Tally, content: Content, tell: Callable[[str, str, str], None]) -> None:
    """Read `digests.sha256` to its end and compare.

    Args:
        tally: of all members before it.
        tell: gets code, message and member of what differs.

    Raises:
        ArchiveDamaged: it is no text of lines, or not all of it could be read.
    """
    last, whole, told = tally.last_line(), hashlib.sha256(), 0
    found, behind = b"", 0
    for position, text in enumerate(_records(content)):
        if found:
            behind += len(text)
        elif text.startswith(_LAST):
            found = text
        else:
            whole.update(text)
            if not _is_right(tally, position, text):
                told += 1
                tell("digest", "its digest, size, mode or time is not what was written", name_in(text) or DIGESTS)
    if behind:
        tell("digest", f"{behind} bytes follow the last line of the digests", DIGESTS)
    if (found != last or whole.hexdigest() != tally.whole) and not told:
        tell("digest", "the digests do not cover what was read", DIGESTS)


def _is_right(tally: Tally, position: int, text: bytes) -> bool:
    return text == FIRST_LINE if position == 0 else tally.has_at(position - 1, text)


def _records(content: Content) -> Iterator[bytes]:
    """The first line, then each member's two lines, then the last line."""
    lines = _lines(content)
    yield next(lines, b"")
    for line in lines:
        yield line if line.startswith(_LAST) else line + next(lines, b"")


def _lines(content: Content) -> Iterator[bytes]:
    rest = b""
    for chunk in content.chunks():
        *lines, rest = (rest + bytes(chunk)).split(b"\n")
        for line in lines:
            yield line + b"\n"
        if len(rest) > _MAX_LINE:
            raise ArchiveDamaged("a line of the digests is too long", code="digest", member=DIGESTS)
    if rest:
        yield rest
