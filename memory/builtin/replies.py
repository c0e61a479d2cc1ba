"""What the tool `memory` answers: JSON in the peer's form, with what a model needs to go on.

A change says which text was there and which is there now; an error says what fits, what the sizes are, and what to do.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from memory.errors import AmbiguousMatch, EntryNotFound, MemoryFull, UnsafeMemory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hermes_state.errors import HermesStateError
    from memory.builtin.archive import Memory
    from memory.builtin.changes import Change, Outcome
    from memory.builtin.memory import Entries

_DONE = "Write saved. This update is complete — do not repeat it."
_SAID = {"add": "added", "replace": "replaced", "merge": "merged", "remove": "removed", "archive": "archived"}
_SURROGATES = re.compile("[\ud800-\udfff]")
# Characters of an entry in a list of candidates; the exact text stands beside it.
# Characters of entries in one reply, and about what a row costs beside its text. A file that others wrote can be
# of any size, and a reply of a megabyte would end the conversation.
ENTRIES_MAX_CHARS, _ROW_CHARS = 40_000, 50
_PREVIEW_CHARS = 80

Reply = dict[str, Any]


def encode(reply: Mapping[str, Any]) -> str:
    """A reply as the tool returns it: one JSON document that UTF-8 can hold, whatever a model sent."""
    text = json.dumps(reply, ensure_ascii=False, default=str)
    return json.dumps(reply, default=str) if _SURROGATES.search(text) else text


def saved(outcome: Outcome, *, target: str) -> Reply:
    """A write was made, or was not needed."""
    if outcome.proposal:
        return {
            "success": True,
            "staged": True,
            "pending_id": outcome.proposal,
            "message": f"The write waits for the user's approval as {outcome.proposal}. Do not repeat it.",
        }
    usage = outcome.usage[target] if target in outcome.usage else next(iter(outcome.usage.values()))
    reply: Reply = {
        "success": True,
        "done": True,
        "target": target,
        "usage": str(usage),
        "used": usage.used,
        "limit": usage.limit,
        "entry_count": outcome.counts.get(target, next(iter(outcome.counts.values()))),
        "message": _message(outcome),
        "note": _DONE if outcome.changes else "Nothing was changed.",
        "changed": bool(outcome.changes),
        "changes": [change(each) for each in outcome.changes],
    }
    if outcome.notes:
        reply["skipped"] = list(outcome.notes)
    if outcome.batch:
        reply["batch"] = outcome.batch
    if outcome.degraded:
        reply["history"] = f"The file is written; its history will be noted later: {outcome.degraded}"
    warnings = list(outcome.warnings)
    full = [name for name, each in outcome.usage.items() if each.is_nearly_full]
    warnings += [
        f"{name} is nearly full: {outcome.usage[name]}. Merge, shorten, archive or remove entries before you add."
        for name in full
    ]
    if warnings:
        reply["warning"] = " ".join(warnings)
    return reply


def _message(outcome: Outcome) -> str:
    if not outcome.changes:
        return " ".join(outcome.notes) or "Nothing to change."
    kinds: dict[str, int] = {}
    for each in outcome.changes:
        kinds[_SAID[each.action]] = kinds.get(_SAID[each.action], 0) + 1
    if len(outcome.changes) == 1:
        return f"Entry {next(iter(kinds))}."
    return f"{', '.join(f'{number} {kind}' for kind, number in kinds.items())}."


def change(done: Change) -> Reply:
    """One change: both whole texts."""
    reply: Reply = {"action": done.action, "target": done.target, "id": done.id}
    if done.before is not None:
        reply |= {"old_entry": done.previous, "old_id": done.previous_id}
    if done.after is not None:
        reply["new_entry"] = done.content
    return reply


def failed(error: HermesStateError, held: Entries | None) -> Reply:
    """A write was refused.

    Args:
        held: what the target holds; None when it can't be read.
    """
    notes = [str(note) for note in getattr(error, "__notes__", ())]
    is_batch = bool(notes)
    message = _words(error)
    if is_batch:
        message = f"{' '.join(notes)} {message} No operations were applied (batch is all-or-nothing)."
    reply: Reply = {"success": False, "error": message, "kind": error.kind}
    if error.hint:
        reply["hint"] = error.hint
    match error:
        case MemoryFull():
            reply |= {"used": error.used, "limit": error.limit, "needed": error.needed, "target": error.target}
            reply["notice"] = f"Memory is full: {error.target} holds {error.used:,} of {error.limit:,} characters."
        case AmbiguousMatch():
            reply["matches"] = [_preview(text) for text in error.candidates]
            reply["candidates"] = list(error.candidates)
        case EntryNotFound():
            reply["candidates"] = list(error.nearest)
        case UnsafeMemory():
            reply |= {"rule": error.rule, "excerpt": error.excerpt}
            return reply
    if held is not None:
        reply["usage"] = str(held.usage)
        rows = entries(held)
        reply["current_entries"] = [row["text"] for row in rows]
        reply["entries"] = rows
        reply |= _left_out(held, rows)
    return reply


def _words(error: HermesStateError) -> str:
    if isinstance(error, MemoryFull):
        over = error.needed - error.limit
        return (
            f"Memory {error.target} is at {error.used:,}/{error.limit:,} chars; this change needs {error.needed:,}, "
            f"{over:,} too many. Consolidate in this turn: merge, shorten, archive or remove entries, then retry."
        )
    if isinstance(error, UnsafeMemory):
        return (
            f"Blocked: content matches threat pattern '{error.rule}' ({error.intent}). Content is injected into the "
            "system prompt and must not contain injection or exfiltration payloads."
        )
    return f"{error.message[:1].upper()}{error.message[1:]}."


def terminal(failures: int) -> Reply:
    """The same kind of failure came too often in one turn."""
    return {
        "success": False,
        "done": True,
        "error": f"Memory consolidation failed {failures} times this turn. Stop retrying; go on with the user's "
        "request and mention that memory was not saved.",
    }


def entries(held: Entries) -> list[Reply]:
    """The entries of a file with their ids and sizes: as many as a model's context can bear, very long ones cut."""
    rows: list[Reply] = []
    room = ENTRIES_MAX_CHARS
    for name, entry in zip(held.ids, held.entries, strict=True):
        if room <= 0:
            break
        is_whole = len(entry.text) <= room
        text = entry.text if is_whole else _preview(entry.text)
        room -= len(text) + _ROW_CHARS
        rows.append({"id": name, "chars": len(entry.raw), "text": text} | ({} if is_whole else {"cut": True}))
    return rows


