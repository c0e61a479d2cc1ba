"""`db digest` and `db diff`: what a store says, in one number, and where two say different things."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands import shapes
from hermes_state.commands.backup import archives
from hermes_state.commands.command import command
from hermes_state.commands.invocation import HAS_FINDINGS
from hermes_state.commands.plain import one_line
from hermes_state.commands.progress import progress
from hermes_state.commands.wording import count, listed

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation
    from hermes_state.copying.comparison import Difference

_MARKS = {"added": "+", "removed": "-", "changed": "~"}


@command(
    "digest",
    examples=(
        "hermes-state db digest",
        "hermes-state db digest --db 'postgresql+psycopg://ann@db/hermes?store=team'",
        "hermes-state db digest backup.tar.zst --json | jq -r .digest",
    ),
)
@click.argument("place", required=False)
@click.option("--anew", is_flag=True, help="Read every message, whatever earlier digests learned; keep what is found.")
@archives.trust_option
@archives.key_options
def digest(
    invocation: Invocation,
    place: str | None,
    anew: bool,
    trust_size: bool,
    identities: tuple[Path, ...],
    passphrase_file: Path | None,
) -> None:
    """Print the digest of all that a store says.

    That is sessions, messages, memories and facts. It is the same in every engine, and in an archive or pack of the
    same content; `docs/digest.md` defines it. PLACE is a store's file or URL, a home, or an archive. Default: the
    store. What was learned of a store's sessions is kept in it, so that the next digest reads only what is new.
    """
    from hermes_state.copying.digest import digests
    from hermes_state.portability.stored import content_of

    keys, limits = archives.keys(identities, passphrase_file), archives.limits(trust_size=trust_size)
    with (
        content_of(place or _own(invocation), keys=keys, limits=limits, anew=anew) as content,
        progress(invocation, "messages") as tell,
    ):
        every = digests(content, tell)
        not_kept = content.not_kept
    found = every.combined()
    if invocation.json:
        invocation.document(shapes.record(found) | {"read": every.read, "not_kept": not_kept or None})
        return
    invocation.say(found.digest)
    facts = count(found.facts.items, "fact or entity", "facts and entities")
    memories = count(found.memories.items, "memory", "memories")
    said = f"{count(found.sessions.items, 'session')} with {count(found.messages, 'message')}"
    invocation.note(f"{said}, {memories}, {facts}; {every.read:,} read anew")
    _note_problem(invocation, not_kept)


@command(
    "diff",
    examples=(
        "hermes-state db diff before.db after.db",
        "hermes-state db diff backup.tar.zst 'postgresql+psycopg://ann@db/hermes?store=team'",
    ),
)
@click.argument("before")
@click.argument("after", required=False)
@archives.trust_option
@archives.key_options
def diff(
    invocation: Invocation,
    before: str,
    after: str | None,
    trust_size: bool,
    identities: tuple[Path, ...],
    passphrase_file: Path | None,
) -> int | None:
    """Name what one store says otherwise than another.

    It names what AFTER says otherwise than BEFORE, down to the message. Either is a store's file or URL, a home, or an
    archive; AFTER is the store by default. Digests are used and kept as `db digest` does. Exits 1 when they differ.
    """
    from hermes_state.copying.comparison import differences
    from hermes_state.portability.stored import content_of

    keys, limits = archives.keys(identities, passphrase_file), archives.limits(trust_size=trust_size)
    with (
        content_of(before, keys=keys, limits=limits) as ours,
        content_of(after or _own(invocation), keys=keys, limits=limits) as theirs,
        progress(invocation, "messages") as tell,
    ):
        found = list(differences(ours, theirs, tell))
        problems = dict.fromkeys((ours.not_kept, theirs.not_kept))
    if invocation.json:
        invocation.document({"differences": [shapes.record(one) for one in found]})
    else:
        for one in found:
            invocation.say(_line(one))
        invocation.note(count(len(found), "difference") if found else "no difference")
        for problem in problems:
            _note_problem(invocation, problem)
    return HAS_FINDINGS if found else None


def _own(invocation: Invocation) -> str:
    """The store that the common options name."""
    return str(invocation.store)


def _note_problem(invocation: Invocation, not_kept: str) -> None:
    if not_kept:
        invocation.note(f"what was read is not kept for the next time: {one_line(not_kept)}")


def _line(one: Difference) -> str:
    where = "" if one.position is None else f"{one.position} of session "
    fields = f": {listed(one.fields)}" if one.fields else ""
    return f"{_MARKS[one.change.value]} {one.kind} {where}{one_line(one.name)}{fields}"
