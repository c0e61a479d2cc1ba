"""`sessions import`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.imports import bring_index_up, raise_for_failures, tell_import
from hermes_state.commands.plain import one_line
from hermes_state.commands.progress import progress
from hermes_state.commands.wording import count

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation
    from hermes_state.importers import ImportReport
    from hermes_state.store import SessionDB
    from hermes_state.transfer import LoadReport

STDIN = "-"
# Sessions that were not taken over, or got another title, that people are shown; --json has all.
SHOWN = 8


@command(
    "import",
    examples=(
        "hermes-state sessions import all.jsonl",
        "hermes sessions export - | hermes-state sessions import -",
    ),
)
@click.argument("file", type=click.Path(dir_okay=False))
def import_command(invocation: Invocation, file: str) -> None:
    """Bring in a JSON Lines export.

    This program's own and Hermes's are told apart by their first line; FILE may be - for standard input. A session that
    is here already with the same content is left alone, so an import can be repeated. One with other content is left as
    it is here and reported: that exits 20.
    """
    from hermes_state.importers import ImportReport

    with invocation.open_store(create=True) as db:
        report = _bring_in(invocation, db, file)
        bring_index_up(invocation, db)
    if invocation.json:
        invocation.document({"file": file} | shapes.record(report))
    elif isinstance(report, ImportReport):
        tell_import(invocation, report)
    else:
        _tell(invocation, file, report)
    if isinstance(report, ImportReport):
        raise_for_failures([report])
    else:
        report.raise_for_problems()


def _bring_in(invocation: Invocation, db: SessionDB, file: str) -> ImportReport | LoadReport:
    from hermes_state.importers.file import import_file, import_lines

    if file == STDIN:
        return import_lines(db, sys.stdin.buffer)
    with progress(invocation, Path(file).name) as tell:
        return import_file(db, file, progress=tell)


def _tell(invocation: Invocation, file: str, report: LoadReport) -> None:
    added = f"{count(report.sessions_added, 'session')} and {count(report.messages_added, 'message')} added"
    known = f", {count(report.sessions_equal, 'session')} here already" if report.sessions_equal else ""
    invocation.say(f"{one_line(file)}: {added}{known}")
    for session_id, title in report.retitled[:SHOWN]:
        invocation.note(f"  {session_id} is titled {one_line(title)} here: its own title belongs to another session")
    for problem in (*report.problems, *report.conflicts)[:SHOWN]:
        invocation.note(f"  line {problem.line}: {one_line(problem.what)}")
