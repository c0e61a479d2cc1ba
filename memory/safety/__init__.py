"""What in a text would turn the agent against its user, found by what it is after and in many languages.

Text that goes into the prompt is scanned: entries of built-in memory before they are written and again when they are
shown, and whatever a provider recalls. A finding says which rule, what the text is after, and where. The scan is pure
and knows no exceptions: text that claims to be blocked, checked or quoted is scanned like any other.

It is a net, not a proof. It is made so that ordinary notes pass: a rule looks for an order together with its object
(*ignore … previous … instructions*), never for a word alone, and invisible characters are findings only where no script
needs them.
"""

from __future__ import annotations

from memory.safety.finding import MAX_SCAN_CHARS, Finding
from memory.safety.hidden import hidden_characters
from memory.safety.rules import broken_rules

__all__ = ["MAX_SCAN_CHARS", "Finding", "scan"]


def scan(text: str) -> list[Finding]:
    """What is suspicious in a text, each rule at most once; empty when nothing is.

    Args:
        text: any text. Of one that is longer than `MAX_SCAN_CHARS`, the beginning and the end are looked at.
    """
    if len(text) > MAX_SCAN_CHARS:
        half = MAX_SCAN_CHARS // 2
        text = f"{text[:half]}\n{text[-half:]}"
    return [*hidden_characters(text), *broken_rules(text)]
