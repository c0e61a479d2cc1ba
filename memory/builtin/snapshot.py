"""The blocks of built-in memory in the system prompt, in the peer's form."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from memory.builtin.entries import DELIMITER, FILES
from memory.builtin.limits import Usage
from memory.safety import scan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memory.builtin.entries import Entry

_RULE = "═" * 46
# A file that others made many times larger than its limit would fill the prompt; so many times the limit are shown.
_MOST_LIMITS = 4
_TITLES = {"memory": "MEMORY (your personal notes)", "user": "USER PROFILE (who the user is)"}


def block(target: str, entries: Sequence[Entry], limit: int) -> str:
    """One block; empty when there are no entries. An entry that is not safe is named and not shown."""
    if not entries:
        return ""
    header = f"{_TITLES[target]} [{Usage.of(entries, limit)}]"
    fitting = list(_fitting(entries, _MOST_LIMITS * limit))
    parts = [_shown(target, entry) for entry in fitting]
    if left := len(entries) - len(fitting):
        parts.append(f"[{left} more in {FILES[target]}, which is far over its limit; memory(action=list) shows them.]")
    return "\n".join((_RULE, header, _RULE, DELIMITER.join(parts)))


def _fitting(entries: Sequence[Entry], most: int) -> Iterator[Entry]:
    """The entries from the first on that have together no more characters."""
    used = 0
    for entry in entries:
        used += len(entry.raw) + len(DELIMITER)
        if used > most:
            return
        yield entry


@lru_cache(maxsize=1024)
def _rules_broken(text: str) -> tuple[str, ...]:
    """The scan's findings, remembered: the same entries are shown again and again."""
    return tuple(finding.rule for finding in scan(text))


def _shown(target: str, entry: Entry) -> str:
    rules = _rules_broken(entry.text)
    if not rules:
        return entry.text
    return (
        f"[BLOCKED: {FILES[target]} entry contained threat pattern(s): {', '.join(rules)}. "
        "Removed from system prompt; use memory(action=remove) to delete the original.]"
    )
