"""The one place where an error becomes words (or JSON) on stderr and an exit code."""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from hermes_state.commands.plain import safe
from hermes_state.commands.streams import is_plain, is_terminal, write
from hermes_state.errors import DiskFull, HermesStateError, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FINDINGS, USAGE = 0, 1, 2
INTERNAL = HermesStateError.exit_code
# As shells count: 128 and the signal's number.
INTERRUPTED = 128 + 2
# Set to anything: an unexpected error also prints where it happened.
TRACEBACK_VARIABLE = "HERMES_STATE_TRACEBACK"


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """What a run that failed tells, in the contract's words."""

    kind: str
    message: str
    hint: str = ""
    retryable: bool = False
    exit_code: int


def describe(error: BaseException) -> Failure:
    """The failure that an error means."""
    match error:
        case HermesStateError():
            return Failure(
                kind=error.kind,
                message=error.message,
                hint=error.hint,
                retryable=error.retryable,
                exit_code=error.exit_code,
            )
        case click.UsageError():
            return Failure(kind="usage", message=error.format_message(), hint=_usage_hint(error), exit_code=USAGE)
        case click.ClickException():
            return Failure(kind="usage", message=error.format_message(), exit_code=USAGE)
        case KeyboardInterrupt() | EOFError() | click.Abort():
            return Failure(kind="interrupted", message="interrupted", retryable=True, exit_code=INTERRUPTED)
        case OSError():
            return describe(_of_system(error))
    return Failure(
        kind="internal_error",
        message=f"this should not have happened: {type(error).__name__}: {error}",
        hint=f"please report it, with what {TRACEBACK_VARIABLE}=1 adds",
        exit_code=INTERNAL,
    )


def _of_system(error: OSError) -> HermesStateError:
    where = f"{error.filename}: " if error.filename else ""
    message = f"{where}{error.strerror or error}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(message, hint="free some space and try again")
    return StoreUnavailable(message, hint="check the path, its modes and the disk")


def _usage_hint(error: click.UsageError) -> str:
    return f"`{error.ctx.command_path} --help` tells how" if error.ctx is not None else ""


def report(error: BaseException, args: Sequence[str]) -> int:
    """Say on stderr what went wrong, in the form that the run's arguments ask for; returns the exit code."""
    failure = describe(error)
    options = args[: args.index("--")] if "--" in args else args
    if os.environ.get(TRACEBACK_VARIABLE) and failure.kind != "usage":
        traceback.print_exception(error, file=sys.stderr)
    if "--json" in options:
        fields = {name: getattr(failure, name) for name in ("kind", "message", "hint", "retryable")}
        write(sys.stderr, json.dumps({"error": fields}))
        return failure.exit_code
    if failure.exit_code == INTERRUPTED and is_terminal(sys.stderr):
        write(sys.stderr, "")  # the terminal's own ^C stands on the line
    color = is_terminal(sys.stderr) and not is_plain(no_color="--no-color" in options)
    write(sys.stderr, f"{click.style('error:', fg='red', bold=True)} {safe(failure.message)}", color=color)
    if failure.hint:
        write(sys.stderr, f"{click.style('hint:', fg='cyan')} {safe(failure.hint)}", color=color)
    return failure.exit_code
