"""`sessions resume`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.sessions.references import REF

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation


@command(
    "resume",
    examples=(
        'hermes-state sessions resume "redis deploy"',
        'my-agent --resume "$(hermes-state sessions resume 20260720_1011)"',
    ),
)
@click.argument("ref", type=REF)
def resume(invocation: Invocation, ref: str) -> None:
    """Print the id of the session to go on in.

    Any earlier segment, the start of an id or a title leads there.
    """
    with invocation.open_store(only_reads=True) as db:
        session = db.sessions.resume(ref)
        previews = db.sessions.previews([session.id]) if invocation.json else {}
    if invocation.json:
        invocation.document({"session": shapes.session(session, previews.get(session.id))})
    else:
        invocation.say(session.id)
