"""`db reindex`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hermes_state.commands.command import command
from hermes_state.commands.progress import progress
from hermes_state.commands.wording import count

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation


@command("reindex", examples=("hermes-state db reindex",))
def reindex(invocation: Invocation) -> None:
    """Build the full-text index anew.

    It is made from the messages, in short steps; others read and write meanwhile. When it is stopped, the next search
    goes on with it. The small one of curated memories is made anew as well.
    """
    from hermes_state import memory_index
    from hermes_state.messages import ANY_STATE  # with the store, which `--help` does without

    started = time.monotonic()
    with invocation.open_store() as db:
        with progress(invocation, "indexing") as tell:
            db.index.rebuild(progress=tell)
        with db.engine.write() as connection:
            memory_index.rebuild(connection)
        messages, pending = db.messages.count(states=ANY_STATE), db.index.pending()
    took = time.monotonic() - started
    if invocation.json:
        invocation.document({"messages": messages, "pending": pending, "duration_s": took})
    else:
        invocation.say(f"{count(messages, 'message')} indexed in {took:.1f} s")
