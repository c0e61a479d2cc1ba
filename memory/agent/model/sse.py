"""Server-sent events: the `data:` payloads of a byte stream.

The WHATWG HTML standard, "Server-sent events", section 9.2.6, as far as chat completion endpoints use it: `data`
fields, comments, and blank lines between events; lines end in LF, CR or CRLF.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def events(chunks: Iterable[bytes]) -> Iterator[str]:
    """The data of each event, whatever the chunking of the bytes.

    An event that the end of the stream cuts off is given too: some servers forget the last blank line.
    """
    data: list[str] = []
    for line in _lines(chunks):
        if not line:
            if data:
                yield "\n".join(data)
            data = []
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
    if data:
        yield "\n".join(data)


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """The lines of a byte stream in UTF-8, without their ends."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    pending = ""
    for chunk in chunks:
        pending += decoder.decode(chunk)
        # A CR at the end may be the first half of a CRLF: wait for what follows.
        held = pending.endswith("\r")
        text = pending[:-1] if held else pending
        *whole, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        yield from whole
        pending = rest + ("\r" if held else "")
    pending += decoder.decode(b"", final=True)
    if pending:
        yield from pending.replace("\r\n", "\n").replace("\r", "\n").split("\n")
