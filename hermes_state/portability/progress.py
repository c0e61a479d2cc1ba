"""How far long work is, for whoever shows it."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """What is being done, and how far it is.

    Attributes:
        what: the member, or the work, in words.
        done, total: bytes; `total` is 0 where nobody can know it.
    """

    what: str
    done: int
    total: int
