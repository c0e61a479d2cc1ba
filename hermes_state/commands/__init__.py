"""The command line: `hermes-state`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "hermes-state"


def main() -> None:
    """The console script."""
    sys.exit(run(sys.argv[1:]))


def run(args: Sequence[str]) -> int:
    """One run of the command line; returns its exit code.

    Everything that can be raised ends here, and nowhere before: as words or JSON on stderr, and an exit code.
    """
    from hermes_state.commands import failures
    from hermes_state.commands.invocation import Invocation
    from hermes_state.commands.root import cli

    _never_fail_to_encode()
    options = list(args[: args.index("--")] if "--" in args else args)
    try:
        result = cli.main(list(args), PROGRAM, standalone_mode=False, obj=Invocation())
        sys.stdout.flush()
    except BrokenPipeError:
        _close_quietly()
        return failures.BROKEN_PIPE
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001  the seam: whatever happened is told to the caller
        return failures.report(error, as_json="--json" in options, plain="--no-color" in options)
    return result if isinstance(result, int) else failures.DONE


def _never_fail_to_encode() -> None:
    """Text in any script goes to a stream of any encoding; what that can't hold becomes `?`, never an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _close_quietly() -> None:
    """The reader went away (`| head`): nothing is left to say, and the interpreter's last flush must not say it."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
