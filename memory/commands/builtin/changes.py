"""`memory add`, `replace`, `remove`, `undo`: changes of the files, each of which can be taken back."""

from __future__ import annotations

import sys
from dataclasses import replace as with_fields
from typing import TYPE_CHECKING

import click

from hermes_state.commands.command import command
from hermes_state.commands.invocation import NOT_CONFIRMED
from hermes_state.commands.plain import one_line
from memory.commands.builtin.opening import ORIGIN, located, opened, target_option

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation
    from memory.builtin import BuiltinMemory, Outcome

_STDIN = "-"


@command(
    "add",
    examples=(
        'hermes-state memory add "The deploy host is db-07" --tag ops',
        'hermes-state memory add --target user "喜欢简短的回答"',
        "git config user.name | hermes-state memory add --target user -",
    ),
)
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
@target_option
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag for the entry; may be repeated.")
def add(invocation: Invocation, words: tuple[str, ...], target: str | None, tags: tuple[str, ...]) -> None:
    """Add an entry; - reads it from standard input.

    Without --target it goes to MEMORY.md. An entry that is there already is not added again.
    """
    from memory.builtin import Operation
    from memory.builtin.changes import tags_of

    with opened(invocation, writes=True) as memory:
        operation = Operation(action="add", target=target or "memory", content=_text(words), tags=tags_of(tags or None))
        tell(invocation, memory.apply([operation], origin=ORIGIN))


@command(
    "replace",
    examples=(
        'hermes-state memory replace "Editor: vim" "Editor: helix"',
        'hermes-state memory replace 496a0fa21c6c "Shell: fish"',
    ),
)
@click.argument("what")
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
@target_option
def replace(invocation: Invocation, what: str, words: tuple[str, ...], target: str | None) -> None:
    """Replace text of an entry.

    WHAT is the text to replace, and only that is replaced; or the entry's id, which replaces all of it. - as TEXT reads
    standard input.
    """
    with opened(invocation, writes=True) as memory:
        _, operation = located(memory, what, target, action="replace")
        tell(invocation, memory.apply([with_fields(operation, content=_text(words))], origin=ORIGIN))


@command(
    "remove",
    examples=(
        'hermes-state memory remove "deploy host"',
        "hermes-state memory remove 496a0fa21c6c --archive",
        "hermes-state memory remove 496a0fa21c6c --forget --yes",
    ),
)
@click.argument("what")
@target_option
@click.option("--archive", is_flag=True, help="It is still true, and only leaves the prompt; recall still finds it.")
@click.option("--forget", is_flag=True, help="Delete it with its history. This can't be undone.")
@click.option("--yes", is_flag=True, help="Don't ask before forgetting.")
def remove(invocation: Invocation, what: str, target: str | None, archive: bool, forget: bool, yes: bool) -> int | None:
    """Take an entry out of its file.

    WHAT is the entry's id or a text in it. Search still finds it and `memory undo` brings it back, unless --forget; an
    entry that is not in a file any more is forgotten by its id.
    """
    if archive and forget:
        raise click.UsageError("--archive and --forget exclude each other")
    with opened(invocation, writes=True) as memory:
        if forget:
            return _forget(invocation, memory, what, target, yes=yes)
        _, operation = located(memory, what, target, action="archive" if archive else "remove")
        tell(invocation, memory.apply([operation], origin=ORIGIN))
    return None


def _forget(invocation: Invocation, memory: BuiltinMemory, what: str, target: str | None, *, yes: bool) -> int | None:
    from memory.commands.builtin import shapes
    from memory.errors import EntryNotFound

    try:
        _, operation = located(memory, what, target, action="remove")
        name = memory.find(operation)
    except EntryNotFound:
        name = memory.named(what).id  # it left the files
    found = memory.named(name)
    invocation.note(f"{found.id} {found.target}: {one_line(found.text)}")
    if not invocation.confirm("Forget it, with its history?", yes=yes):
        invocation.note("nothing was forgotten")
        return NOT_CONFIRMED
    memory.forget(name)
    if invocation.json:
        invocation.document({"forgotten": shapes.memory(found)})
    else:
        invocation.note(f"forgot {found.id}; `hermes-state db purge` also takes the text out of the files")
    return None


@command("undo", examples=("hermes-state memory undo", "hermes-state memory undo c701ebcd7cff"))
@click.argument("batch", required=False, metavar="[BATCH]")
def undo(invocation: Invocation, batch: str | None) -> None:
    """Take back the last change, or the one that BATCH names.

    `memory history` shows the batches. An undo can be undone by its own batch.
    """
    with opened(invocation, writes=True) as memory:
        tell(invocation, memory.undo(batch, origin=ORIGIN))


def _text(words: tuple[str, ...]) -> str:
    return sys.stdin.read() if words == (_STDIN,) else " ".join(words)


def tell(invocation: Invocation, outcome: Outcome) -> None:
    """Say what a write did."""
    from memory.commands.builtin import shapes

    if invocation.json:
        invocation.document(shapes.outcome(outcome))
        return
    for done in outcome.changes:
        texts = " → ".join(one_line(text) for text in (done.previous, done.content) if text)
        invocation.note(f"{done.action} {done.id} {done.target}: {texts}")
    for note in (*outcome.notes, *outcome.warnings):
        invocation.note(one_line(note))
    for name, usage in outcome.usage.items():
        if usage.is_nearly_full:
            invocation.note(f"{name} is nearly full: {usage}")
    if outcome.degraded:
        invocation.note(f"the history will be noted later: {outcome.degraded}")
