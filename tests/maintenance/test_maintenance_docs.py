"""The page about upkeep names what there is."""

from __future__ import annotations

import re
from pathlib import Path

from hermes_state.check import Kind

PAGE = (Path(__file__).parents[2] / "docs" / "upkeep.md").read_text(encoding="utf-8")


def test_every_kind_of_finding_is_explained() -> None:
    """In the order in which a check looks, and no other."""
    assert re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE) == [str(kind) for kind in Kind]