def _left_out(held: Entries, rows: Sequence[Reply]) -> Reply:
    left = len(held.entries) - len(rows)
    return {"left_out": f"{left:,} more entries; `search` finds them"} if left else {}


def listing(files: Iterable[Entries], tags: Mapping[str, tuple[str, ...]]) -> Reply:
    """What the files hold."""
    reply: Reply = {"success": True, "done": True, "targets": {}}
    for held in files:
        rows = [row | ({"tags": list(tags[row["id"]])} if tags.get(row["id"]) else {}) for row in entries(held)]
        shown: Reply = {"usage": str(held.usage), "entry_count": len(held.entries), "entries": rows}
        shown |= _left_out(held, rows)
        if held.problems:
            shown["problems"] = list(held.problems)
        reply["targets"][held.target] = shown
    return reply


def found(query: str, hits: Iterable[Memory]) -> Reply:
    """What a search found; an entry that is not active is no longer true or was put away."""
    rows = []
    for hit in hits:
        row: Reply = {"id": hit.id, "target": hit.target, "status": hit.status, "text": hit.text}
        row |= {"tags": list(hit.tags)} if hit.tags else {}
        row |= {"replaced_by": hit.replaced_by} if hit.replaced_by else {}
        row |= {"changed_at": hit.changed_at.isoformat()} if hit.pk else {}
        rows.append(row)
    return {"success": True, "done": True, "query": query, "count": len(rows), "results": rows}


def _preview(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _PREVIEW_CHARS else f"{line[: _PREVIEW_CHARS - 1]}…"
