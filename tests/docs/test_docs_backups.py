"""The page about backups says what the rules are."""

from __future__ import annotations

from pathlib import Path

from hermes_state.portability.external import KNOWN
from hermes_state.portability.rules import DEFAULT_RULES
from hermes_state.portability.selection import PARTS

PAGE = (Path(__file__).parents[2] / "docs/backups.md").read_text(encoding="utf-8")


def test_every_rule_is_documented() -> None:
    """A pattern that leaves something out stands on the page."""
    missing = [rule.pattern.text for rule in DEFAULT_RULES if f"`{rule.pattern.text}`" not in PAGE]
    assert [text for text in missing if text not in ("**/", "*.pid", "*.lock")] == []


def test_parts_and_providers() -> None:
    """So do the parts that can be restored, and where known providers keep things."""
    assert f"`--only {'|'.join(PARTS)}|PATH`" in PAGE
    assert all(provider in PAGE and place in PAGE for provider, places in KNOWN.items() for place in places)
