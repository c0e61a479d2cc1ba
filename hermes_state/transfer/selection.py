"""Which sessions an export is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_state.listing import SessionFilter


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """What to export; with neither field set, everything: archived sessions and delegates too.

    Attributes:
        ids: these sessions, by exact id.
        wanted: or those that pass a filter.
        whole_conversations: of each, every segment from the first to the tip, not only the one named.
    """

    ids: Sequence[str] | None = None
    wanted: SessionFilter | None = None
    whole_conversations: bool = True


EVERYTHING = Selection()
