"""Short digests of foreign rows: they tell what changed since the last import, so no foreign text is kept twice."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# Bytes of a part's digest: one change in 4 billion goes unseen, until the next one.
_PART_BYTES = 4
# Bytes of a row's digest; it must fit SQLite's signed integers.
_ROW_BYTES = 8
# A row's digest that no row has: the message is no longer there.
GONE = 0
# The low bits of a message's digest are its state, so that a change of state can be told from other changes.
_STATE_BITS = 2


def _hash(value: Any, size: int) -> bytes:
    return hashlib.blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=size).digest()


def digest(value: Any) -> str:
    """Of a part of a session."""
    return _hash(value, _PART_BYTES).hex()


def short(value: str) -> str:
    """Of an id, to make another one of it."""
    return _hash(value, 6).hex()


def row_digest(value: Any) -> int:
    """Of anything, as a number."""
    return int.from_bytes(_hash(value, _ROW_BYTES), "big", signed=True)


def message_digest(value: Any, state: int) -> int:
    """Of a whole message row; never `GONE`."""
    return ((row_digest(value) >> _STATE_BITS or 1) << _STATE_BITS) | state


def state_in(digest_: int) -> int:
    """The state of the message that a `message_digest` was made of."""
    return digest_ & ((1 << _STATE_BITS) - 1)


def fingerprint(parts: Mapping[str, str]) -> str:
    """Digests by part as one text."""
    return " ".join(f"{name}={value}" for name, value in sorted(parts.items()))


def parts_of(text: str) -> dict[str, str]:
    """The digests in a fingerprint."""
    return dict(part.split("=", 1) for part in text.split())
