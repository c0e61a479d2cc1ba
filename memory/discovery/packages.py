"""Providers of installed distributions, by their entry points. Nothing is imported to list them."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from memory.discovery.found import Candidate, Found, Source, State

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import EntryPoint

GROUP = "hermes_agent.memory_providers"
# Groups that packages use by mistake; no host looks there.
MISTAKEN_GROUPS = ("hermes.memory_provider", "hermes.memory_providers", "hermes_agent.memory_provider")
# Plug-ins of every kind; some that bring a memory provider declare nothing else.
GENERAL_GROUP = "hermes_agent.plugins"


def package_candidates() -> Iterator[Candidate]:
    """Entry points of the right group, then those of groups in which providers were put by mistake.

    Of the latter, those whose distribution has one of the right group as well are left out.
    """
    right = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    for entry in right:
        yield _candidate(entry)
    proper = {_distribution(entry) for entry in right} - {""}
    for group in (*MISTAKEN_GROUPS, GENERAL_GROUP):
        for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
            if _distribution(entry) not in proper:
                yield _misplaced(entry)


def _candidate(entry: EntryPoint, *, state: State = State.READY, reason: str = "", hint: str = "") -> Candidate:
    distribution = _distribution(entry)
    version = (entry.dist.version or "") if entry.dist else ""
    found = Found(
        name=entry.name,
        source=Source.PACKAGE,
        origin=f"{distribution or 'unknown'} {version} ({entry.value})".replace("  ", " "),
        state=state,
        reason=reason,
        hint=hint,
        version=version,
        description=_summary(entry),
        distribution=distribution,
    )
    return Candidate(found=found, open=entry.load)


def _misplaced(entry: EntryPoint) -> Candidate:
    if entry.group == GENERAL_GROUP:
        reason = f"declared in the entry-point group {GENERAL_GROUP!r} alone: it may bring no memory provider"
    else:
        reason = f"declared in the entry-point group {entry.group!r}, where no host looks"
    hint = f"name it in `memory.provider` to use it all the same; its author should declare it in {GROUP!r}"
    return _candidate(entry, state=State.IGNORED, reason=reason, hint=hint)


def _summary(entry: EntryPoint) -> str:
    return str(entry.dist.metadata["Summary"] or "") if entry.dist and "Summary" in entry.dist.metadata else ""


def _distribution(entry: EntryPoint) -> str:
    return (entry.dist.name or "") if entry.dist else ""
