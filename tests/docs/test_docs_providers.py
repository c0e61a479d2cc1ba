"""The guide for provider authors: its provider keeps the contract, and its tables are those of the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.conformance import RULES, run
from memory.settings import MemorySettings

if TYPE_CHECKING:
    import pytest

GUIDE = (Path(__file__).parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")


def test_the_provider_of_the_guide_keeps_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands there, without a finding."""
    monkeypatch.setattr("memory.conformance.probe.SETTLE_S", 0.3)
    block = re.search(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    assert block is not None
    names: dict[str, Any] = {}
    exec(block[1], names)
    report = run(names["Notebook"])
    assert [f"{finding.rule}: {finding.found}" for finding in report.findings] == []


def test_every_rule_is_in_the_guide() -> None:
    """With what breaks and what to change."""
    for name, rule in RULES.items():
        mark = " (warning)" if rule.is_warning else ""
        assert f"| `{name}`{mark} | {rule.breaks} | {rule.fix} |" in GUIDE


def test_every_key_is_in_the_guide() -> None:
    """With its meaning."""
    for key in MemorySettings.describe():
        assert re.search(rf"\| `{re.escape(key.path)}` \| .+ \| {re.escape(key.about)} \|", GUIDE), key.path
