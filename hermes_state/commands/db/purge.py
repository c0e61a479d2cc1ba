"""`db purge`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.invocation import HAS_FINDINGS, NOT_CONFIRMED
from hermes_state.commands.plain import one_line
from hermes_state.commands.progress import steps
from hermes_state.commands.wording import count, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_state.commands.invocation import Invocation
    from hermes_state.maintenance import Purged
    from hermes_state.maintenance.sizes import Copy


@command("purge", examples=("hermes-state db purge", "hermes-state db purge --find zqcanary7f3a91 --yes"))
@click.option("--find", "words", multiple=True, metavar="WORD", help="Then look for this in every file of the home.")
@click.option("--while-open", is_flag=True, help="Also when other processes have the store open; their writes wait.")
@click.option("--yes", is_flag=True, help="Don't ask before older copies of the store are removed.")
def purge(invocation: Invocation, words: tuple[str, ...], while_open: bool, yes: bool) -> int | None:
    """Take what was deleted out of the files, too.

    Rewrites the index and the file, empties the write-ahead log and removes older copies of the store: snapshots of
    upgrades, salvaged ones. Exits 1 when the log could not be emptied or a word is still found. On a server it rewrites
    the tables of all stores of the database, which can't be used meanwhile, as the role that owns them; the server's
    own log and its backups keep what was deleted until they age, so it exits 1.
    """
    from hermes_state.maintenance.sizes import copies_of

    if not all(words):
        raise click.UsageError("--find needs a word to look for")
    with invocation.open_store() as db:
        copies = [] if invocation.is_on_server else copies_of(db.path)
        if copies and not _agreed(invocation, copies, yes=yes):
            invocation.note("nothing was changed")
            return NOT_CONFIRMED
        with steps(invocation) as tell:
            tell("rewriting the file")
            done = db.maintenance.purge(words=words, while_open=while_open)
    if invocation.json:
        invocation.document({"complete": done.is_complete} | shapes.record(done))
    else:
        _tell(invocation, done)
    return None if done.is_complete else HAS_FINDINGS


def _agreed(invocation: Invocation, copies: Sequence[Copy], *, yes: bool) -> bool:
    for copy in copies:
        invocation.note(f"{one_line(str(copy.path))}  {size(copy.bytes)}")
    return invocation.confirm(f"Remove {count(len(copies), 'older copy', 'older copies')} of the store?", yes=yes)


def _tell(invocation: Invocation, done: Purged) -> None:
    removed = f", {count(len(done.removed), 'older copy', 'older copies')} removed" if done.removed else ""
    invocation.say(f"{size(done.before.total)} before, {size(done.after.total)} now{removed}")
    if not done.wal_emptied and invocation.is_on_server:
        invocation.note("gone from the tables; the server's log and its backups hold it until they age")
    elif not done.wal_emptied:
        invocation.note("the write-ahead log could not be emptied: another process reads; run it again later")
    for word, places in done.found.items():
        for place in places:
            invocation.say(f"{one_line(word)} is in {one_line(str(place))}")
        if not places:
            invocation.note(f"{one_line(word)} is in no file of the home")
