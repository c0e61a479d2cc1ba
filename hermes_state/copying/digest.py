"""One digest of what a store says, the same in every engine and in an archive; `docs/digest.md` is its definition.

    chain     32 zero bytes; with each message in order, SHA-256 of the chain until then and its line in canonical JSON
    session   SHA-256 of its line in canonical JSON, a line feed, and the chain of its messages
    memory, fact, entity   SHA-256 of its line in canonical JSON
    a part    SHA-256 of its digests, sorted
    the whole SHA-256 of `hermes-state-content 1`, a line feed, and the digests of the parts

A chain can be gone on with: what was learned of a session's first messages holds when others are added (`learned`).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_state.copying.content import Content
    from hermes_state.transfer.lines import Line
    from hermes_state.transfer.progress import Progress

# Changed when a line of the same content gets another digest; with a migration that empties `session_digests`, where
# the old lines are.
VERSION = 1
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class Chain(NamedTuple):
    """What the first messages of a session say.

    Attributes:
        messages: how many they are.
        position: of the last of them; -1 when there is none.
        digest: of them all.
    """

    messages: int
    position: int
    digest: bytes

    def extended(self, messages: Iterable[Line]) -> Chain:
        """With the messages that follow."""
        count, position, digest = self
        for line in messages:
            digest = hashlib.sha256(digest + _canonical(line)).digest()
            position = line["position"]
            count += 1
        return Chain(count, position, digest)


NO_MESSAGES = Chain(0, -1, bytes(32))


class Chained(NamedTuple):
    """A session's line, the chain of its messages, and how many of these had to be read for it."""

    line: Line
    chain: Chain
    read: int


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
    """The digests of single items, by what names them; `read` messages of all were read for it."""

    sessions: dict[str, bytes] = field(default_factory=dict)
    messages: int = 0
    read: int = 0
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
    for line, chain, read in content.chains():
        found.sessions[line["id"]] = session_digest(line, chain)
        found.messages += chain.messages
        found.read += read
        if progress is not None:
            progress(found.messages, 0)
    found.memories = {line["id"]: line_digest(line) for line in content.memories()}
    found.facts = {fact_name(line): line_digest(line) for line in content.facts()}
    return found


def session_digest(line: Line, chain: Chain) -> bytes:
    """The digest of a session."""
    return hashlib.sha256(_canonical(line) + b"\n" + chain.digest).digest()


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
