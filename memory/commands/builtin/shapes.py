"""Memories, their history and their changes as JSON. Times are ISO 8601 in UTC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_state.commands.shapes import time

if TYPE_CHECKING:
    from memory.builtin import Change, Entries, Event, Memory, Outcome, Proposal


def memory(found: Memory) -> dict[str, Any]:
    """An entry of the store."""
    return {
        "id": found.id,
        "target": found.target,
        "status": found.status,
        "text": found.text,
        "chars": len(found.text),
        "tags": list(found.tags),
        "created_at": time(found.created_at) if found.pk else None,
        "changed_at": time(found.changed_at) if found.pk else None,
        "replaced_by": found.replaced_by,
    }


def plain(held: Entries) -> list[dict[str, Any]]:
    """The entries of a file, without what only the store knows."""
    unknown: dict[str, Any] = {"tags": [], "created_at": None, "changed_at": None, "replaced_by": None}
    return [
        {"id": name, "target": held.target, "status": "active", "text": entry.text, "chars": len(entry.text)} | unknown
        for name, entry in zip(held.ids, held.entries, strict=True)
    ]


def usage(held: Entries) -> dict[str, Any]:
    """How full a file is, in characters."""
    used = held.usage
    return {"used": used.used, "limit": used.limit, "percent": used.percent, "problems": list(held.problems)}


def hit(found: Memory) -> dict[str, Any]:
    """An entry that a search found."""
    return memory(found) | {"snippet": found.snippet, "score": found.score}


def event(happened: Event) -> dict[str, Any]:
    """One thing that happened to an entry."""
    return {
        "id": happened.id,
        "target": happened.target,
        "action": happened.action,
        "at": time(happened.at),
        "before": happened.before,
        "after": happened.after,
        "batch": happened.batch,
        "undoes": happened.undoes,
        "origin": dict(happened.origin),
    }


def change(done: Change) -> dict[str, Any]:
    """What one operation did."""
    return {
        "action": done.action,
        "target": done.target,
        "id": done.id,
        "before": done.previous or None,
        "after": done.content or None,
    }


def outcome(done: Outcome) -> dict[str, Any]:
    """What a write did."""
    return {
        "changed": bool(done.changes),
        "batch": done.batch or None,
        "changes": [change(each) for each in done.changes],
        "notes": list(done.notes),
        "warnings": list(done.warnings),
        "usage": {
            name: {"used": each.used, "limit": each.limit, "percent": each.percent} for name, each in done.usage.items()
        },
        "degraded": done.degraded or None,
    }


def proposal(waits: Proposal) -> dict[str, Any]:
    """A write that waits for approval."""
    return {
        "id": waits.id,
        "requested_at": time(waits.requested_at),
        "operations": [each.as_dict() for each in waits.operations],
        "origin": dict(waits.origin),
        "file": None if waits.path is None else str(waits.path),
        "problem": waits.problem or None,
    }
