"""`completion`: what a shell needs to complete the names of commands, options and sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands.command import command

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation

SHELLS = ("bash", "zsh", "fish")
# The program sets it for itself while it completes a word; the shell's script says so.
VARIABLE = "_HERMES_STATE_COMPLETE"
# Where each shell reads its script from, as a line to add.
INSTALL = {
    "bash": "echo 'eval \"$(hermes-state completion bash)\"' >> ~/.bashrc",
    "zsh": "echo 'eval \"$(hermes-state completion zsh)\"' >> ~/.zshrc",
    "fish": "hermes-state completion fish > ~/.config/fish/completions/hermes-state.fish",
}


@command("completion", examples=tuple(INSTALL.values()))
@click.argument("shell", type=click.Choice(SHELLS))
def completion(invocation: Invocation, shell: str) -> None:
    """Print a shell's completion script.

    It completes commands, options and the ids of sessions. Put the line for your shell, below, where it says.
    """
    from click.shell_completion import get_completion_class

    from hermes_state.commands import PROGRAM
    from hermes_state.commands.root import cli

    kind = get_completion_class(shell)
    assert kind is not None
    # The template and not `source()`, which starts a bash of its own only to ask for its version.
    made = kind(cli, {}, PROGRAM, VARIABLE)
    script = made.source_template % made.source_vars()
    if invocation.json:
        invocation.document({"shell": shell, "script": script, "install": INSTALL[shell]})
    else:
        invocation.say(script)
