"""`memory facts list`, `search`, `about`, `contradictions`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands.command import command
from hermes_state.commands.invocation import FOUND_NOTHING
from hermes_state.commands.plain import one_line
from hermes_state.commands.progress import progress
from hermes_state.commands.table import DIM, Cell, Column
from hermes_state.commands.values import limit_option
from memory.commands.facts.opening import TRUST, opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_state.commands.invocation import Invocation
    from memory.providers.holographic.records import Fact, Hit

# What `--limit 0` means: more is no answer to read.
_EVERY = 10_000
_COLUMNS = (
    Column(head="ID", right=True),
    Column(head="TRUST", right=True),
    Column(head="CATEGORY", most=12, from_width=60),
    Column(head="VIA", most=20),
    Column(head="FACT"),
)
_jsonl = click.option("--jsonl", is_flag=True, help="JSON Lines: a fact a line.")
_category = click.option("--category", metavar="NAME", help="Only facts of this category.")


@command(
    "list",
    examples=(
        "hermes-state memory facts list --category user_pref",
        "hermes-state memory facts list --min-trust 0.6 --json | jq -r '.facts[].content'",
    ),
)
@_category
@click.option("--min-trust", type=TRUST, default=0.0, metavar="TRUST", help="Only facts trusted so far, 0 to 1.")
@click.option("--superseded", is_flag=True, help="Also those whose place another fact took.")
@limit_option
@_jsonl
def list_command(
    invocation: Invocation, category: str | None, min_trust: float, superseded: bool, limit: int, jsonl: bool
) -> None:
    """List facts, the most trusted first."""
    from memory.providers.holographic.tools import fact_shape

    with opened(invocation, only_reads=True) as facts:
        found = facts.store.list(category=category, min_trust=min_trust, limit=limit or _EVERY, superseded=superseded)
    if jsonl:
        invocation.stream(fact_shape(fact) for fact in found)
        return
    if invocation.json:
        invocation.document({"facts": [fact_shape(fact) for fact in found], "count": len(found)})
        return
    _show(invocation, [(fact, "") for fact in found])
    if not found:
        invocation.note("there are no facts")


@command(
    "search",
    examples=(
        "hermes-state memory facts search who maintains redis",
        "hermes-state memory facts search 谁负责净值报表 --json",
    ),
)
@click.argument("words", nargs=-1, required=True, metavar="QUESTION...")
@_category
@click.option("--min-trust", type=TRUST, metavar="TRUST", help="Leave out facts trusted less. Default: the home's.")
@limit_option
@_jsonl
def search_command(
    invocation: Invocation,
    words: tuple[str, ...],
    category: str | None,
    min_trust: float | None,
    limit: int,
    jsonl: bool,
) -> int | None:
    """Find the facts that answer a question.

    In any script. Exits 1 when none does.
    """
    from memory.providers.holographic.retrieval import Retrieval

    with opened(invocation, only_reads=True) as facts:
        retrieval = Retrieval(facts.store, facts.settings.retrieval)
        least = facts.settings.min_trust_threshold if min_trust is None else min_trust
        hits = retrieval.search(" ".join(words), category=category, min_trust=least, limit=limit or _EVERY)
    return _answer(invocation, hits, jsonl=jsonl)


@command(
    "about",
    examples=('hermes-state memory facts about "Alice Novak"', "hermes-state memory facts about Alice redis --json"),
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_category
@limit_option
@_jsonl
def about_command(
    invocation: Invocation, names: tuple[str, ...], category: str | None, limit: int, jsonl: bool
) -> int | None:
    """Show what is known about somebody or something.

    Each argument is one name; of several it shows what connects them. Exits 1 when nothing is known.
    """
    from memory.providers.holographic.association import Association

    with opened(invocation, only_reads=True) as facts:
        association = Association(facts.store, facts.settings.temporal_decay_half_life)
        most = limit or _EVERY
        if len(names) > 1:
            hits = association.reason(names, category=category, limit=most)
        else:
            hits, _ = association.related(names[0], category=category, limit=most)
    return _answer(invocation, hits, jsonl=jsonl)


@command(
    "contradictions",
    examples=("hermes-state memory facts contradictions", "hermes-state memory facts contradictions --json"),
)
@_category
@limit_option
def contradictions_command(invocation: Invocation, category: str | None, limit: int) -> int | None:
    """Show facts that can't both be true.

    In pairs, the surest first. Exits 1 when there are some. Nothing is changed: say which one holds by removing the
    other, or let it supersede the other.
    """
    from memory.providers.holographic.tools import conflict_shape

    with opened(invocation) as facts:
        with progress(invocation, "comparing") as tell:
            facts.store.conflicts.catch_up(tell)
        pairs = facts.store.contradictions(category=category, limit=limit or _EVERY).pairs
    if invocation.json:
        invocation.document({"contradictions": [conflict_shape(*pair) for pair in pairs], "count": len(pairs)})
    for conflict, older, newer in () if invocation.json else pairs:
        invocation.say(f"{conflict.kind}, {conflict.confidence:.0%} sure: {one_line(conflict.reason)}")
        invocation.say(f"  older {older.id}: {one_line(older.content)}")
        invocation.say(f"  newer {newer.id}: {one_line(newer.content)}")
    if not pairs:
        invocation.note("no facts contradict each other")
    return FOUND_NOTHING if pairs else None


def _answer(invocation: Invocation, hits: Sequence[Hit], *, jsonl: bool) -> int | None:
    from memory.providers.holographic.tools import hit_shape

    if jsonl:
        invocation.stream(hit_shape(hit) for hit in hits)
    elif invocation.json:
        invocation.document({"results": [hit_shape(hit) for hit in hits], "count": len(hits)})
    else:
        _show(invocation, [(hit.fact, hit.via) for hit in hits])
        if not hits:
            invocation.note("nothing found")
    return None if hits else FOUND_NOTHING


def _show(invocation: Invocation, found: Sequence[tuple[Fact, str]]) -> None:
    rows = [
        (
            Cell(str(fact.id), DIM),
            f"{fact.trust:.2f}",
            Cell(one_line(fact.category), DIM),
            one_line(via),
            one_line(fact.content),
        )
        for fact, via in found
    ]
    if rows:
        invocation.table(_COLUMNS, rows)
