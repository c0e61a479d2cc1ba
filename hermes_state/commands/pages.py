"""Pages of numbers to look at: what they are printed on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation

# Columns in a pipe, where nobody says how wide the paper is.
PIPE_WIDTH = 100


class _Page(Console):
    def on_broken_pipe(self) -> None:
        """As every other command when `head` has read enough; rich would end the program with an error."""
        raise BrokenPipeError


def page(invocation: Invocation) -> Console:
    """A console on stdout that prints texts as they are, with styles where the command line has them."""
    return _Page(
        file=sys.stdout,
        width=invocation.width or PIPE_WIDTH,
        no_color=not invocation.color,
        force_terminal=invocation.color,
        highlight=False,
        emoji=False,
        markup=False,
        soft_wrap=True,
    )
