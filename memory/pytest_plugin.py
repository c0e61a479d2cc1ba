"""Pytest: `pytest --memory-provider NAME` runs the suite as tests, one per check.

NAME is a provider's name, or `package.module:ProviderClass`. Every run of pytest loads this module, so it imports
nothing of ours until the option is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option."""
    group = parser.getgroup("hermes-state")
    group.addoption(
        "--memory-provider", metavar="NAME", action="append", default=[], help="hold a memory provider to its contract"
    )


@pytest.hookimpl(tryfirst=True)  # before `-k` and `-m` choose
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the checks of each provider that was named."""
    for name in config.getoption("--memory-provider"):
        items += Conformance.from_parent(session, name=f"memory-provider[{name}]", provider=name).collect()


class Conformance(pytest.Collector):
    """The checks of one provider."""

    def __init__(self, *, provider: str, **attributes: object) -> None:
        super().__init__(**attributes)  # type: ignore[arg-type]  # pytest's own
        self.provider = provider

    def collect(self) -> Iterator[pytest.Item]:
        """One item for each check."""
        from memory.conformance.suite import names
        from memory.discovery import Discovery

        discovery = Discovery()
        for check in names():
            yield CheckItem.from_parent(self, name=check, make=lambda: discovery.load(self.provider))


class CheckItem(pytest.Item):
    """One check."""

    def __init__(self, *, make: Callable[[], object], **attributes: object) -> None:
        super().__init__(**attributes)  # type: ignore[arg-type]  # pytest's own
        self._make = make

    def runtest(self) -> None:
        """Run it; warnings don't fail."""
        import warnings

        from memory.conformance.suite import run_check

        result = run_check(self._make, self.name)
        if result.skipped:
            pytest.skip(result.skipped)
        told = [f"{finding.rule}: {finding.found}. Fix: {finding.fix}" for finding in result.findings]
        faults = [text for text, finding in zip(told, result.findings, strict=True) if not finding.is_warning]
        if faults:
            pytest.fail("\n".join(faults), pytrace=False)
        for text in told:
            warnings.warn(pytest.PytestWarning(text), stacklevel=1)

    def reportinfo(self) -> tuple[str, None, str]:
        """Where it is, for the report."""
        return "memory-provider", None, self.nodeid
