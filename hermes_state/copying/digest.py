"""One digest of what a store says, the same in every engine and in an archive; `docs/digest.md` is its definition.

    message   SHA-256 of its line in canonical JSON
    session   SHA-256 of its line in canonical JSON, a line feed, and the digests of its messages in order
    memory, fact, entity   SHA-256 of its line in canonical JSON
    a part    SHA-256 of its digests, sorted
    the whole SHA-256 of `hermes-state-content 1`, a line feed, and the digests of the parts

Nothing of it is kept in the store. Whatever changes a message, a title or a tag would have to keep it, an append among
them, which writes two pages; and a kept digest can be wrong, which one that was read anew can't.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_state.copying.content import Content
    from hermes_state.transfer.lines import Line
    from hermes_state.transfer.progress import Progress

# Changed when a line of the same content gets another digest.
VERSION = 1
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One part of the content: how many items it has, and their digest in hex."""

    items: int
    digest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Digest:
    """What a store or an archive says.

    Attributes:
        digest: of everything, in hex.
        sessions, memories: the parts; `facts` counts entities too.
        messages: how many there are in the sessions.
    """

    digest: str
    sessions: Part
    messages: int
    memories: Part
    facts: Part


@dataclass(kw_only=True, slots=True)
class Digests:
    """The digests of single items, by what names them."""

    sessions: dict[str, bytes] = field(default_factory=dict)
    messages: int = 0
    memories: dict[str, bytes] = field(default_factory=dict)
    facts: dict[str, bytes] = field(default_factory=dict)

    def combined(self) -> Digest:
        """The digest of all."""
        parts = [self.sessions, self.memories, self.facts]
        combined = [_combined(part.values()) for part in parts]
        whole = hashlib.sha256(b"hermes-state-content %d\n" % VERSION + b"".join(combined)).hexdigest()
        shown = [Part(items=len(part), digest=one.hex()) for part, one in zip(parts, combined, strict=True)]
        return Digest(digest=whole, sessions=shown[0], messages=self.messages, memories=shown[1], facts=shown[2])


def _combined(digests: Iterable[bytes]) -> bytes:
    return hashlib.sha256(b"".join(sorted(digests))).digest()


def digests(content: Content, progress: Progress | None = None) -> Digests:
    """The digest of every session, memory, fact and entity."""
    found = Digests()
    for line, messages in content.sessions():
        found.sessions[line["id"]], count = session_digest(line, messages)
        found.messages += count
        if progress is not None:
            progress(found.messages, 0)
    found.memories = {line["id"]: line_digest(line) for line in content.memories()}
    found.facts = {fact_name(line): line_digest(line) for line in content.facts()}
    return found


def session_digest(line: Line, messages: Iterable[Line]) -> tuple[bytes, int]:
    """The digest of a session, and how many messages it has."""
    state = hashlib.sha256(_canonical(line) + b"\n")
    count = 0
    for message in messages:
        state.update(hashlib.sha256(_canonical(message)).digest())
        count += 1
    return state.digest(), count


def line_digest(line: Line) -> bytes:
    """The digest of one line."""
    return hashlib.sha256(_canonical(line)).digest()


def fact_name(line: Line) -> str:
    """What tells a fact from others, or an entity: the first line of what a person would call it by."""
    if line["type"] == "entity":
        return f"entity {line['folded']}"
    return " ".join(["fact", line.get("user_id", ""), line.get("session_id", ""), line["content"]])


def _canonical(line: Line) -> bytes:
    """JSON in ASCII, names in order of their code points, no spaces, numbers as Python's `json` writes them."""
    return _encode(line).encode("ascii")
