"""A reference to a session as an argument, with its completion in the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation

# More than a screen of suggestions helps nobody.
_MOST = 50


class SessionReference(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A session's id, the start of one, or a title; the store says which session that is."""

    name = "ref"

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002  click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        """Ids of the latest conversations with their titles. An unusable store just gives no suggestions."""
        from hermes_state.commands.invocation import Invocation
        from hermes_state.errors import HermesStateError

        try:
            return _suggestions(ctx.find_object(Invocation) or Invocation(), incomplete)
        except HermesStateError:  # a shell that completes a word has no place for an error
            return []


def _suggestions(invocation: Invocation, incomplete: str) -> list[CompletionItem]:
    from hermes_state.commands.plain import one_line

    with invocation.open_store(read_only=True) as db:
        found = db.sessions.list(limit=500)
    return [
        CompletionItem(session.id, help=one_line(session.title or session.source))
        for session in found
        if session.id.startswith(incomplete)
    ][:_MOST]


REF = SessionReference()
