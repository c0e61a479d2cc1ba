"""`copy`: a store into another one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.progress import progress
from hermes_state.commands.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hermes_state.commands.invocation import Invocation
    from hermes_state.copying.report import CopyReport

# Conflicts that people are shown; --json has up to 1,000.
_SHOWN = 8


@command(
    "copy",
    examples=(
        "hermes-state copy ~/.hermes/hermes_state.db 'postgresql+psycopg://ann@db/hermes?store=team'",
        "hermes-state copy 'postgresql+psycopg://ann@db/hermes?store=team' back.db",
        "hermes-state copy laptop.db desktop.db --merge",
    ),
)
@click.argument("source")
@click.argument("target")
@click.option("--merge", is_flag=True, help="TARGET has content of its own: bring in what it lacks, list what differs.")
def copy_command(invocation: Invocation, source: str, target: str, merge: bool) -> None:
    """Copy everything that SOURCE holds into TARGET.

    Either is a file, a home or the URL of a store. SOURCE is read as it is at one moment, and stays. A copy that was
    cut off goes on when it is run again. At the end both are counted and their digests compared. A TARGET with content
    is refused unless --merge is given; what differs there stays, is listed, and makes the exit code 20. The full-text
    index is made in the background of the first agent, or by the first search.
    """
    from hermes_state.copying.copy import copy_store
    from hermes_state.errors import StoreUnavailable
    from hermes_state.store import SessionDB

    if "://" not in source and not Path(_place(source)).exists():
        raise StoreUnavailable(f"there is no store at {_place(source)}", hint="SOURCE is a file, a home or a URL")
    with (
        SessionDB.open(_place(source), read_only=True) as there,
        SessionDB.open(_place(target)) as here,
        progress(invocation, "copying") as tell,
    ):
        report = copy_store(there.engine, here.engine, merge=merge, progress=tell)
    if invocation.json:
        invocation.document(_shape(report))
    else:
        _tell(invocation, report)
    report.raise_for_problems()


def _place(text: str) -> str:
    """A store's file or URL; of a home, the file in it."""
    from hermes_state.home import STORE_NAME

    return str(Path(text) / STORE_NAME) if "://" not in text and Path(text).is_dir() else text


def _shape(report: CopyReport) -> dict[str, Any]:
    values: dict[str, Any] = shapes.record(report)
    return values | {"whole": report.is_whole, "equal": report.is_equal, "seconds": round(report.seconds, 3)}


def _tell(invocation: Invocation, report: CopyReport) -> None:
    for line in _lines(report):
        invocation.say(line)
    for clash in report.conflicts[:_SHOWN]:
        invocation.note(f"  {one_line(clash.where)}: {one_line(clash.what)}")
    if report.conflict_count > _SHOWN:
        invocation.note(f"  … and {report.conflict_count - _SHOWN:,} more")


def _lines(report: CopyReport) -> Iterator[str]:
    added = {name: number.added for name, number in report.counts.items()}
    came = f"{count(added['sessions'], 'session')} and {count(added['messages'], 'message')} copied"
    yield f"{one_line(report.target)}: {came} in {report.seconds:.1f} s{', going on' if report.resumed else ''}"
    for name, number in report.counts.items():
        if number.source or number.target:
            yield f"  {name.replace('_', ' ')}: {number.source:,} there, {number.target:,} here"
    if report.target_digest is not None:
        yield f"  digest {report.target_digest.digest}{', the same in both' if report.is_equal else ''}"
