"""`memory facts add`, `import`, `rebuild`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hermes_state.commands.command import command
from hermes_state.commands.progress import progress
from hermes_state.commands.wording import count
from memory.commands.facts.opening import TRUST, opened

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation


@command(
    "add",
    examples=(
        'hermes-state memory facts add "Dana maintains the redis cluster" --tag infra --tag oncall',
        "cat facts.txt | hermes-state memory facts add -",
    ),
)
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
@click.option("--category", default="general", show_default=True, metavar="NAME", help="What kind of fact it is.")
@click.option("--tag", "--tags", "tags", multiple=True, metavar="TAG", help="A tag, or some with commas between.")
@click.option("--trust", type=TRUST, metavar="TRUST", help="0 to 1. Default: the home's.")
def add_command(
    invocation: Invocation, words: tuple[str, ...], category: str, tags: tuple[str, ...], trust: float | None
) -> None:
    """Add a fact; - reads one a line from standard input.

    One that is there already stays as it is. Words need no quotes.
    """
    from memory.providers.holographic.records import NewFact

    lines = [line for line in sys.stdin if line.strip()] if words == ("-",) else [" ".join(words)]
    with opened(invocation, create=True) as facts:
        facts.store.index.ensure()
        added = facts.store.add_many(
            NewFact(content=line, category=category, tags=",".join(tags), trust=trust, source="command")
            for line in lines
        )
    if invocation.json:
        invocation.document({"facts": [{"fact_id": each.fact_id, "new": each.is_new} for each in added]})
        return
    new = sum(each.is_new for each in added)
    known = f", {len(added) - new:,} known already" if len(added) > new else ""
    invocation.say(f"{count(new, 'fact')} added{known}" if len(added) != 1 else _one(added[0].fact_id, bool(new)))


def _one(fact_id: int, is_new: bool) -> str:
    return f"fact {fact_id} added" if is_new else f"fact {fact_id} says so already"


@command(
    "import",
    examples=(
        "hermes-state memory facts import",
        "hermes-state memory facts import /mnt/old-laptop/.hermes --json",
    ),
)
@click.argument("path", type=click.Path(path_type=Path), required=False)
def import_command(invocation: Invocation, path: Path | None) -> None:
    """Take over the facts of a Hermes home.

    PATH is a home or its memory_store.db; without it, the home's own. It is only read. Run it again to take over what
    is new; what was removed here stays removed.
    """
    from hermes_state.commands import shapes
    from hermes_state.errors import StoreUnavailable
    from memory.providers.holographic.importing import import_facts, peer_store

    with opened(invocation, create=True) as facts:
        place = peer_store(path or facts.settings.db_path)
        if place is None:
            raise StoreUnavailable(
                f"{path or facts.settings.db_path} has no facts of a Hermes agent",
                hint="give the path of the home, or of its memory_store.db",
            )
        facts.store.index.ensure()
        with progress(invocation, "importing") as tell:
            report = import_facts(facts.store, place, progress=tell)
    if invocation.json:
        invocation.document({"import": shapes.record(report)})
        return
    changed = f", {count(report.changed, 'fact')} brought up to date" if report.changed else ""
    what = f"{count(report.added, 'fact')} added{changed}" if report.added or changed else "nothing new"
    invocation.say(f"{report.origin}: {what} of {count(report.found, 'fact')}")
    if report.skipped:
        invocation.note(f"  {count(report.skipped, 'row')} without content left out")


@command(
    "rebuild",
    examples=("hermes-state memory facts rebuild", "hermes-state memory facts rebuild --dim 2048"),
)
@click.option("--dim", type=int, metavar="N", help="Phases of a vector. Default: hrr_dim of the home.")
def rebuild_command(invocation: Invocation, dim: int | None) -> None:
    """Make everything derived from facts again.

    That is the full-text index, links to entities, vectors, banks and comparisons. Facts can be used meanwhile. When it
    is stopped, the next run goes on where it was.
    """
    from memory.providers.holographic.rebuilding import rebuild_all_vectors

    with opened(invocation) as facts:
        with progress(invocation, "vectors") as tell:
            done = rebuild_all_vectors(facts.store, dim, progress=tell)
        with progress(invocation, "index") as tell:
            facts.store.index.rebuild(tell)
        with progress(invocation, "comparing") as tell:
            facts.store.conflicts.catch_up(tell)
        with progress(invocation, "banks") as tell:
            facts.store.banks.catch_up(tell)
        if invocation.json:
            invocation.document({"facts": done, "dim": facts.store.dim})
        else:
            invocation.say(f"{count(done, 'fact')} done, vectors of {facts.store.dim:,} phases")
