"""Progress of long work: on stderr, and only where somebody watches."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hermes_state.commands.streams import is_plain, is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_state.commands.invocation import Invocation


@contextmanager
def progress(
    invocation: Invocation, what: str, *, writes_to_stdout: bool = False
) -> Iterator[Callable[[int, int], None]]:
    """A bar while the block runs; it is told (done, in all), and 0 in all when that can't be known.

    Silent with --json, when stderr is no terminal, and when the block writes to the same terminal.
    """
    if invocation.json or not is_terminal(sys.stderr) or (writes_to_stdout and is_terminal(sys.stdout)):
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, no_color=is_plain(no_color=invocation.no_color))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total or None)

        yield tell


def _silent(done: int, total: int) -> None:
    """Nobody watches."""


@contextmanager
def steps(invocation: Invocation) -> Iterator[Callable[[str], None]]:
    """A spinner with the name of the step that is under way; silent as `progress`."""
    if invocation.json or not is_terminal(sys.stderr):
        yield _silent_step
        return
    from rich.console import Console

    console = Console(stderr=True, no_color=is_plain(no_color=invocation.no_color))
    with console.status("") as status:
        yield lambda name: status.update(f"{name} …")


def _silent_step(name: str) -> None:
    """Nobody watches."""
