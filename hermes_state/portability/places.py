"""Where members may stand: below a root, in a folder that came before, once."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from hermes_state.portability import names
from hermes_state.portability.format import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_state.portability.format import Entry


class Places:
    """The names so far.

    Of each only 64 bits are kept, under a key nobody can know: 75 MB for a million names, and nobody can make two
    names that look alike.

    Args:
        roots: those that the manifest declares.
    """

    def __init__(self, roots: Iterable[str]) -> None:
        self._roots = frozenset(roots)
        self._key = os.urandom(16)
        self._seen: set[int] = set()
        self._folders: set[int] = set()
        self._folded: set[int] = set()  # of names that folding changes; the others are in `_seen`

    def fault(self, entry: Entry) -> str | None:
        """Why an entry can't stand here; None: it can."""
        if self._mark(entry.name) in self._seen:
            return "was there before"
        if entry.root not in self._roots:
            return "is under no root of the manifest"
        above = names.parent(entry.name)
        if not above:
            return None if entry.kind is Kind.DIR else "is a root and no folder"
        return None if self._mark(above) in self._folders else "lies in no folder that came before"

    def add(self, entry: Entry) -> None:
        """The entry stands."""
        mark = self._mark(entry.name)
        self._seen.add(mark)
        if entry.kind is Kind.DIR:
            self._folders.add(mark)

    def clashes(self, entry: Entry) -> bool:
        """Whether an earlier name is the same where case or Unicode normalisation doesn't count. Asked before `add`."""
        folded = names.folded(entry.name)
        mark = self._mark(folded)
        found = mark in self._folded or (folded != entry.name and mark in self._seen)
        if folded != entry.name:
            self._folded.add(mark)
        return found

    def __len__(self) -> int:
        return len(self._seen)

    def _mark(self, name: str) -> int:
        return int.from_bytes(hashlib.blake2b(names.encoded(name), digest_size=8, key=self._key).digest(), "little")
