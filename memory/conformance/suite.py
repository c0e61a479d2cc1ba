"""The suite: every check against one provider, each in a fresh home."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memory.conformance.backup import CHECKS as BACKUP
from memory.conformance.checkpoint import CHECKS as CHECKPOINT
from memory.conformance.contract import CHECKS as CONTRACT
from memory.conformance.hooks import CHECKS as HOOKS
from memory.conformance.ingest import CHECKS as INGEST
from memory.conformance.lifecycle import CHECKS as LIFECYCLE
from memory.conformance.report import Finding, Report
from memory.conformance.sessions import CHECKS as SESSIONS
from memory.conformance.subject import DEADLINE_S, Skip, Subject, name_of, private_world
from memory.conformance.threads import CHECKS as THREADS
from memory.conformance.tools import CHECKS as TOOLS
from memory.conformance.unicode import CHECKS as UNICODE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memory.conformance.probe import Check

AREAS: dict[str, Sequence[Check]] = {
    "contract": CONTRACT,
    "lifecycle": LIFECYCLE,
    "hooks": HOOKS,
    "tools": TOOLS,
    "unicode": UNICODE,
    "threads": THREADS,
    "ingest": INGEST,
    "sessions": SESSIONS,
    "backup": BACKUP,
    "checkpoint": CHECKPOINT,
}


class Result(NamedTuple):
    """What one check gave: its findings, or why it was not made."""

    check: str
    findings: tuple[Finding, ...] = ()
    skipped: str = ""


def names() -> list[str]:
    """All checks, as `area.what`."""
    return [f"{area}.{check.__name__}" for area, checks in AREAS.items() for check in checks]


def run(
    make: Callable[[], object],
    *,
    only: Sequence[str] = (),
    deadline_s: float = DEADLINE_S,
    seed_home: Path | None = None,
    on_result: Callable[[Result], None] | None = None,
) -> Report:
    """Hold a provider to the rules.

    Args:
        make: gives a new provider each time it is called.
        only: areas or checks; empty: all.
        deadline_s: seconds each hook may take.
        seed_home: a folder whose `config.yaml` and `.env` each fresh home gets, for a provider that needs settings.
        on_result: hears of each check as it ends.
    """
    results = []
    for result in _results(make, only, deadline_s, seed_home):
        results.append(result)
        if on_result is not None:
            on_result(result)
    return Report(
        provider=name_of(make()),
        findings=tuple(finding for result in results for finding in result.findings),
        passed=tuple(result.check for result in results if not result.findings and not result.skipped),
        skipped={result.check: result.skipped for result in results if result.skipped},
    )


def run_check(
    make: Callable[[], object],
    name: str,
    *,
    deadline_s: float = DEADLINE_S,
    seed_home: Path | None = None,
    known: dict[str, str] | None = None,
) -> Result:
    """One check, by its name.

    Args:
        known: what earlier checks of the same provider learned about it, so that it need not be tried again.
    """
    area, _, what = name.partition(".")
    check = next(check for check in AREAS[area] if check.__name__ == what)
    with tempfile.TemporaryDirectory(prefix="memory-check-", ignore_cleanup_errors=True) as folder:
        with private_world(Path(folder)) as home:
            if seed_home is not None:
                _seed(seed_home, home)
            subject = Subject(make, home, deadline_s=deadline_s, known=known)
            try:
                found = tuple(check(subject))
            except Skip as reason:
                return Result(name, skipped=str(reason))
            finally:
                subject.end_all()
        return Result(name, tuple(Finding(rule=rule, found=text, check=name) for rule, text in found))


def _results(
    make: Callable[[], object], only: Sequence[str], deadline_s: float, seed_home: Path | None
) -> Iterator[Result]:
    known: dict[str, str] = {}
    for name in names():
        if not only or name in only or name.partition(".")[0] in only:
            yield run_check(make, name, deadline_s=deadline_s, seed_home=seed_home, known=known)


def _seed(source: Path, home: Path) -> None:
    for name in ("config.yaml", ".env"):
        if (source / name).is_file():
            shutil.copy2(source / name, home / name)
