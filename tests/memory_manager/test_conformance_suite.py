"""The suite: whoever keeps the contract passes, and each way of breaking it is found, by its name and in words."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from broken_providers import BROKEN, Notebook

from memory.builtin import BuiltinMemory, BuiltinProvider
from memory.conformance import RULES, run
from memory.discovery import Discovery

if TYPE_CHECKING:
    from memory.conformance import Report

HERE = Path(__file__).parent
# Which checks can find a rule broken: the others need not run for each broken provider.
CHECKS = {
    "contract": ["contract"],
    "lifecycle": ["lifecycle"],
    "hooks": ["hooks"],
    "ingest": ["ingest"],
    "sessions": ["sessions", "ingest"],
    "isolation": ["lifecycle"],
    "unicode": ["unicode"],
    "threads": ["threads"],
    "tools": ["tools"],
    "recall": ["tools"],
    "backup": ["backup"],
    "checkpoint": ["checkpoint"],
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.conformance.probe.SETTLE_S", 0.3)
    monkeypatch.setattr("memory.conformance.lifecycle._THREADS_END_S", 0.3)


def told(report: Report) -> list[str]:
    return [f"{finding.rule}: {finding.found}" for finding in report.findings]


def test_a_provider_that_keeps_the_contract_passes_everything() -> None:
    """And nothing is skipped but what it has not: questions."""
    report = run(Notebook)
    assert told(report) == []
    assert report.provider == "notebook"
    assert report.skipped == {"contract.config_schema": "it has no questions"}


def test_built_in_memory_passes() -> None:
    """It stores no turns, so checks of recall don't apply."""
    report = run(lambda: BuiltinProvider(BuiltinMemory(Path(os.environ["HERMES_HOME"]))) if _in_check() else _named())
    assert told(report) == []
    assert report.is_conformant


def _in_check() -> bool:
    return "HERMES_HOME" in os.environ


def _named() -> BuiltinProvider:
    return BuiltinProvider(BuiltinMemory(Path(os.environ["HOME"]) / "somewhere"))


def test_the_shipped_provider_passes_everything() -> None:
    """Holographic memory, found as any other. It learns from turns only where that is switched on."""
    report = run(lambda: Discovery().load("holographic"))
    assert told(report) == []
    assert report.skipped.keys() <= {"lifecycle.users"}


@pytest.mark.parametrize("rule", BROKEN)
def test_what_is_broken_is_found(rule: str) -> None:
    """By the rule's name, with words that say what happened; warnings alone don't fail."""
    provider, words = BROKEN[rule]
    report = run(provider, only=CHECKS[rule.partition(".")[0]], deadline_s=1.0 if rule == "hooks.hangs" else 20.0)
    found = [finding for finding in report.findings if finding.rule == rule]
    assert found, told(report)
    assert any(words in finding.found for finding in found), told(report)
    assert found[0].fix
    assert found[0].breaks
    assert report.is_conformant is all(RULES[finding.rule].is_warning for finding in report.findings)


def test_every_rule_has_a_provider_that_breaks_it() -> None:
    """So that no rule is only words."""
    assert set(BROKEN) == set(RULES)


def test_a_provider_that_is_away_is_skipped_with_its_reason() -> None:
    """Nothing is said for or against it that nobody saw."""

    class Away(Notebook):
        def is_available(self) -> bool:
            return False

        def unavailable_reason(self) -> str:
            return "NOTEBOOK_KEY is not set"

    report = run(Away, only=["hooks", "threads"])
    assert report.findings == ()
    assert set(report.skipped.values()) == {"not available: NOTEBOOK_KEY is not set"}


def test_the_pytest_plugin_runs_the_checks_as_tests(tmp_path: Path) -> None:
    """A finding fails its check with rule and fix; the provider that keeps the contract passes beside it."""
    (tmp_path / "test_none.py").write_text("def test_own_tool():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-c", os.devnull]
    for provider in ("Notebook", "PlainText"):
        command += ["--memory-provider", f"broken_providers:{provider}"]
    done = subprocess.run(
        [*command, str(tmp_path), "-k", "tool"],
        env=os.environ | {"PYTHONPATH": str(HERE)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 4 passed" in done.stdout
    assert "tools.not-json" in done.stdout
    assert "json.dumps" in done.stdout
