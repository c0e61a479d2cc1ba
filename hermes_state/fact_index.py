"""The full-text index of facts: which table it is. What is in it and how far it goes is the provider's business."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.engine.entry_index import EntryIndex
from hermes_state.schema import facts

if TYPE_CHECKING:
    from sqlalchemy import Connection

INDEX = EntryIndex("fact_index", facts.c.pk)


def purge(connection: Connection) -> None:
    """Rewrite the index, so that nothing of deleted facts is left in it."""
    if INDEX.exists(connection):
        INDEX.optimize(connection)
