"""`memory facts stats`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.progress import progress
from memory.commands.facts.opening import opened

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation
    from memory.providers.holographic.statistics import FactStatistics


@command(
    "stats",
    examples=("hermes-state memory facts stats", "hermes-state memory facts stats --json | jq .banks"),
)
def stats_command(invocation: Invocation) -> None:
    """Show trust, categories, banks and doubles.

    How far facts are trusted, what they are about, how full the banks are, and what is there twice.
    """
    from memory.providers.holographic.statistics import collect

    with opened(invocation) as facts:
        with progress(invocation, "comparing") as tell:
            facts.store.conflicts.catch_up(tell)
        with progress(invocation, "banks") as tell:
            facts.store.banks.catch_up(tell)
        numbers = collect(facts.store)
        place = facts.place
    if invocation.json:
        invocation.document({"store": place} | _document(numbers))
        return
    from memory.commands.facts.stats_view import show

    show(invocation, place, numbers)


def _document(numbers: FactStatistics) -> dict[str, Any]:
    document: dict[str, Any] = shapes.record(numbers)
    steps = len(numbers.trust)
    document["trust"] = [
        {"from": step / steps, "to": (step + 1) / steps, "facts": held} for step, held in enumerate(numbers.trust)
    ]
    return document
