"""What becomes of open engines in a forked child: they refuse all work, since their handles belong to the parent."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class _Abandonable(Protocol):
    def abandon(self) -> None: ...


_live: weakref.WeakSet[_Abandonable] = weakref.WeakSet()
# Kept alive for ever: closing a copied SQLite handle in the child could drop the parent's WAL.
_inherited: list[object] = []


def watch(engine: _Abandonable) -> None:
    """Call `abandon` of an engine in every child that is forked while it is open."""
    _live.add(engine)


def forget(engine: _Abandonable) -> None:
    """The engine was closed."""
    _live.discard(engine)


def _abandon_in_child() -> None:
    for engine in list(_live):
        engine.abandon()
        _inherited.append(engine)


os.register_at_fork(after_in_child=_abandon_in_child)
