"""`repo check`: whether a repository can give back every snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands.backup import archives
from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.repo import snapshots as told
from hermes_state.commands.table import bold_in, paint
from hermes_state.commands.wording import count, size
from hermes_state.errors import ArchiveDamaged

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation
    from hermes_state.portability.repository.checking import Checked


@command(
    "check",
    examples=(
        "hermes-state repo check /mnt/usb/home                 # is everything there?",
        "hermes-state repo check /mnt/usb/home --read-data     # and is every byte what was written?",
    ),
)
@click.argument("repository", type=told.REPOSITORY)
@click.option("--read-data", is_flag=True, help="Read every pack, and compare every byte of it.")
def check_command(invocation: Invocation, repository: Path, read_data: bool) -> int | None:
    """Check that a repository can give back every snapshot.

    Exits 22 with findings. A damaged pack may be deleted: the next backup stores anew what the home still has of it.
    `hermes-state verify --repo REPOSITORY SNAPSHOT` proves one snapshot file by file.
    """
    from hermes_state.portability.repository.checking import check

    place = told.opened(repository)
    with archives.byte_progress(invocation, "reading") as tell:
        result = check(place, read_data=read_data, progress=tell)
    if invocation.json:
        invocation.document(_shape(repository, result))
    else:
        for line in _lines(repository, result):
            invocation.say(line)
    return ArchiveDamaged.exit_code if result.findings.count else None


def _shape(repository: Path, result: Checked) -> dict[str, object]:
    return {
        "path": str(repository),
        "sound": not result.findings.count,
        "findings": result.findings.as_json(),
        "finding_count": result.findings.count,
        "damaged_snapshots": result.damaged_snapshots,
        "snapshots": result.snapshots,
        "packs": result.packs,
        "chunks": result.chunks,
        "bytes": result.repository_bytes,
        "unneeded_bytes": result.unneeded_bytes,
        "read_data": result.read_data,
    }


def _lines(repository: Path, result: Checked) -> Iterator[str]:
    is_sound = not result.findings.count
    word = paint("sound" if is_sound else "damaged", bold_in("green" if is_sound else "red"))
    yield f"{word}  {one_line(str(repository))}"
    for finding in result.findings.listed:
        member = f"{one_line(finding.member)}: " if finding.member else ""
        yield f"  {member}{one_line(finding.message)}"
    if result.findings.count > len(result.findings.listed):
        yield f"  … and {result.findings.count - len(result.findings.listed):,} more"
    held = f"{count(result.snapshots, 'snapshot')} · {count(result.chunks, 'chunk')} in {count(result.packs, 'pack')}"
    yield f"  {held} · {size(result.repository_bytes)}, {size(result.unneeded_bytes)} of it not needed"
    yield f"  {'every byte was read' if result.read_data else 'the data itself was not read: --read-data does that'}"
