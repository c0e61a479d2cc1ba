"""What a backup says of itself, in its manifest: by whom it was made, what its databases are, what was left out."""

from __future__ import annotations

import getpass
import os
from typing import TYPE_CHECKING, Any

from hermes_state.portability.databases import KEPT, LEFT_OUT
from hermes_state.portability.rules import LOCK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_state.portability.collect import Collection
    from hermes_state.portability.databases import Copy
    from hermes_state.portability.redacting import Redaction

# What was left out is listed up to this many entries; the whole manifest must stay readable in memory.
_MAX_LEFT_OUT = 5_000


def left_out(roots: Mapping[str, Collection]) -> dict[str, Any]:
    """What was left out, the largest first, and how many things that are; empty locks are nothing to miss."""
    items = [
        (root, item)
        for root, collection in roots.items()
        for item in collection.left_out
        if item.bytes or item.reason != LOCK
    ]
    items.sort(key=lambda pair: -pair[1].bytes)
    shown = [
        {"path": f"{root}/{item.path}", "reason": item.reason, "files": item.files, "bytes": item.bytes}
        for root, item in items[:_MAX_LEFT_OUT]
    ]
    return {"left_out": shown, "left_out_count": len(items)}


def of_copy(copy: Copy) -> dict[str, Any]:
    """A database, for the manifest."""
    return {
        "kind": copy.kind.value,
        "schema": copy.schema,
        "rows": copy.rows,
        "indexes": LEFT_OUT if copy.left_out else KEPT,
        "left_out": list(copy.left_out),
        "rebuild": [index.as_dict() for index in copy.indexes],
        **({"damage": copy.damage} if copy.damage else {}),
    }


def of_redactions(redactions: Mapping[str, Redaction | None]) -> dict[str, Any]:
    """What was taken out of databases, and which were not, or not wholly, searched."""
    searched = {name: item for name, item in redactions.items() if item is not None}
    unsearched = [f"{name}: {table}" for name, item in searched.items() for table in item.unsearched]
    unsearched += [name for name in redactions if name not in searched]
    return {"databases": {name: item.columns for name, item in searched.items()}, "unsearched": unsearched}


def user_name() -> str:
    """Who makes backups here."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return str(os.getuid()) if hasattr(os, "getuid") else ""
