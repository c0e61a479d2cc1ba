"""The command line: `hermes-state`."""

from __future__ import annotations

import errno
import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "hermes-state"
# As shells count: 128 and the signal's number.
BROKEN_PIPE = 128 + 13
# [objects] made since the last search for cycles. The imports alone reach Python's 700 a hundred times; most commands
# never reach this.
_COLLECTED_AT = 200_000


def main() -> None:
    """The console script."""
    gc.set_threshold(_COLLECTED_AT)
    code = run([_as_typed(arg) for arg in sys.argv[1:]])
    gc.freeze()  # the system takes all memory back at once: nothing needs to be searched for cycles any more
    sys.exit(code)


def _as_typed(arg: str) -> str:
    """An argument in UTF-8, also where the locale (`LC_ALL=C`) says that there is only ASCII."""
    if not any("\udc80" <= c <= "\udcff" for c in arg):
        return arg
    return os.fsencode(arg).decode("utf-8", "surrogateescape")


def run(args: Sequence[str]) -> int:
    """One run of the command line; returns its exit code.

    Everything that can be raised ends here, and nowhere before: as words or JSON on stderr, and an exit code.
    """
    if sys.stderr is None:  # started with `2>&-`: there is nobody to tell anything
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  for good
    try:
        _never_fail_to_encode()
        code = _invoke(args)
        sys.stdout.flush()
    except BrokenPipeError:
        _close_quietly()
        return BROKEN_PIPE
    except BaseException as error:  # noqa: BLE001  the seam: whatever happened is told to the caller
        from hermes_state.commands import failures

        return failures.report(error, args)
    return code


def _invoke(args: Sequence[str]) -> int:
    """Find the command and run it. Not click's own `main`, which decides exit codes by itself."""
    from click.exceptions import Exit

    from hermes_state.commands.completion import VARIABLE
    from hermes_state.commands.invocation import Invocation
    from hermes_state.commands.root import cli

    if instruction := os.environ.get(VARIABLE):
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, PROGRAM, VARIABLE, instruction)
    try:
        with cli.make_context(PROGRAM, list(args), obj=Invocation()) as context:
            result = cli.invoke(context)
    except Exit as done:
        return done.exit_code
    return result if isinstance(result, int) else 0


def _never_fail_to_encode() -> None:
    """Text in any script goes to a stream of any encoding; what that can't hold becomes `?`, never an error."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _close_quietly() -> None:
    """The reader went away (`| head`): nothing is left to say, and the interpreter's last flush must not say it."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
