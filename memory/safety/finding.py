"""What a scan finds."""

from __future__ import annotations

from dataclasses import dataclass

# Characters of a text that are looked at; the cost of a scan grows with them.
MAX_SCAN_CHARS = 65_536
# Characters of the text that an excerpt shows.
EXCERPT_CHARS = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One suspicious thing in a text.

    Attributes:
        rule: the rule's stable name, e.g. `override_instructions`.
        intent: what such a text is after, in words for a person.
        excerpt: the part that was found, on one line; invisible characters are named.
    """

    rule: str
    intent: str
    excerpt: str


def excerpt(text: str) -> str:
    """A part of a text as a finding shows it."""
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT_CHARS else f"{line[: EXCERPT_CHARS - 1]}…"
