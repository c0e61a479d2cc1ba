"""`memory check`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.invocation import HAS_FINDINGS
from hermes_state.commands.plain import one_line
from hermes_state.commands.table import DIM, bold_in, paint
from hermes_state.commands.wording import count
from memory.commands.plugin_output import plugin_output_on_stderr

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_state.commands.invocation import Invocation
    from memory.conformance import Finding, Report, Result


@command(
    "check",
    examples=(
        "hermes-state memory check holographic",
        "hermes-state memory check my_package.memory:MyProvider --only contract --only hooks",
        "hermes-state memory check mem0 --with-config --json",
    ),
)
@click.argument("name")
@click.option("--only", multiple=True, metavar="AREA", help="Only an area or a check, e.g. `tools`; may be repeated.")
@click.option(
    "--deadline",
    type=click.FloatRange(min=0.1),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a hook may take.",
)
@click.option(
    "--with-config", is_flag=True, help="Give it the config.yaml and .env of the home: it may reach real accounts."
)
def check(invocation: Invocation, name: str, only: tuple[str, ...], deadline: float, with_config: bool) -> int | None:
    """Hold a memory provider to its contract.

    NAME is a provider's name, or module:attribute of its class or of a function that makes it. Each check runs on a new
    instance in a fresh, empty home. Findings have a stable name and say what to change; see docs/providers.md. Exits 1
    when something but a warning was found.
    """
    from memory.conformance import names, run

    known = {area for check in names() for area in (check, check.partition(".")[0])}
    if unknown := [each for each in only if each not in known]:
        raise click.UsageError(f"there is no check {unknown[0]!r}; there are {', '.join(sorted(known))}")
    with plugin_output_on_stderr():
        report = run(
            _maker(invocation, name, deadline),
            only=only,
            deadline_s=deadline,
            seed_home=invocation.home_path() if with_config else None,
            on_result=lambda result: _say_result(invocation, result),
        )
    if invocation.json:
        invocation.document(_document(report))
    else:
        _say_findings(invocation, report)
    return None if report.is_conformant else HAS_FINDINGS


def _maker(invocation: Invocation, name: str, deadline_s: float) -> Callable[[], object]:
    """A function that makes the provider; that it can be made at all is proved here."""
    if name == "builtin":
        from memory.builtin import BuiltinMemory, BuiltinProvider

        return lambda: BuiltinProvider(BuiltinMemory(Path(os.environ.get("HERMES_HOME", invocation.home_path()))))
    from memory.discovery import Discovery
    from memory.manager.loading import load_in_time

    home = invocation.home_path()
    discovery = Discovery(home)
    load_in_time(discovery, name, home=home, deadline_s=deadline_s)
    return lambda: discovery.load(name)


def _say_result(invocation: Invocation, result: Result) -> None:
    if result.skipped:
        invocation.note(f"– {result.check}: {one_line(result.skipped)}")
    elif not result.findings:
        invocation.note(f"✓ {result.check}")
    else:
        invocation.note(f"✗ {result.check}: {count(len(result.findings), 'finding')}")


def _say_findings(invocation: Invocation, report: Report) -> None:
    for finding in report.findings:
        _say_finding(invocation, finding)
    errors = sum(not finding.is_warning for finding in report.findings)
    passed, warnings = len(report.passed), len(report.findings) - errors
    parts = [count(errors, "fault") if errors else f"keeps the contract; {count(passed, 'check')} passed"]
    if warnings:
        parts.append(count(warnings, "warning"))
    invocation.note(f"{one_line(report.provider)}: {', '.join(parts)}")


def _say_finding(invocation: Invocation, finding: Finding) -> None:
    color = "yellow" if finding.is_warning else "red"
    word = "warning" if finding.is_warning else "fault"
    invocation.say(f"{paint(word, bold_in(color))} {finding.rule}: {one_line(finding.found)}")
    invocation.say(f"    {paint(f'why: {finding.breaks}', DIM)}")
    invocation.say(f"    {paint(f'fix: {finding.fix}', (('fg', 'cyan'),))}")


def _document(report: Report) -> dict[str, object]:
    findings = [
        {name: shapes.plain(getattr(finding, name)) for name in ("rule", "check", "found", "breaks", "fix")}
        | {"severity": "warning" if finding.is_warning else "fault"}
        for finding in report.findings
    ]
    return {
        "provider": report.provider,
        "conformant": report.is_conformant,
        "findings": findings,
        "passed": list(report.passed),
        "skipped": report.skipped,
    }
