"""Searching the files alone, where there is no store: few entries, so each is read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hermes_state.text import highlights, snippet
from memory.builtin.archive import Memory, parse_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)


def in_files(files: Sequence[tuple[str, Sequence[str], Sequence[str]]], query: str, limit: int) -> list[Memory]:
    """The entries that say most of what a query asks for.

    Args:
        files: of each file the target, the ids and the texts of its entries.
    """
    parsed = parse_plain(query)
    found = []
    for target, ids, texts in files:
        for name, text in zip(ids, texts, strict=True):
            if marked := highlights(text, parsed):
                found.append(
                    Memory(
                        pk=0,
                        id=name,
                        target=target,
                        status="active",
                        text=text,
                        tags=(),
                        created_at=_UNKNOWN,
                        changed_at=_UNKNOWN,
                        snippet=snippet(text, parsed, marks=("", "")),
                        score=float(sum(end - start for start, end in marked)),
                    )
                )
    return sorted(found, key=lambda each: -each.score)[:limit]
