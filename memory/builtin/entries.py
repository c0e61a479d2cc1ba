"""The text of a memory file: entries with a line of `§` between them.

The format is the peer's, both ways: UTF-8, entries joined by `DELIMITER`, no line end behind the last. What people and
other editors make of it is read as well: a byte order mark, CRLF, blanks around the `§`, a delimiter at the end. Bytes
that are no UTF-8 are kept as they are and shown as `\\xff`.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.errors import InvalidValue

if TYPE_CHECKING:
    from collections.abc import Iterable

DELIMITER = "\n§\n"
# Target to the name of its file in `$HERMES_HOME/memories`.
FILES = {"memory": "MEMORY.md", "user": "USER.md"}
TARGETS = tuple(FILES)
# Hex digits of an entry's id.
ID_CHARS = 12

_BOM = b"\xef\xbb\xbf"
_MARK = "§"
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]")
_SURROGATES = re.compile("[\ud800-\udfff]")


class Entry(NamedTuple):
    """One entry.

    Attributes:
        raw: as it lies in the file; a byte that is no UTF-8 is a lone surrogate (`surrogateescape`).
        text: the same for people, prompts and JSON.
    """

    raw: str
    text: str

    @classmethod
    def of(cls, raw: str) -> Entry:
        """The entry that lies in a file as this text."""
        return cls(raw, _visible(raw))

    @property
    def is_odd(self) -> bool:
        """Whether it has bytes that are no UTF-8, or a NUL."""
        return self.raw != self.text

    @property
    def data(self) -> bytes:
        """Its bytes."""
        return self.raw.encode("utf-8", "surrogateescape")


class Parsed(NamedTuple):
    """A file that was read: its entries, and what is odd about it in words."""

    entries: tuple[Entry, ...]
    problems: tuple[str, ...] = ()


def parse(data: bytes) -> Parsed:
    """The entries of a file, in order, each once; blank ones are no entries. Never fails, and drops no line of text."""
    text = data.removeprefix(_BOM).decode("utf-8", "surrogateescape").replace("\r\n", "\n").replace("\r", "\n")
    parts: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.strip(" \t") == _MARK:
            parts.append([])
        else:
            parts[-1].append(line)
    raws = dict.fromkeys("\n".join(lines).strip() for lines in parts)
    problems = [
        f"line {number} has bytes that are no UTF-8; they are kept as they are"
        for number, line in enumerate(text.split("\n"), 1)
        if _SURROGATES.search(line)
    ]
    return Parsed(tuple(Entry.of(raw) for raw in raws if raw), tuple(problems))


def render(entries: Iterable[Entry]) -> bytes:
    """The file that holds these entries."""
    return DELIMITER.join(entry.raw for entry in entries).encode("utf-8", "surrogateescape")


def size(entries: Iterable[Entry]) -> int:
    """Characters (code points) of that file, delimiters included: what the limits count."""
    lengths = [len(entry.raw) for entry in entries]
    return sum(lengths) + len(DELIMITER) * max(len(lengths) - 1, 0)


def memory_id(target: str, entry: Entry) -> str:
    """The stable id of an entry: from its target and content alone, so it is the same in every process and home."""
    return hashlib.sha256(f"{target}\0".encode() + entry.data).hexdigest()[:ID_CHARS]


def new_entry(content: object) -> Entry:
    """The entry for a text somebody wants to keep.

    Raises:
        InvalidValue: no text, blank, a line of `§` (it would become two entries), control characters, or code points
            that no file can hold.
    """
    if not isinstance(content, str):
        raise InvalidValue(f"content is a text, not {type(content).__name__}")
    text = content.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise InvalidValue("content is required and can't be blank", hint="use `remove` to take an entry out")
    if any(line.strip(" \t") == _MARK for line in text.split("\n")):
        raise InvalidValue(
            "content has a line with nothing but '§', which separates entries",
            hint="add two entries, or use another mark such as '***'",
        )
    if found := _SURROGATES.search(text):
        raise InvalidValue(f"content has the lone surrogate U+{ord(found.group()):04X}, which no file can hold")
    if found := _CONTROLS.search(text):
        raise InvalidValue(f"content has the control character U+{ord(found.group()):04X}", hint="send plain text")
    return Entry(text, text)


def _visible(raw: str) -> str:
    if _SURROGATES.search(raw):
        raw = raw.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return raw.replace("\0", "\\x00")
