"""What a run of the suite found."""

from __future__ import annotations

from dataclasses import dataclass

from memory.conformance.rules import RULES


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A rule that was broken.

    Attributes:
        rule: its stable name, one of `RULES`.
        found: what happened.
        check: the check that found it.
    """

    rule: str
    found: str
    check: str = ""

    @property
    def is_warning(self) -> bool:
        """Whether a provider may pass all the same."""
        return RULES[self.rule].is_warning

    @property
    def breaks(self) -> str:
        """What a host or a person suffers."""
        return RULES[self.rule].breaks

    @property
    def fix(self) -> str:
        """What to change."""
        return RULES[self.rule].fix


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """The result for one provider.

    Attributes:
        provider: its name.
        findings: broken rules, in order of the checks.
        passed: checks that found nothing.
        skipped: checks that could not be made, with the reason.
    """

    provider: str
    findings: tuple[Finding, ...]
    passed: tuple[str, ...]
    skipped: dict[str, str]

    @property
    def is_conformant(self) -> bool:
        """Whether nothing but warnings was found."""
        return all(finding.is_warning for finding in self.findings)
